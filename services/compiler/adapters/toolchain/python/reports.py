"""The parts of a kernel's report that every compiler's driver makes alike."""
from kernelmill_harness import messages


REPORT_BYTES = 24 << 20  # one target; zygote.cc bounds all together
OURS = ("clock", "limit", "sandbox")  # stages of what the sandbox caused, before the error of an import


def typed(stage, error):
    """Puts the stage before an error that the sandbox caused: "limit: not enough memory"."""
    return messages.clean(f"{stage}: {error}" if stage in OURS else error, messages.IMPORT_BYTES)


def line(row, name="line"):
    value = row.get(name, 0)
    return value if type(value) is int and 0 <= value < 1 << 30 else 0


def text(value, size):
    """Cleans a string of child A, which is untrusted."""
    value = value if isinstance(value, str) else ""
    return messages.clean(value[:8 * size].encode("utf-8", "replace").decode(), size)


def died(row, stage):
    """Makes the report of a try whose process ended. A crash belongs to the stage in which it happened."""
    return {"status": "error", "stage": stage if row["stage"] == "crash" else row["stage"], "message": row["died"], "line": 0}
