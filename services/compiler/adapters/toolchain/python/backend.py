"""Child B: turns IR into machine code by Triton's backend, and measures it.

The IR is untrusted. All code that runs here is ours or Triton's, so that its report can be trusted.
"""
import contextlib
import errno
import hashlib
import io
import re
import sys

from triton import knobs
from triton._C.libtriton import ir
from triton.backends.compiler import Language
from triton.compiler.compiler import make_backend

from kernelmill_harness import children, device, machine_code, messages


ASSEMBLER_FORMS = ("cubin", "hsaco")
KILLED = re.compile(r"ptxas` failed with error code -(9|24|25)\b")  # SIGKILL, SIGXCPU, SIGXFSZ: its limits


# Errors of the machine, which may not occur elsewhere or later. ENOENT: the scratch folder or a program of the toolchain was
# removed.
MACHINE = (errno.ENOENT, errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENFILE)


# The bytes of a form above which the next step may not end. Unlike a bound of time, this one is met at the same place on every
# machine. Seven of 2,905 real kernels exceed it; six of them took one to eleven minutes. The slowest other kernel takes 67 s.
MOST_BYTES = {"ttir": 400_000, "llir": 3_500_000}


class Failed(Exception):
    def __init__(self, stage, message):
        super().__init__(message)
        self.stage, self.message = stage, message


class TooLarge(Failed):
    """A form exceeds MOST_BYTES."""


def make_forms(text, target, options, gluon):
    """Returns [(form, text or bytes)] in the order in which they are made, the backend's metadata, and the assembler's log."""
    backend = make_backend(device.gpu_target(target))
    context = ir.context()
    if hasattr(context, "disable_multithreading"):
        context.disable_multithreading()
    ir.load_dialects(context)
    backend.load_dialects(context)
    # The file's name enters the IR as a location, so that it must not contain the scratch folder, which changes.
    try:
        with open("kernel.mlir", "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise children.MachineFault(messages.format_exception(error)) from error
    module = ir.parse_mlir_module("kernel.mlir", context)
    module.context = context
    parsed = backend.parse_options(options)
    metadata = dict(parsed.__dict__)
    stages = {}
    backend.add_stages(stages, parsed, Language.GLUON if gluon else Language.TRITON)
    forms, log = [], io.StringIO()
    for form, step in stages.items():
        try:
            with contextlib.redirect_stdout(log):
                module = step(module, metadata)
        except Exception as error:
            if isinstance(error, OSError) and error.errno in MACHINE:
                raise children.MachineFault(messages.format_exception(error)) from error
            stage = "assembler" if form in ASSEMBLER_FORMS else "passes"
            if KILLED.search(str(error)):
                stage = "limit"
            raise Failed(stage, messages.diagnostic(messages.format_exception(error))) from error
        if form != "glir":
            forms.append((form, module if isinstance(module, bytes) else str(module)))
            if len(forms[-1][1]) > MOST_BYTES.get(form, sys.maxsize):
                raise TooLarge("limit", f"{len(forms[-1][1])} bytes of {form}: more than {MOST_BYTES[form]}")
    return forms, metadata, log.getvalue()


def said(message):
    """Returns the assembler's first error, or else the message."""
    for line in message.splitlines():
        if line.startswith("ptxas ") and "error" in line:
            return line
    return message.partition("Repro command")[0]


def refusal(stage, message):
    """Makes the report of a kernel that the backend refuses. The line is not known at this point."""
    return {"status": "error", "stage": stage, "message": messages.clean(message), "line": 0}


def report(text, target, options, gluon, keep):
    """Compiles IR for a target. Returns the report, as JSON objects."""
    knobs.nvidia.dump_ptxas_log = True  # the log has the spilled bytes
    try:
        forms, metadata, log = make_forms(text, target, options, gluon)
    except TooLarge as failed:
        return {**refusal(failed.stage, failed.message), "of_size": True}
    except Failed as failed:
        return refusal(failed.stage, said(failed.message))
    except children.MachineFault:
        raise
    except Exception as error:  # pylint: disable=broad-except
        return refusal("passes", messages.format_exception(error))
    numbers = {"shared_bytes": int(metadata.get("shared") or 0), **machine_code.measure(dict(forms), log)}
    for name, value in numbers.items():
        # Triton counts shared memory in 32 bits, so that 2 GiB are a negative number.
        if not 0 <= value < 1 << 31:
            return refusal("passes", f"{name} is out of range: {value}")
    as_bytes = [(form, value if isinstance(value, bytes) else value.encode()) for form, value in forms]
    return {
        "status": "ok",
        **numbers,
        "forms": [[form, len(value), hashlib.sha256(value).hexdigest()] for form, value in as_bytes],
        "kept": [[form, value] for form, value in forms if form in keep and isinstance(value, str)],
    }
