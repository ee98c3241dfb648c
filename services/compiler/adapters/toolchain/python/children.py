"""The children that a target needs, confined by sandbox.py, and the report of a child that does not answer.

Processor time and memory are bounded. The same work takes up to half as much processor time again on a busy machine. So
backend.py bounds forms by size first, and the bound of time is only for work that does not end. The watcher
(ConfinedProcess::BeginWork) ends a child that sleeps or waits for the disk. Wall time is bounded too, with a limit that a busy
machine hardly reaches (sixteen processes on two processors reached ten times max_seconds), and which blames no kernel. Faults of the machine raise MachineFault and never enter a report.
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
    """A child could not be started or confined. The kernel is not to blame."""


class Killed(MachineFault):
    """The machine killed a child: it has too little memory, for this kernel or for its other work."""


class Refused(Exception):
    """The sandbox refused something to a strict child, and ended it."""


class Frontend:
    """Child A or L. A runs the module; neither may run programs. If it is `strict`, an answer that it does not give since something
    was refused raises Refused."""

    def __init__(self, work, job, seconds, answer_bytes, strict=False):
        self._seconds = job["max_seconds"]
        self._strict = strict
        layer = sandbox.Layer(execute=False, strict=strict, seconds=seconds * WALL_FACTOR, cpu_seconds=seconds,
                              memory_bytes=FRONTEND_MEMORY, file_bytes=FRONTEND_FILES, answer_bytes=answer_bytes)

        def settled(channel):
            _settle()
            work(channel)

        self._child = sandbox.Child(settled, layer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._child.__exit__()

    def seconds(self):
        return self._child.cpu_seconds()

    def ask(self, request):
        self._child.ask(json.dumps(request).encode())

    def answer(self):
        """Returns its next answer, or {"stage", "died"} if it cannot answer any more."""
        outcome = self._child.answer()
        if self._strict and outcome.kind == "forbidden":
            raise Refused
        return _object(outcome, self._seconds)

    def full(self):
        """Returns True if it has filled its scratch folder."""
        return self._child.full()


def call(work, seconds, max_seconds, answer_bytes):
    """Returns the result of `work()`, run in its own folder by a child B, which may run the compiler's programs, or {"stage",
    "died"} if it did not return. `seconds` is the rest of max_seconds; messages do not contain it, since it differs from run to
    run."""
    def run():
        _settle()
        try:
            return json.dumps(work()).encode()
        except MachineFault as fault:
            return json.dumps(fault_row(fault)).encode()

    layer = sandbox.Layer(execute=True, seconds=seconds * WALL_FACTOR, cpu_seconds=seconds,
                          memory_bytes=BACKEND_MEMORY, file_bytes=BACKEND_FILES, answer_bytes=answer_bytes)
    outcome = sandbox.run(run, layer)
    report = _object(outcome, max_seconds)
    if outcome.full and report.get("status") != "ok":
        return {"stage": "sandbox", "died": "the scratch folder is full"}
    if "machine" in report:
        raise (Killed if report.get("killed") else MachineFault)(report["machine"])
    return report


def fault_row(fault):
    """Makes the line that replaces a report."""
    return {"machine": str(fault), "killed": isinstance(fault, Killed)}


def _settle():
    """In a child: points Triton's caches to the child's folder, which no other kernel uses."""
    os.environ["TRITON_HOME"] = os.getcwd()
    os.environ["TRITON_CACHE_DIR"] = os.path.join(os.getcwd(), "cache")


def _object(outcome, seconds):
    if outcome.kind != "ok":
        return death(outcome, seconds)
    try:
        value = json.loads(outcome.data)
    except (ValueError, RecursionError, MemoryError):
        value = None
    # Only this module may say "died"; a child must not.
    believed = isinstance(value, dict) and "died" not in value
    return value if believed else death(sandbox.Outcome("garbled"), seconds)


def death(outcome, seconds):
    """Returns the reason of a missing answer, for a report. Raises MachineFault if the machine is to blame."""
    if outcome.kind == "refused":
        raise MachineFault(outcome.data.decode("utf-8", "replace"))
    said = {
        "garbled": ("sandbox", "the module answered in the harness's place"),
        "forbidden": ("sandbox", "a system call that is forbidden"),
        "time": ("clock", f"no answer in {seconds * WALL_FACTOR} s"),
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
    name = signal_name(outcome.number) if outcome.kind == "signal" else "no answer"
    return {"stage": "crash", "died": messages.clean(f"{name}: {words}" if words else name)}


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals
        return f"signal {number}"


def crash_line(text):
    """Returns the most telling line of a crash's output on descriptor 2."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if "LLVM ERROR" in line or "Assertion" in line or "error:" in line:
            return line
    return lines[0] if lines else ""
