"""The driver of cuTile's toolchains: makes the report of a kernel in cuTile.

For each target of the job it forks A (cutile_frontend.py), which loads the module and makes TileIR's bytecode of the kernel with a
try's arguments, and for each try B, which makes machine code of it. A module may hand out other bytecode than its kernel's, since it
runs in A; but what B says of that bytecode is true.
"""
import base64
import binascii
import hashlib
import math
import os
import subprocess
import sysconfig

from kernelmill_harness import children, cutile_frontend, machine_code, messages, module_report, reports


TILEIRAS = os.path.join(sysconfig.get_paths()["purelib"], "nvidia", "cu13", "bin", "tileiras")
LEVELS = range(4)
_KILLED = (-9, -24, -25)  # SIGKILL, SIGXCPU, SIGXFSZ: its limits


def kernel_report(job):
    return module_report.kernel_report(job, cutile_frontend.main, try_report)


def try_report(loader, job, target, i, _made):
    """Returns the report of a try."""
    loader.ask({"try": i})
    said = loader.answer()
    if "died" in said:
        return reports.died(said, "frontend")
    bytecode = decoded(said.get("bytecode"))
    if bytecode is None or said.get("level") not in LEVELS:
        return module_report.refusal(said)
    left = max(1, math.ceil(job["max_seconds"] - loader.seconds()))
    report = children.call(lambda: assemble(bytecode, job["function"], target.partition(":")[2], said["level"]), left, job["max_seconds"],
                           reports.REPORT_BYTES)
    if "died" in report:
        return reports.died(report, "assembler")
    if report["status"] == "ok":
        report["constexprs"] = job["tries"][i]["constexprs"]
    return report


def decoded(text):
    """Returns the bytes of a text of A, or None."""
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except (binascii.Error, ValueError):
        return None


def assemble(bytecode, entry, architecture, level):
    """Makes machine code of a kernel's bytecode, and measures it. Returns the report, as JSON objects."""
    try:
        with open("kernel.tileirbc", "wb") as file:
            file.write(bytecode)
        run = subprocess.run([TILEIRAS, f"--gpu-name=sm_{architecture}", f"--opt-level={level}", "kernel.tileirbc", "-o", "kernel.cubin"],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
        if run.returncode == 0:
            with open("kernel.cubin", "rb") as file:
                cubin = file.read()
    except OSError as error:
        raise children.MachineFault(messages.format_exception(error)) from error
    if run.returncode != 0:
        log = run.stdout + run.stderr
        said = next((line for line in log.splitlines() if "error" in line), log)
        return {"status": "error", "stage": "limit" if run.returncode in _KILLED else "assembler", "message": messages.clean(said), "line": 0}
    numbers = machine_code.read_cubin(cubin, entry)
    if numbers is None:
        return {"status": "error", "stage": "assembler", "message": f"{entry} is no kernel of the module", "line": 0}
    forms = [("tileir", bytecode), ("cubin", cubin)]
    return {"status": "ok", **numbers, "forms": [[form, len(value), hashlib.sha256(value).hexdigest()] for form, value in forms], "kept": []}
