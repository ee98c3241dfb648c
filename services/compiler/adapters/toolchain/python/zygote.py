"""The harness: imports Triton once, then forks for each kernel. See zygote.h.

Lines of JSON: a job, then its report. The zygote reads none of them: a child has a copy of all its parent's memory, including
freed memory, and would find earlier kernels there. So the zygote forks a server for each job. The server runs only our code and
Triton's. For each target of the job it forks A (frontend.py), which loads the module and tells in plain data what a try needs of
it. For each try it forks L (lowering.py), which makes IR of the data and the module's text, and B (backend.py), which compiles the
IR and reports. All are confined (sandbox.py). Only the server writes reports. The answers of A are untrusted: they never say that a
kernel compiles, and enter a report as text of bounded size. L and B run no code of the module.
"""
import json
import math
import os
import re
import select
import traceback

from kernelmill_harness import backend, children, device, frontend, lowering, messages, sandbox, tries


IR_BYTES = 16 << 20      # an answer of A; as objects of Python it takes twenty times as much here
REPORT_BYTES = 24 << 20  # one target; zygote.cc bounds all together
DATA = {"kernel": list, "constexprs": list, "globals": dict, "functions": list}  # in A's answer to a try
OURS = ("clock", "limit", "sandbox")  # stages of what the sandbox caused, before the error of an import
TYPED = re.compile(f"^(?:{'|'.join(OURS)}): ")


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
                loaded["error"] = typed("sandbox", TYPED.sub("", loaded["error"]))
            return loaded, {"target": target, "attempt": 0 if job["tries"] else -1, "status": "error", "stage": "import",
                            "message": loaded["error"], "line": loaded["line"], "reached": 0}
        made = tries.Tries(job["tries"], device.shared_bytes(target))
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
        return {"ok": False, "error": typed(said["stage"], said["died"]), "line": 0}
    row = said.get("import")
    if not isinstance(row, dict) or not isinstance(row.get("ok"), bool):
        return import_row(children.death(sandbox.Outcome("garbled"), 0))
    error = "" if row["ok"] else typed(row.get("stage"), text(row.get("error"), messages.IMPORT_BYTES))
    return {"ok": row["ok"], "error": error, "line": line(row)}


def typed(stage, error):
    """Puts the stage before an error that the sandbox caused: "limit: not enough memory"."""
    return messages.clean(f"{stage}: {error}" if stage in OURS else error, messages.IMPORT_BYTES)


def line(row, name="line"):
    value = row.get(name, 0)
    return value if type(value) is int and 0 <= value < 1 << 30 else 0


def text(value, size):
    """Cleans a string of child A, which is untrusted."""
    value = value if isinstance(value, str) else ""
    return messages.clean(value[:8 * size].encode("utf-8", "replace").decode(), size)


def try_report(said, seconds, job, target, attempt):
    """Returns the report of a try to which A answered `said` after `seconds` of processor time."""
    if "died" in said:
        return died(said, "frontend")
    if not isinstance(said.get("ir"), str):
        stage = said.get("stage")
        return {"status": "error", "stage": stage if stage in OURS else "frontend",
                "message": text(said.get("message"), messages.MESSAGE_BYTES), "line": line(said), "reached": line(said, "reached")}
    left = max(1, math.ceil(job["max_seconds"] - seconds))
    report = children.call(
        lambda: backend.report(said["ir"], target, lowering.read_options(attempt), job["gluon"], job["keep"]),
        left, job["max_seconds"], REPORT_BYTES)
    if "died" in report:
        return died(report, "passes")
    if report["status"] == "ok":
        report["constexprs"] = constexprs(said, attempt)
    return report


def died(row, stage):
    """Makes the report of a try whose process ended. A crash belongs to the stage in which it happened."""
    return {"status": "error", "stage": stage if row["stage"] == "crash" else row["stage"], "message": row["died"], "line": 0}


def constexprs(said, attempt):
    """Returns [[name, repr]] of a try's constexprs, as child A reports them."""
    rows = said.get("constexprs")
    rows = rows if isinstance(rows, list) else []
    found = {row[0]: row[1] for row in rows if isinstance(row, list) and len(row) == 2 and all(isinstance(x, str) for x in row)}
    return [[name, text(found.get(name), lowering.REPR_BYTES)] for name, _ in attempt["constexprs"]]


def write_object(file, value):
    file.write(json.dumps(value).encode() + b"\n")
    file.flush()


def serve(jobs, reports):
    """Reads a job and writes its report. Returns False at the end of the jobs."""
    job = jobs.readline()
    if not job:
        return False
    try:
        report = kernel_report(json.loads(job))
    except children.MachineFault as fault:
        report = children.fault_row(fault)
    write_object(reports, report)
    return True


def apart(work):
    """Calls work() in a fork of this process. Returns True if it did."""
    parent, done = os.getpid(), False
    pid = os.fork()
    if pid != 0:
        return os.waitpid(pid, 0)[1] == 0
    try:
        sandbox.stand_in_for(parent)
        done = work()
    except BaseException:  # pylint: disable=broad-except
        traceback.print_exc()
    finally:
        os._exit(0 if done else 1)


def main(jobs, reports):
    """Serves the jobs of a file until its end. This process must not read any byte of a job; the worker sends the first job after
    {"ready"}, and each other one after the report before it."""
    sandbox.protect_zygote()
    write_object(reports, {"ready": True})
    more = True
    while more:
        select.select([jobs], [], [])
        try:
            more = apart(lambda: serve(jobs, reports))
        except OSError as error:
            write_object(reports, children.fault_row(children.MachineFault(f"fork: {error}")))
            more = False
