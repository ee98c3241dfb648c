"""The two children that a target needs, confined by sandbox.py, and what is said of one that gives no answer.

Bounds are of processor time and memory. A kernel takes more processor time on a busy machine: the same work may take half as much
again. So backend.py bounds forms by size, and time is left for what has no end. One that sleeps is ended by the watcher
(ConfinedProcess::BeginWork). The wall time is bounded too, so that nothing goes on for ever, but for no machine that is merely
busy. What the machine brings about is MachineFault, and never in a report.
"""
import json
import os
import re
import signal

from kernelmill_harness import messages, sandbox


WALL_FACTOR = 40
FRONTEND_MEMORY, BACKEND_MEMORY = 3 << 30, 4 << 30
FRONTEND_FILES, BACKEND_FILES = 64 << 20, 256 << 20
OUT_OF_MEMORY = re.compile(r"out of memory|bad_alloc|MemoryError", re.IGNORECASE)


class MachineFault(Exception):
    """A child could not be started or confined: the kernel has no part in it."""


class Killed(MachineFault):
    """A child was killed by nobody of ours: the machine has too little memory, for this kernel or for all that it does."""


class Frontend:
    """Child A, which loads the module and answers several requests. It runs no programs."""

    def __init__(self, main, job, target, answer_bytes):
        self._seconds = job["max_seconds"]
        layer = sandbox.Layer(execute=False, seconds=self._seconds * WALL_FACTOR, cpu_seconds=self._seconds,
                              memory_bytes=FRONTEND_MEMORY, file_bytes=FRONTEND_FILES, answer_bytes=answer_bytes)

        def work(channel):
            _settle()
            main(channel, job, target)

        self._child = sandbox.Child(work, layer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._child.__exit__()

    def seconds(self):
        return self._child.cpu_seconds()

    def ask(self, place):
        self._child.ask(str(place).encode())

    def answer(self):
        """What it says; {"stage", "died"}: it says nothing any more."""
        return _object(self._child.answer(), self._seconds)


def call(work, seconds, max_seconds, answer_bytes):
    """What `work()` returns, run in a folder of its own by a child B, which may run the compiler's programs; {"stage",
    "died"}: it did not return. `seconds` is what is left of max_seconds: it differs from run to run, so nothing is said of it."""
    def run():
        _settle()
        try:
            return json.dumps(work()).encode()
        except MachineFault as fault:
            return json.dumps(fault_row(fault)).encode()

    layer = sandbox.Layer(execute=True, seconds=seconds * WALL_FACTOR, cpu_seconds=seconds,
                          memory_bytes=BACKEND_MEMORY, file_bytes=BACKEND_FILES, answer_bytes=answer_bytes)
    report = _object(sandbox.run(run, layer), max_seconds)
    if "machine" in report:
        raise (Killed if report.get("killed") else MachineFault)(report["machine"])
    return report


def fault_row(fault):
    """What is said in a report's place."""
    return {"machine": str(fault), "killed": isinstance(fault, Killed)}


def _settle():
    """In a child: what Triton keeps lies in the child's folder, which is its kernel's alone."""
    os.environ["TRITON_HOME"] = os.getcwd()
    os.environ["TRITON_CACHE_DIR"] = os.path.join(os.getcwd(), "cache")


def _object(outcome, seconds):
    if outcome.kind != "ok":
        return death(outcome, seconds)
    try:
        value = json.loads(outcome.data)
    except (ValueError, RecursionError, MemoryError):
        value = None
    # "died" is what is said of a child here, and no child's own word.
    believed = isinstance(value, dict) and "died" not in value
    return value if believed else death(sandbox.Outcome("garbled"), seconds)


def death(outcome, seconds):
    """Why there is no answer, for a report."""
    if outcome.kind == "refused":
        raise MachineFault(outcome.data.decode("utf-8", "replace"))
    said = {
        "garbled": ("sandbox", "the module answered in the harness's place"),
        "forbidden": ("sandbox", "a system call that is forbidden"),
        "time": ("limit", f"no answer in {seconds * WALL_FACTOR} s"),
        "cpu": ("limit", f"more than {seconds} s of processor time"),
        "output": ("limit", "the answer or a file is too large"),
        "memory": ("limit", "not enough memory"),
    }.get(outcome.kind)
    if said is not None:
        return {"stage": said[0], "died": said[1]}
    words = outcome.data.decode("utf-8", "replace") if outcome.kind == "error" else crash_line(outcome.words)
    if outcome.kind == "signal" and outcome.number == signal.SIGKILL:
        raise Killed("it was killed: the machine has too little memory")
    if OUT_OF_MEMORY.search(words):
        return {"stage": "limit", "died": "not enough memory"}
    name = name_of(outcome.number) if outcome.kind == "signal" else "no answer"
    return {"stage": "crash", "died": messages.clean(f"{name}: {words}" if words else name)}


def name_of(number):
    try:
        return signal.Signals(number).name
    except ValueError:  # most of the real-time signals
        return f"signal {number}"


def crash_line(text):
    """Of what a crash leaves on descriptor 2 the line that says most."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if "LLVM ERROR" in line or "Assertion" in line or "error:" in line:
            return line
    return lines[0] if lines else ""
