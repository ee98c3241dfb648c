"""Child B of the compilers that give PTX: makes machine code of it by NVIDIA's assembler, and measures that."""
import hashlib
import re
import subprocess

from kernelmill_harness import children, machine_code, messages


_KILLED = (-9, -24, -25)  # SIGKILL, SIGXCPU, SIGXFSZ: its limits
_SHARED = re.compile(r"(\d+) bytes smem")


def assemble(program, ptx, entry, architecture, keep):
    """Makes machine code of a kernel's PTX, and measures it. Returns the report, as JSON objects."""
    try:
        with open("kernel.ptx", "w", encoding="utf-8") as file:
            file.write(ptx)
        run = subprocess.run([program, "-v", f"--gpu-name=sm_{architecture}", "--entry", entry, "kernel.ptx", "--output-file", "kernel.cubin"],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
        if run.returncode == 0:
            with open("kernel.cubin", "rb") as file:
                cubin = file.read()
    except OSError as error:
        raise children.MachineFault(messages.format_exception(error)) from error
    log = run.stdout + run.stderr
    if run.returncode != 0:
        said = next((line for line in log.splitlines() if "error" in line or "fatal" in line), log)
        return {"status": "error", "stage": "limit" if run.returncode in _KILLED else "assembler", "message": messages.clean(said), "line": 0}
    forms = [("ptx", ptx.encode()), ("cubin", cubin)]
    return {
        "status": "ok",
        "shared_bytes": max((int(n) for n in _SHARED.findall(log)), default=0),
        **machine_code.measure({"cubin": cubin}, log),
        "forms": [[form, len(value), hashlib.sha256(value).hexdigest()] for form, value in forms],
        "kept": [["ptx", ptx]] if "ptx" in keep else [],
    }
