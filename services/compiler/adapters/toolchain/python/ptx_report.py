"""The report of a try whose PTX the process that loaded the module makes: another one makes machine code of it."""
import dataclasses
import math

from kernelmill_harness import children, module_report, ptxas, reports


@dataclasses.dataclass(frozen=True)
class Assembler:
    program: str
    architecture: str


def try_report(loader, job, i, assembler, is_of_kernel):
    """Asks child A for the PTX of a try. is_of_kernel(entry) tells if a name in PTX can be the kernel's."""
    loader.ask({"try": i})
    said = loader.answer()
    if "died" in said:
        return reports.died(said, "frontend")
    if not (isinstance(said.get("ptx"), str) and isinstance(said.get("entry"), str)):
        return module_report.refusal(said)
    if not is_of_kernel(said["entry"]):
        return module_report.refusal({"message": f"{job['function']} is no kernel of the module"})
    left = max(1, math.ceil(job["max_seconds"] - loader.seconds()))
    report = children.call(lambda: ptxas.assemble(assembler.program, said["ptx"], said["entry"], assembler.architecture, job["keep"]), left,
                           job["max_seconds"], reports.REPORT_BYTES)
    if "died" in report:
        return reports.died(report, "assembler")
    if report["status"] == "ok":
        report["constexprs"] = job["tries"][i]["constexprs"]
    return report
