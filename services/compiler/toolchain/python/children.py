"""Processes forked from the zygote, bounded and killed from outside.

A child has three descriptors of its own: 0 to 2, and its pipes. The zygote's are closed in it. Its processor time is bounded
by the kernel (RLIMIT_CPU), its wall time by the zygote: a child that sleeps is killed as one that computes is.
"""
import json
import os
import re
import resource
import select
import shutil
import signal
import tempfile
import time

from kernelmill_harness import messages


WALL_FACTOR = 4   # a busy machine gives a process less than all of a core
FILE_BYTES = 1 << 28
ERROR_BYTES = 1 << 16
KEEP_OUT = []     # descriptors of the zygote, which no child has
OUT_OF_MEMORY = re.compile(r"out of memory|bad_alloc|MemoryError", re.IGNORECASE)
CLOSED, LATE, LONG = "closed", "late", "long"  # why a child gave no answer


class Child:
    """A forked process, its folder, and what it writes on descriptor 2, of which a crash leaves its last words."""

    def __init__(self, work, seconds, scratch):
        self.folder = tempfile.mkdtemp(dir=scratch)
        self.errors = os.memfd_create("errors")
        self.limit = seconds
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setpgid(0, 0)
                _enter(self.errors, self.folder, seconds)
                work()
            except BaseException as error:  # pylint: disable=broad-except
                os.write(2, messages.of_exception(error).encode("utf-8", "replace"))
                os._exit(1)
            finally:
                os._exit(0)
        self.status = None
        self.used = 0.0

    def seconds(self):
        """Processor time so far."""
        if self.status is None:
            try:
                return time.clock_gettime((~self.pid << 3) | 2)  # its CPU clock: see clock_getcpuclockid(3)
            except OSError:
                pass
        return self.used

    def last_words(self):
        size = os.fstat(self.errors).st_size
        return os.pread(self.errors, ERROR_BYTES, max(0, size - ERROR_BYTES)).decode("utf-8", "replace")

    def end(self):
        """Kills it and all of its group, and removes its folder."""
        if self.status is None:
            self.kill()
            self.wait()
        os.close(self.errors)
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait(self):
        _, self.status, usage = os.wait4(self.pid, 0)
        self.used = usage.ru_utime + usage.ru_stime

    def kill(self):
        for kill in (os.killpg, os.kill):
            try:
                kill(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass

    def death(self, silence):
        """Why there is no answer, for a report: `silence` is read_line's reason. Kills what still runs."""
        self.kill()
        self.wait()
        words = crash_line(self.last_words())
        number = os.WTERMSIG(self.status) if os.WIFSIGNALED(self.status) else 0
        if silence == LATE:
            return {"stage": "limit", "died": f"no answer in {self.limit * WALL_FACTOR} s"}
        if silence == LONG:
            return {"stage": "limit", "died": "the answer is too large"}
        if self.used >= self.limit - 0.5:
            return {"stage": "limit", "died": f"more than {self.limit} s of processor time"}
        if OUT_OF_MEMORY.search(words) or number in (signal.SIGKILL, signal.SIGXCPU, signal.SIGXFSZ):
            return {"stage": "limit", "died": messages.clean(words or signal.Signals(number).name)}
        name = signal.Signals(number).name if number else "no answer"
        return {"stage": "crash", "died": messages.clean(f"{name}: {words}" if words else name)}


def crash_line(text):
    """Of what a crash leaves on descriptor 2 the line that says most."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if "LLVM ERROR" in line or "Assertion" in line or "error:" in line:
            return line
    return lines[0] if lines else ""


def _enter(errors, folder, seconds):
    """In the child: its descriptors, its folder, its limits."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(errors, 2)
    for fd in KEEP_OUT:
        os.close(fd)
    os.environ["TMPDIR"] = os.environ["HOME"] = os.environ["TRITON_HOME"] = folder
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "cache")
    tempfile.tempdir = folder
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))


def read_line(fd, buffer, seconds, limit):
    """(a line of a pipe without its end, ""), or (None, why there is none)."""
    until = time.monotonic() + seconds
    while b"\n" not in buffer:
        left = until - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return None, LATE
        part = os.read(fd, 1 << 20)
        if not part:
            return None, CLOSED
        buffer.extend(part)
        if len(buffer) > limit:
            return None, LONG
    line, _, rest = bytes(buffer).partition(b"\n")
    buffer[:] = rest
    return line, ""


def read_object(fd, buffer, seconds, limit):
    """(what a child wrote as an object of JSON, ""), or (None, why there is none)."""
    line, silence = read_line(fd, buffer, seconds, limit)
    if line is None:
        return None, silence
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None, CLOSED
    return (value, "") if isinstance(value, dict) else (None, CLOSED)


def write_object(file, value):
    file.write(json.dumps(value).encode() + b"\n")
    file.flush()


class Frontend:
    """Child A, which answers several requests."""

    def __init__(self, main, job, target, scratch):
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        ours = (self._requests, self._answers)

        def work():
            for fd in ours:
                os.close(fd)
            main(requests, answers, job, target)

        self._child = Child(work, job["max_seconds"], scratch)
        os.close(requests)
        os.close(answers)
        self._buffer = bytearray()
        self._dead = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._requests)
        os.close(self._answers)
        self._child.end()

    def seconds(self):
        return self._child.seconds()

    def ask(self, place):
        try:
            os.write(self._requests, f"{place}\n".encode())
        except BrokenPipeError:
            pass

    def answer(self, limit):
        """What it says; {"stage", "died"}: it says nothing any more."""
        if self._dead is None:
            value, silence = read_object(self._answers, self._buffer, self._child.limit * WALL_FACTOR, limit)
            if value is not None:
                return value
            self._dead = self._child.death(silence)
        return dict(self._dead)


def call(work, seconds, limit, scratch):
    """What `work(folder)` returns, run in a child; {"stage", "died"}: it did not return."""
    ours, theirs = os.pipe()

    def run():
        os.close(ours)
        with os.fdopen(theirs, "wb") as out:
            write_object(out, work(os.getcwd()))

    child = Child(run, seconds, scratch)
    os.close(theirs)
    try:
        value, silence = read_object(ours, bytearray(), seconds * WALL_FACTOR, limit)
        return value if value is not None else child.death(silence)
    finally:
        os.close(ours)
        child.end()
