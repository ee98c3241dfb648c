"""The harness: imports Triton once, then forks for each kernel. See pool.h.

Lines of JSON: a job, then its report. This process runs no code but ours and Triton's. For
each target of a job it forks A (frontend.py), which loads the module and gives IR, and for each IR B (backend.py), which
compiles it and reports. It alone writes reports.
"""
import json
import math

from kernelmill_harness import backend, children, frontend


IR_BYTES = 64 << 20
REPORT_BYTES = 64 << 20
STAGES = ("import", "limit", "frontend", "passes", "assembler")  # the later, the further a try came


def kernel_report(job, scratch):
    """What is said of a job: the import, and each target."""
    targets, module_import = [], None
    for target in job["targets"]:
        said, report = target_report(job, target, scratch)
        if module_import is None:
            module_import = said
            if not said["ok"]:
                return {"import": said, "targets": []}
        if not job["tries"]:
            break
        targets.append(report)
    return {"import": module_import, "targets": targets}


def target_report(job, target, scratch):
    """The import's row, and what the first try that compiles came to, else the one that came furthest."""
    with children.Frontend(frontend.main, job, target, scratch) as child:
        said = child.answer(IR_BYTES)
        loaded = import_row(said)
        if not loaded["ok"]:
            return loaded, {"target": target, "attempt": 0 if job["tries"] else -1, "status": "error", "stage": "import",
                            "message": loaded["error"], "line": loaded["line"]}
        best = None
        for i, attempt in enumerate(job["tries"]):
            report = {"target": target, "attempt": i, **try_report(child, job, target, i, attempt, scratch)}
            if report["status"] == "ok":
                return loaded, report
            if best is None or STAGES.index(report["stage"]) > STAGES.index(best["stage"]):
                best = report
            if report["stage"] == "limit":
                return loaded, report
        return loaded, best


def import_row(said):
    if "died" in said:
        return {"ok": False, "error": said["died"], "line": 0}
    row = said.get("import")
    if not isinstance(row, dict) or not isinstance(row.get("ok"), bool):
        return {"ok": False, "error": "the module answered in the harness's place", "line": 0}
    return {"ok": row["ok"], "error": str(row.get("error", ""))[:400], "line": line(row)}


def line(row):
    value = row.get("line", 0)
    return value if isinstance(value, int) and 0 <= value < 1 << 30 else 0


def try_report(child, job, target, place, attempt, scratch):
    child.ask(place)
    said = child.answer(IR_BYTES)
    if "died" in said:
        return died(said, "frontend")
    if not isinstance(said.get("ir"), str):
        stage = "frontend" if said.get("stage") not in STAGES else said["stage"]
        return {"status": "error", "stage": stage, "message": str(said.get("message", ""))[:1000], "line": line(said)}
    left = max(1, math.ceil(job["max_seconds"] - child.seconds()))
    report = children.call(
        lambda folder: backend.report(said["ir"], target, frontend.options_of(attempt), job["gluon"], job["keep"], folder),
        left, REPORT_BYTES, scratch)
    if "died" in report:
        return died(report, "passes")
    if report["status"] == "ok":
        report["constexprs"] = constexprs(said, attempt)
    return report


def died(row, stage):
    """The report of a try whose process ended; a crash is of the stage that it was in."""
    return {"status": "error", "stage": stage if row["stage"] == "crash" else row["stage"], "message": row["died"], "line": 0}


def constexprs(said, attempt):
    """{name: repr} of a try's constexprs, as child A says it."""
    rows = said.get("constexprs")
    rows = rows if isinstance(rows, list) else []
    found = {row[0]: row[1][:frontend.REPR_BYTES] for row in rows
             if isinstance(row, list) and len(row) == 2 and all(isinstance(x, str) for x in row)}
    return [[name, found.get(name, "")] for name, _ in attempt["constexprs"]]


def main(jobs, reports, scratch):
    """Serves the jobs of a file until its end."""
    children.KEEP_OUT.extend([jobs.fileno(), reports.fileno()])
    children.write_object(reports, {"ready": True})
    for text in jobs:
        children.write_object(reports, kernel_report(json.loads(text), scratch))
