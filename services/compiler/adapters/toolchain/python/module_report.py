"""The report of a kernel whose module is Python, and runs: the import, and each target.

For each target of the job it forks A, which loads the module and then tells what a try needs of it. A is confined (sandbox.py), and
its answers are untrusted: they enter a report as text of bounded size. Other processes make code of them.
"""
import re

from kernelmill_harness import children, messages, parts, reports, sandbox, tries


ANSWER_BYTES = 16 << 20  # an answer of A; as objects of Python it takes twenty times as much here
TYPED = re.compile(f"^(?:{'|'.join(reports.OURS)}): ")


def kernel_report(job, load, try_report):
    """Returns the report of a job: the import, and each target.

    load(channel, job, target) is the work of A. try_report(child, job, target, place, made) asks the child A for what a try needs and
    returns the try's report, or None if `made`, which is all tries, has put it off."""
    targets, module_import, strict = [], None, True
    for target in job["targets"]:
        said, report, strict = _target_report(job, target, strict, load, try_report)
        if module_import is None:
            module_import = said
            if not said["ok"]:
                return {"import": said, "targets": []}
        if not job["tries"]:
            break
        targets.append(report)
    return {"import": module_import, "targets": targets}


def _target_report(job, target, strict, load, try_report):
    """Returns the import's row, the report of a target, and if the module did nothing that the sandbox refuses.

    The first time, a refusal ends A, so that no code can hide it. The second time, A goes on after it as on a machine without the
    thing: what compiles compiles, and the sandbox, not the kernel, is blamed for what does not."""
    if strict:
        try:
            return *_try_target(job, target, True, load, try_report), True
        except children.Refused:
            pass
    return *_try_target(job, target, False, load, try_report), False


def _try_target(job, target, strict, load, try_report):
    """Returns the import's row and the report of a target."""
    with children.Frontend(lambda channel: load(channel, job, target), job, job["max_seconds"], ANSWER_BYTES, strict) as child:
        said = child.answer()
        loaded = _import_row(said)
        if not loaded["ok"]:
            if not strict or child.full():
                loaded["error"] = reports.typed("sandbox", TYPED.sub("", loaded["error"]))
            return loaded, {"target": target, "attempt": 0 if job["tries"] else -1, "status": "error", "stage": "import",
                            "message": loaded["error"], "line": loaded["line"], "reached": 0}
        made = tries.Tries(job["tries"], parts.shared_bytes(target))
        while (place := made.next()) is not None:
            said_of_try = try_report(child, job, target, place, made)
            if said_of_try is not None:
                made.add({"target": target, "attempt": place, "reached": 0, **said_of_try})
        report = made.report()
        if report is not None and report["status"] != "ok" and (not strict or child.full()):
            report = {**report, "stage": "sandbox"}
        return loaded, report


def refusal(said):
    """Returns the report of a try for which A had no answer but a reason."""
    stage = said.get("stage")
    return {"status": "error", "stage": stage if stage in reports.OURS else "frontend",
            "message": reports.text(said.get("message"), messages.MESSAGE_BYTES), "line": reports.line(said),
            "reached": reports.line(said, "reached")}


def _import_row(said):
    if "died" in said:
        return {"ok": False, "error": reports.typed(said["stage"], said["died"]), "line": 0}
    row = said.get("import")
    if not isinstance(row, dict) or not isinstance(row.get("ok"), bool):
        return _import_row(children.death(sandbox.Outcome("garbled"), 0))
    error = "" if row["ok"] else reports.typed(row.get("stage"), reports.text(row.get("error"), messages.IMPORT_BYTES))
    return {"ok": row["ok"], "error": error, "line": reports.line(row)}
