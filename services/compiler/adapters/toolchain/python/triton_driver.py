"""The driver of Triton's toolchains: makes the report of a kernel in Triton or Gluon.

For each target of the job it forks A (frontend.py), which loads the module and tells in plain data what a try needs of
it. For each try it forks L (lowering.py), which makes IR of the data and the module's text, and B (backend.py), which compiles the
IR and reports. All are confined (sandbox.py). The answers of A are untrusted: they never say that a
kernel compiles, and enter a report as text of bounded size. L and B run no code of the module.
"""
import math
import re

from kernelmill_harness import backend, children, frontend, lowering, messages, parts, reports, sandbox, tries


IR_BYTES = 16 << 20      # an answer of A; as objects of Python it takes twenty times as much here
DATA = {"kernel": list, "constexprs": list, "globals": dict, "functions": list}  # in A's answer to a try
TYPED = re.compile(f"^(?:{'|'.join(reports.OURS)}): ")


def kernel_report(job):
    """Returns the report of a job: the import, and each target."""
    targets, module_import, strict = [], None, True
    for target in job["targets"]:
        said, report, strict = target_report(job, target, strict)
        if module_import is None:
            module_import = said
            if not said["ok"]:
                return {"import": said, "targets": []}
        if not job["tries"]:
            break
        targets.append(report)
    return {"import": module_import, "targets": targets}


def target_report(job, target, strict):
    """Returns the import's row, the report of a target, and if the module did nothing that the sandbox refuses.

    The first time, a refusal ends A, so that no code can hide it. The second time, A goes on after it as on a machine without the
    thing: what compiles compiles, and the sandbox, not the kernel, is blamed for what does not."""
    if strict:
        try:
            return *try_target(job, target, True), True
        except children.Refused:
            pass
    return *try_target(job, target, False), False


def try_target(job, target, strict):
    """Returns the import's row and the report of a target."""
    with children.Frontend(lambda channel: frontend.main(channel, job, target), job, job["max_seconds"], IR_BYTES, strict) as child:
        said = child.answer()
        loaded = import_row(said)
        if not loaded["ok"]:
            if not strict or child.full():
                loaded["error"] = reports.typed("sandbox", TYPED.sub("", loaded["error"]))
            return loaded, {"target": target, "attempt": 0 if job["tries"] else -1, "status": "error", "stage": "import",
                            "message": loaded["error"], "line": loaded["line"], "reached": 0}
        made = tries.Tries(job["tries"], parts.shared_bytes(target))
        while (i := made.next()) is not None:
            said_of_try, seconds = lowered(child, job, target, i)
            if not made.puts_off(i, said_of_try):
                made.add({"target": target, "attempt": i, "reached": 0, **try_report(said_of_try, seconds, job, target, job["tries"][i])})
        report = made.report()
        if report is not None and report["status"] != "ok" and (not strict or child.full()):
            report = {**report, "stage": "sandbox"}
        return loaded, report


def lowered(loader, job, target, i):
    """Returns the IR of a try or the reason why it has none, and the processor time of A and L.

    A tells what the try needs of the module, L makes the IR of that and of the module's text."""
    loader.ask({"try": i})
    said = loader.answer()
    if not all(isinstance(said.get(name), kind) for name, kind in DATA.items()):
        said = {name: said[name] for name in ("died", "stage", "message", "line") if name in said}
        return said, loader.seconds()
    left = max(1, math.ceil(job["max_seconds"] - loader.seconds()))
    with children.Frontend(lambda channel: lowering.main(channel, job, target, job["tries"][i], said), job, left, IR_BYTES) as child:
        answer = child.answer()
        while "call" in answer:
            loader.ask({"call": answer["call"]})
            value = loader.answer()
            if "died" in value:
                return value, loader.seconds() + child.seconds()
            child.ask(value)
            answer = child.answer()
        return answer, loader.seconds() + child.seconds()


def import_row(said):
    if "died" in said:
        return {"ok": False, "error": reports.typed(said["stage"], said["died"]), "line": 0}
    row = said.get("import")
    if not isinstance(row, dict) or not isinstance(row.get("ok"), bool):
        return import_row(children.death(sandbox.Outcome("garbled"), 0))
    error = "" if row["ok"] else reports.typed(row.get("stage"), reports.text(row.get("error"), messages.IMPORT_BYTES))
    return {"ok": row["ok"], "error": error, "line": reports.line(row)}


def try_report(said, seconds, job, target, attempt):
    """Returns the report of a try to which A answered `said` after `seconds` of processor time."""
    if "died" in said:
        return reports.died(said, "frontend")
    if not isinstance(said.get("ir"), str):
        stage = said.get("stage")
        return {"status": "error", "stage": stage if stage in reports.OURS else "frontend",
                "message": reports.text(said.get("message"), messages.MESSAGE_BYTES), "line": reports.line(said), "reached": reports.line(said, "reached")}
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
