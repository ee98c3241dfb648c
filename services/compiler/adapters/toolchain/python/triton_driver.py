"""The driver of Triton's toolchains: makes the report of a kernel in Triton or Gluon.

For each target of the job it forks A (frontend.py), which loads the module and tells in plain data what a try needs of
it. For each try it forks L (lowering.py), which makes IR of the data and the module's text, and B (backend.py), which compiles the
IR and reports. All are confined (sandbox.py). The answers of A are untrusted: they never say that a
kernel compiles, and enter a report as text of bounded size. L and B run no code of the module.
"""
import math

from kernelmill_harness import backend, children, frontend, lowering, module_report, parts, reports


DATA = {"kernel": list, "constexprs": list, "globals": dict, "functions": list}  # in A's answer to a try


def kernel_report(job):
    return module_report.kernel_report(job, frontend.main, try_report)


def lowered(loader, job, target, i):
    """Returns the IR of a try or the reason why it has none, and the processor time of A and L.

    A tells what the try needs of the module, L makes the IR of that and of the module's text."""
    loader.ask({"try": i})
    said = loader.answer()
    if not all(isinstance(said.get(name), kind) for name, kind in DATA.items()):
        said = {name: said[name] for name in ("died", "stage", "message", "line") if name in said}
        return said, loader.seconds()
    left = max(1, math.ceil(job["max_seconds"] - loader.seconds()))
    with children.Frontend(lambda channel: lowering.main(channel, job, target, job["tries"][i], said), job, left, module_report.ANSWER_BYTES) as child:
        answer = child.answer()
        while "call" in answer:
            loader.ask({"call": answer["call"]})
            value = loader.answer()
            if "died" in value:
                return value, loader.seconds() + child.seconds()
            child.ask(value)
            answer = child.answer()
        return answer, loader.seconds() + child.seconds()


def try_report(loader, job, target, i, made):
    """Returns the report of a try, or None if it is put off."""
    attempt = job["tries"][i]
    said, seconds = lowered(loader, job, target, i)
    if made.puts_off(i, said):
        return None
    if "died" in said:
        return reports.died(said, "frontend")
    if not isinstance(said.get("ir"), str):
        return module_report.refusal(said)
    left = max(1, math.ceil(job["max_seconds"] - seconds))
    report = children.call(
        lambda: backend.report(said["ir"], target, lowering.read_options(attempt), job["gluon"], job["keep"]),
        left, job["max_seconds"], reports.REPORT_BYTES)
    if "died" in report:
        return reports.died(report, "passes")
    if report["status"] == "ok":
        report["constexprs"] = constexprs(said, attempt)
    return report


def constexprs(said, attempt):
    """Returns [[name, repr]] of a try's constexprs, as child A reports them."""
    rows = said.get("constexprs")
    rows = rows if isinstance(rows, list) else []
    found = {row[0]: row[1] for row in rows if isinstance(row, list) and len(row) == 2 and all(isinstance(x, str) for x in row)}
    return [[name, reports.text(found.get(name), lowering.REPR_BYTES)] for name, _ in attempt["constexprs"]]
