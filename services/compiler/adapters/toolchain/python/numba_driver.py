"""The driver of numba-cuda's toolchains: makes the report of a kernel in Numba CUDA.

For each target of the job it forks A (numba_frontend.py), which loads the module and makes PTX of the kernel with a try's types, and for
each try B (ptxas). A module may hand out other PTX than its kernel's, since it runs in A; but what B says of that PTX is true.
"""
import os
import sysconfig

from kernelmill_harness import module_report, numba_frontend, ptx_report


PTXAS = os.path.join(sysconfig.get_paths()["purelib"], "nvidia", "cuda_nvcc", "bin", "ptxas")


def kernel_report(job):
    return module_report.kernel_report(job, numba_frontend.main, try_report)


def try_report(loader, job, target, i, _made):
    return ptx_report.try_report(loader, job, i, ptx_report.Assembler(PTXAS, target.partition(":")[2]), lambda entry: job["function"] in entry)
