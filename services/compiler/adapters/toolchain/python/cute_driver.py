"""The driver of CuTe DSL's toolchains: makes the report of a kernel in CuTe DSL.

For each target of the job it forks A (cute_frontend.py), which loads the module and makes PTX of the kernel with a try's arguments, and
for each try B (ptxas). A module may hand out other PTX than its kernel's, since it runs in A; but what B says of that PTX is true.
"""
import os
import sysconfig

from kernelmill_harness import cute_frontend, module_report, ptx_report


PTXAS = os.path.join(sysconfig.get_paths()["purelib"], "nvidia", "cu13", "bin", "ptxas")


def kernel_report(job):
    return module_report.kernel_report(job, cute_frontend.main, try_report)


def try_report(loader, job, target, i, _made):
    begin = f"{cute_frontend.ENTRY}{job['function'].rpartition('.')[2]}_"
    assembler = ptx_report.Assembler(PTXAS, cute_frontend.ARCHITECTURES[target])
    return ptx_report.try_report(loader, job, i, assembler, lambda entry: entry.startswith(begin))
