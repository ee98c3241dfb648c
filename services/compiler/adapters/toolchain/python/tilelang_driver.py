"""The driver of TileLang's toolchains: makes the report of a kernel in TileLang.

For each target of the job it forks A (tilelang_frontend.py), which loads the module and makes CUDA of the kernel with a try's values, N
(tilelang_compiler.py), which makes PTX of the CUDA, and B (ptxas). A module may hand out other CUDA than its kernel's, since it runs in
A; but what N and B say of that CUDA is true. The first of several functions in it is measured.
"""
import math
import os
import sysconfig
import warnings

from kernelmill_harness import absent, torch_names

# TileLang imports torch, and needs only the names of its types until a kernel runs.
os.environ.update(TVM_FFI_DISABLE_TORCH_C_DLPACK="1", TILELANG_CACHE_DIR=os.environ["KERNELMILL_SCRATCH"])
absent.install("import torch", torch_names.names("cuda:90"), only_named=True)
warnings.filterwarnings("ignore", "Failed to JIT torch c dlpack extension")

# pylint: disable=wrong-import-position
from kernelmill_harness import children, module_report, nvrtc, ptxas, reports, tilelang_compiler, tilelang_frontend  # noqa: E402


PTXAS = os.path.join(sysconfig.get_paths()["purelib"], "nvidia", "cuda_nvcc", "bin", "ptxas")
LIBRARY = nvrtc.load()


def kernel_report(job):
    return module_report.kernel_report(job, tilelang_frontend.main, try_report)


def try_report(loader, job, target, i, _made):
    loader.ask({"try": i})
    said = loader.answer()
    if "died" in said:
        return reports.died(said, "frontend")
    text, functions, macros = (said.get(name) for name in ("cuda", "functions", "macros"))
    if not (isinstance(text, str) and isinstance(functions, dict) and functions and isinstance(macros, list)):
        return module_report.refusal(said)
    entry, shared = next(iter(functions.items()))
    if type(shared) is not int or not 0 <= shared < 1 << 30:
        return module_report.refusal(said)
    left = max(1, math.ceil(job["max_seconds"] - loader.seconds()))
    with children.Frontend(lambda channel: tilelang_compiler.main(channel, LIBRARY, text, target, macros), job, left, module_report.ANSWER_BYTES) as child:
        made = child.answer()
        seconds = loader.seconds() + child.seconds()
    if "died" in made:
        return reports.died(made, "frontend")
    if not isinstance(made.get("ptx"), str):
        return {**module_report.refusal(made), "stage": "passes"}
    left = max(1, math.ceil(job["max_seconds"] - seconds))
    report = children.call(lambda: ptxas.assemble(PTXAS, made["ptx"], entry, nvrtc.ARCHITECTURES[target], job["keep"]), left, job["max_seconds"],
                           reports.REPORT_BYTES)
    if "died" in report:
        return reports.died(report, "assembler")
    if report["status"] == "ok":
        report.update(constexprs=job["tries"][i]["constexprs"], shared_bytes=report["shared_bytes"] + shared)
    return report
