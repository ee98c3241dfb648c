"""The driver of NVRTC's toolchains: makes the report of a CUDA kernel.

For each try it forks N (nvrtc.py), which compiles the module's text to PTX, and B (ptxas), which makes machine code of it. A kernel
that no try compiles is read once more without template arguments: what is refused then is the module's.
"""
import math
import os

from kernelmill_harness import children, messages, nvrtc, parts, ptxas, reports, tries


PTX_BYTES = 16 << 20  # an answer of N
PLAIN = {"constexprs": [], "options": []}  # a try of a kernel that has none

LIBRARY = nvrtc.load()
PTXAS = os.path.join(nvrtc.packages(), "cuda_nvcc", "bin", "ptxas")


def kernel_report(job):
    """Returns the report of a job: the import, and each target. The module is imported if a target reads it."""
    read, targets = [], []
    for target in job["targets"]:
        said, report = target_report(job, target)
        read.append(said)
        targets.append(report)
    module_import = next((said for said in read if said["ok"]), read[0])
    loaded = module_import["ok"] and job["tries"]
    return {"import": module_import, "targets": targets if loaded else []}


def target_report(job, target):
    """Returns the import's row and the report of a target."""
    made, read = tries.Tries(job["tries"], parts.shared_bytes(target)), None
    while (i := made.next()) is not None:
        macros = defined(job["tries"][i])
        # Other template arguments do not help a module that is refused without any.
        if read is not None and not read[0]["ok"] and macros == read[1]:
            continue
        report = try_report(job, target, i)
        made.add({"target": target, "attempt": i, "reached": 0, **report})
        if report["status"] != "ok" and (read is None or macros != read[1]):
            read = read_module(job, target, job["tries"][i]), macros
    report = made.report()
    if report is not None and report["status"] == "ok":
        return {"ok": True, "error": "", "line": 0}, report
    row = read[0] if read is not None else read_module(job, target, PLAIN)
    if not row["ok"] and report is not None and report["stage"] == "frontend":
        report = {**report, "message": row["error"], "line": row["line"]}
    return row, report


def defined(attempt):
    """Returns the macros that a try defines."""
    return dict(attempt["options"]).get("define", "")


def read_module(job, target, attempt):
    """Returns the import's row: what is refused without template arguments."""
    with children.Frontend(lambda channel: nvrtc.main(channel, LIBRARY, job, target, attempt, False), job, job["max_seconds"], PTX_BYTES) as child:
        said = child.answer()
    if "died" in said:
        return {"ok": False, "error": reports.typed(said["stage"], said["died"]), "line": 0}
    return {"ok": not said, "error": reports.text(said.get("message"), messages.IMPORT_BYTES), "line": reports.line(said)}


def try_report(job, target, i):
    """Returns the report of a try."""
    attempt = job["tries"][i]
    with children.Frontend(lambda channel: nvrtc.main(channel, LIBRARY, job, target, attempt, True), job, job["max_seconds"], PTX_BYTES) as child:
        said = child.answer()
        seconds = child.seconds()
    if "died" in said:
        return reports.died(said, "frontend")
    if not isinstance(said.get("ptx"), str) or not isinstance(said.get("entry"), str):
        return {"status": "error", "stage": "frontend", "message": reports.text(said.get("message"), messages.MESSAGE_BYTES),
                "line": reports.line(said)}
    left = max(1, math.ceil(job["max_seconds"] - seconds))
    report = children.call(lambda: ptxas.assemble(PTXAS, said["ptx"], said["entry"], nvrtc.ARCHITECTURES[target], job["keep"]), left, job["max_seconds"], reports.REPORT_BYTES)
    if "died" in report:
        return reports.died(report, "assembler")
    if report["status"] == "ok":
        report["constexprs"] = attempt["constexprs"]
    return report
