"""Child B: turns IR into machine code by Triton's backend, and measures it.

The IR is a stranger's, the code that runs here is ours and Triton's: what it reports is what the compiler did.
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


# What a machine lacks, and another one or another time may have; ENOENT: somebody has removed the scratch folder, or a program of
# the toolchain.
MACHINE = (errno.ENOENT, errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENFILE)


# Bytes of a form, above which the next ones may find no end: a bound that is met at the same place on every machine, as one of
# time is not. Of 2,905 real kernels seven have more, of which six took one to eleven minutes; the slowest of the others takes 67 s.
MOST_BYTES = {"ttir": 400_000, "llir": 3_500_000}


class Failed(Exception):
    def __init__(self, stage, message):
        super().__init__(message)
        self.stage, self.message = stage, message


class TooLarge(Failed):
    """A form is over MOST_BYTES."""


def forms_of(text, target, options, gluon):
    """[(form, text or bytes)] in the order in which they are made, and the backend's metadata and the assembler's log."""
    backend = make_backend(device.gpu_target(target))
    context = ir.context()
    if hasattr(context, "disable_multithreading"):
        context.disable_multithreading()
    ir.load_dialects(context)
    backend.load_dialects(context)
    # Its name comes into the IR as a location: a path of the scratch folder would be another each time.
    try:
        with open("kernel.mlir", "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise children.MachineFault(messages.of_exception(error)) from error
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
                raise children.MachineFault(messages.of_exception(error)) from error
            stage = "assembler" if form in ASSEMBLER_FORMS else "passes"
            if KILLED.search(str(error)):
                stage = "limit"
            raise Failed(stage, messages.diagnostic(messages.of_exception(error))) from error
        if form != "glir":
            forms.append((form, module if isinstance(module, bytes) else str(module)))
            if len(forms[-1][1]) > MOST_BYTES.get(form, sys.maxsize):
                raise TooLarge("limit", f"{len(forms[-1][1])} bytes of {form}: more than {MOST_BYTES[form]}")
    return forms, metadata, log.getvalue()


def said(message):
    """What the assembler says first of all that it says, else the message."""
    for line in message.splitlines():
        if line.startswith("ptxas ") and "error" in line:
            return line
    return message.partition("Repro command")[0]


def refusal(stage, message):
    """The report of what the backend does not take; of which line it is, is not told any more."""
    return {"status": "error", "stage": stage, "message": messages.clean(message), "line": 0}


def report(text, target, options, gluon, keep):
    """What one compile came to, as JSON has it."""
    knobs.nvidia.dump_ptxas_log = True  # it says what was spilled
    try:
        forms, metadata, log = forms_of(text, target, options, gluon)
    except TooLarge as failed:
        return {**refusal(failed.stage, failed.message), "of_size": True}
    except Failed as failed:
        return refusal(failed.stage, said(failed.message))
    except children.MachineFault:
        raise
    except Exception as error:  # pylint: disable=broad-except
        return refusal("passes", messages.of_exception(error))
    numbers = {"shared_bytes": int(metadata.get("shared") or 0), **machine_code.measure(dict(forms), log)}
    for name, value in numbers.items():
        # Triton counts shared memory in 32 bits: 2 GiB of it are a negative number.
        if not 0 <= value < 1 << 31:
            return refusal("passes", f"{name} is out of range: {value}")
    as_bytes = [(form, value if isinstance(value, bytes) else value.encode()) for form, value in forms]
    return {
        "status": "ok",
        **numbers,
        "forms": [[form, len(value), hashlib.sha256(value).hexdigest()] for form, value in as_bytes],
        "kept": [[form, value] for form, value in forms if form in keep and isinstance(value, str)],
    }
