"""The driver of Warp's toolchains: makes the report of a kernel in Warp.

For each target of the job it forks A (warp_frontend.py), which loads the module and makes C++ of the kernel, N (warp_compiler.py),
which makes PTX of the C++, and B (ptxas). A module may hand out other C++ than its kernel's, since it runs in A; but what N and B
say of that C++ is true.
"""
import math
import os
import sysconfig

import warp as wp

from kernelmill_harness import children, module_report, ptxas, reports, warp_compiler, warp_frontend


PTXAS = os.path.join(sysconfig.get_paths()["purelib"], "nvidia", "cu13", "bin", "ptxas")
ENTRY = "_cuda_kernel_forward"  # the end of its name

wp.config.kernel_cache_dir = os.path.join(os.environ["KERNELMILL_SCRATCH"], "warp")
wp.config.log_level = wp.LOG_ERROR
wp.init()


def kernel_report(job):
    return module_report.kernel_report(job, warp_frontend.main, try_report)


def try_report(loader, job, target, i, _made):
    """Returns the report of the kernel's only try: its arguments have their types in the module."""
    loader.ask({"try": i})
    said = loader.answer()
    if "died" in said:
        return reports.died(said, "frontend")
    text, entry, flags, shared = (said.get(name) for name in ("cuda", "entry", "flags", "shared_bytes"))
    if not (isinstance(text, str) and isinstance(entry, str) and isinstance(flags, list) and type(shared) is int and 0 <= shared < 1 << 30):
        return module_report.refusal(said)
    if entry != job["function"] + ENTRY:
        return module_report.refusal({"message": f"{job['function']} is no kernel of the module"})
    architecture = target.partition(":")[2]
    left = max(1, math.ceil(job["max_seconds"] - loader.seconds()))
    with children.Frontend(lambda channel: warp_compiler.main(channel, text, int(architecture), flags), job, left, module_report.ANSWER_BYTES) as child:
        made = child.answer()
        seconds = loader.seconds() + child.seconds()
    if "died" in made:
        return reports.died(made, "frontend")
    if not isinstance(made.get("ptx"), str):
        return module_report.refusal(made)
    left = max(1, math.ceil(job["max_seconds"] - seconds))
    report = children.call(lambda: ptxas.assemble(PTXAS, made["ptx"], entry, architecture, job["keep"]), left, job["max_seconds"], reports.REPORT_BYTES)
    if "died" in report:
        return reports.died(report, "assembler")
    if report["status"] == "ok":
        report.update(constexprs=[], shared_bytes=report["shared_bytes"] + shared)
    return report
