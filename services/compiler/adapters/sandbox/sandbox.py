"""The inner layer of the sandbox: what a forked child of the zygote gives up before it touches a stranger's code.

The outer layer (confined_process.h) holds the zygote and all below it. It lets a process do what the zygote needs, so
one kernel could still reach the next: by the zygote's pipes, by signals, by files in the slot's scratch folder. A Child
has none of these:

  folder       a new scratch folder is the only place to write to (Landlock); nothing outlives the kernel
  descriptors  /dev/null as 0 and 1, a file for a crash's last words as 2, and pipes of its own: 3 carries its own answers
               alone, 4 what it is asked
  signals      to itself alone (seccomp; Landlock's scope where the kernel has it), and there no SIGKILL
  limits       processor time, address space, size of a file, open files; none can be raised, nor changed at all where no
               programs are executed
  programs     Layer(execute=False) may neither execute nor fork: threads are all that it can make, and its group and
               its address space are then all that there is of it. It may not remove files either, so that the bytes
               and entries of its folder are all that it has on the disk
  rights       no further chmod, setpgid, seccomp, landlock or prctl but names

A child can lie about its own answers, and about nothing else. Each answer begins with a token that its parent made up:
what is written to descriptor 3 without it is no answer, and ends the child as Outcome("garbled"). Code that searches its
own process finds the token, so an answer of a process that runs a stranger's Python is a stranger's word all the same.
The parent bounds time and bytes, kills the child's process group, and reaps it. The caller must have no threads.

Under `--unsafe-no-sandbox` (KERNELMILL_SANDBOX=off) limits, descriptors and the parent's bounds remain; the rest is
left out. Otherwise a layer that cannot be had ends the child before `work` is called, as Outcome("refused"). Linux on
x86-64 only. Standard library only, and rights.py and scratch.py beside it.
"""

import dataclasses
import fcntl
import os
import resource
import select
import signal
import struct
import tempfile
import time

from kernelmill_harness import rights, scratch

ANSWERS_FD, REQUESTS_FD = 3, 4
WORDS_BYTES = 1 << 16  # of what a child wrote to descriptor 2, its end
ERROR_BYTES = 4000
_TOKEN_BYTES = 16
_HEAD = struct.Struct(f"={_TOKEN_BYTES}scQ")  # token, kind, size of what follows
_ENTERED, _ANSWER, _ERROR, _MEMORY, _REFUSED = b"L", b"R", b"E", b"M", b"X"


# ---------------------------------------------------------------- the child

@dataclasses.dataclass(frozen=True)
class Layer:
    """What a child may use. `execute`: it runs no stranger's Python and needs programs, such as ptxas."""
    execute: bool = False
    seconds: float = 90             # of the clock, while it is waited for: for all its answers together
    cpu_seconds: int = 60           # of each process
    memory_bytes: int = 4 << 30     # of address space, of each process; what the zygote has mapped counts
    file_bytes: int = 64 << 20      # of each file
    open_files: int = 64
    answer_bytes: int = 64 << 20    # of an answer


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of a child. `kind` is one of:

      ok         `data` is its answer
      error      work raised: `data` is "ValueError: ..." in UTF-8, at most ERROR_BYTES
      exit       it ended without an answer, by sys.exit or os._exit; `number` is the status
      garbled    what it wrote is no answer: only a stranger's code does that
      time, cpu, memory, output   it reached the bound of its layer
      forbidden  a system call for which the filters kill (SIGSYS)
      signal     a crash; `number` is the signal
      refused    it could not be started, or its layer not be had; `data` says why. The machine's fault, not the kernel's
    """
    kind: str
    data: bytes = b""
    number: int = 0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0  # of resident memory
    words: str = ""      # the end of what it wrote to descriptor 2: a crash's last words

    @property
    def limit(self):
        return self.kind in ("time", "cpu", "memory", "output")


def enforced():
    return os.environ.get("KERNELMILL_SANDBOX") != "off"


def protect_zygote():
    """Once, before the first run(): no process of the same user may look into the zygote or what it forks."""
    rights.prctl(rights.PR_SET_DUMPABLE, 0)


def stand_in_for(zygote):
    """In a process that the zygote forks to run children in its place: it ends with the zygote, and orphans come to it."""
    _die_with(zygote)
    rights.prctl(rights.PR_SET_CHILD_SUBREAPER, 1)


def _die_with(parent):
    rights.prctl(rights.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _keep_descriptors(answers, requests, words):
    # First out of the way of the numbers to be given.
    kept = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 16) for fd in (answers, requests, words)]
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    for fd, number in zip(kept, (ANSWERS_FD, REQUESTS_FD, 2)):
        os.dup2(fd, number, inheritable=number == 2)
    rights.call("close_range", REQUESTS_FD + 1, 0xFFFFFFFF, 0)


def _set_limits(layer):
    bounds = [(resource.RLIMIT_AS, layer.memory_bytes), (resource.RLIMIT_FSIZE, layer.file_bytes),
              (resource.RLIMIT_NOFILE, layer.open_files), (resource.RLIMIT_CORE, 1)]
    threads = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    if not layer.execute and threads != resource.RLIM_INFINITY:
        # Counted by user: what one that runs a stranger's code takes is not missing to one that must fork.
        bounds.append((resource.RLIMIT_NPROC, threads // 2))
    for which, bound in bounds:
        hard = resource.getrlimit(which)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(which, (bound, bound))
    # SIGXCPU can be ignored; a second later comes SIGKILL.
    resource.setrlimit(resource.RLIMIT_CPU, (layer.cpu_seconds, layer.cpu_seconds + 1))


def _enter(layer, folder, parent):
    """Raises OSError where a part cannot be had."""
    os.setpgid(0, 0)
    _die_with(parent)
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR=folder, KERNELMILL_SCRATCH=folder)
    tempfile.tempdir = folder
    _set_limits(layer)
    if not enforced():
        return
    rights.prctl(rights.PR_SET_NO_NEW_PRIVS, 1)
    rights.prctl(rights.PR_SET_DUMPABLE, 0)
    rights.restrict_files(folder, remove=layer.execute)
    rights.filter_calls(layer.execute)


class Channel:
    """What a child has of its parent."""

    def __init__(self, token):
        self._token = token

    def requests(self):
        """Lines without their ends, until the parent asks for nothing more."""
        with os.fdopen(REQUESTS_FD, "rb") as requests:
            for request in requests:
                yield request.rstrip(b"\n")

    def answer(self, data):
        self._write(_ANSWER, data)

    def _write(self, kind, data=b""):
        answer = memoryview(_HEAD.pack(self._token, kind, len(data)) + data)
        while answer:
            answer = answer[os.write(ANSWERS_FD, answer):]


def _child(work, layer, folder, descriptors, token, parent):
    channel = Channel(token)
    try:
        _keep_descriptors(*descriptors)
        _enter(layer, folder, parent)
        channel._write(_ENTERED)
    except BaseException as error:  # whatever it is, `work` must not be called
        channel._write(_REFUSED, f"{type(error).__name__}: {error}".encode()[:ERROR_BYTES])
        os._exit(0)
    status = 0
    try:
        work(channel)
    except MemoryError:
        channel._write(_MEMORY)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException as error:
        channel._write(_ERROR, _text_of(error))
    finally:
        os._exit(status & 0xFF)


def _text_of(error):
    """A stranger's exception: to print it runs his code."""
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:
        text = "an exception that cannot be printed"
    return text.encode("utf-8", "replace")[:ERROR_BYTES]


# ---------------------------------------------------------------- the parent

class Child:
    """A confined process that calls work(channel): it is asked, and answers. Ends with its `with` statement, when nothing
    of it is alive any more and its folder is gone. The folder is made in `folder`; without, in KERNELMILL_SCRATCH."""

    def __init__(self, work, layer=Layer(), folder=None):
        self._layer = layer
        self._buffer = bytearray()
        self._entered = False
        self._outcome = None  # how it ended, once it has
        self._token = os.urandom(_TOKEN_BYTES)
        self._folder = tempfile.mkdtemp(prefix="kernel-", dir=folder or os.environ["KERNELMILL_SCRATCH"])
        self._words = scratch.nameless_file(self._folder + ".words")
        self._answers, answers = os.pipe()
        requests, self._requests = os.pipe()
        parent, self._seconds = os.getpid(), layer.seconds  # that it may still take
        try:
            self._pid = os.fork()
        except OSError as error:
            self._pid = 0
            self._outcome = Outcome("refused", f"fork: {error}".encode())
        else:
            if self._pid == 0:
                _child(work, layer, self._folder, (answers, requests, self._words), self._token, parent)
            try:
                os.setpgid(self._pid, self._pid)  # both sides do, so that neither is too late
            except OSError:
                pass  # it has done so, and may have ended
        os.close(answers)
        os.close(requests)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
        for fd in (self._answers, self._requests, self._words):
            os.close(fd)
        scratch.clear_folder(self._folder)

    def ask(self, request):
        """A line, which it finds in Channel.requests."""
        try:
            os.write(self._requests, request + b"\n")
        except BrokenPipeError:
            pass

    def answer(self):
        """Its next answer, as Outcome("ok"); any other ends it, and all that is asked later has the same outcome."""
        if self._outcome is not None:
            return self._outcome
        deadline = time.monotonic() + self._seconds
        kind, data = self._read_answer(deadline)
        self._seconds = deadline - time.monotonic()
        if kind == "ok":
            return Outcome("ok", data, cpu_seconds=self.cpu_seconds())
        return self._end(kind, data, deadline)

    def cpu_seconds(self):
        """Processor time so far."""
        if self._outcome is None:
            try:
                return time.clock_gettime((~self._pid << 3) | 2)  # its CPU clock: see clock_getcpuclockid(3)
            except OSError:
                return 0.0
        return self._outcome.cpu_seconds

    def end(self):
        """Kills what is left of it. Its outcome has what it used, whatever its kind."""
        return self._outcome or self._end("ok", b"", 0)

    def _end(self, kind, data, deadline):
        status, usage, late = _reap(self._pid, deadline, kill=kind != "exit")
        size = os.fstat(self._words).st_size
        words = os.pread(self._words, WORDS_BYTES, max(0, size - WORDS_BYTES)).decode("utf-8", "replace")
        outcome = _outcome(late or kind, data, status, usage, self._layer)
        if outcome.kind == "exit" and not self._entered:
            # It could not be confined, and not say so either: no stranger's code has run.
            outcome = dataclasses.replace(outcome, kind="refused", data=b"it ended before it was confined")
        self._outcome = dataclasses.replace(outcome, words=words)
        return self._outcome

    def _read_answer(self, deadline):
        """(kind, data): "exit" is the end of what it writes."""
        kinds = {_ANSWER: "ok", _MEMORY: "memory"}
        while True:
            kind, data = self._read_frame(deadline)
            if kind == _ENTERED and not self._entered:
                self._entered = True
            elif kind == _REFUSED and not self._entered:
                return "refused", data
            elif isinstance(kind, str):
                return kind, b""
            elif kind == _ERROR and self._entered:
                return "error", data[:ERROR_BYTES]
            else:
                return (kinds[kind], data) if self._entered and kind in kinds else ("garbled", b"")

    def _read_frame(self, deadline):
        """(kind of frame, data), or (kind of outcome, b"")."""
        poll = select.poll()
        poll.register(self._answers, select.POLLIN)
        while True:
            head = bytes(self._buffer[:_HEAD.size])
            if not self._token.startswith(head[:_TOKEN_BYTES]):
                return "garbled", b""
            if len(head) == _HEAD.size:
                _, kind, size = _HEAD.unpack(head)
                if size > self._layer.answer_bytes:
                    return "output", b""
                if len(self._buffer) >= _HEAD.size + size:
                    data = bytes(self._buffer[_HEAD.size:_HEAD.size + size])
                    del self._buffer[:_HEAD.size + size]
                    return kind, data
            left = deadline - time.monotonic()
            if left <= 0:
                return "time", b""
            if not poll.poll(left * 1000):
                continue
            chunk = os.read(self._answers, 1 << 20)
            if not chunk:
                return ("garbled" if self._buffer else "exit"), b""
            self._buffer += chunk


def run(work, layer=Layer(), folder=None):
    """Calls work() in a confined child; it returns bytes. The Outcome of it, when nothing of the child is alive."""
    with Child(lambda channel: channel.answer(work()), layer, folder) as child:
        outcome = child.answer()
        used = child.end()
        return dataclasses.replace(outcome, cpu_seconds=used.cpu_seconds, peak_bytes=used.peak_bytes)


def _reap(child, deadline, kill):
    """Waits for the child, kills it at the deadline, and then all that is left of its group. (status, rusage,
    None | "time")"""
    late, pause = None, 0.0002
    while not kill:
        # Its end is looked at, but it stays a zombie: its group cannot be another's yet.
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            break
        if time.monotonic() >= deadline:
            late, kill = "time", True
        time.sleep(pause)
        pause = min(0.02, pause * 2)
    _kill_group(child)
    status, usage = os.wait4(child, 0)[1:]
    try:
        # The reaper of orphans is here (PR_SET_CHILD_SUBREAPER): what ptxas left comes to it.
        while os.waitpid(-child, 0):
            pass
    except ChildProcessError:
        pass
    return status, usage, late


def _kill_group(child):
    for kill in (os.killpg, os.kill):
        try:
            kill(child, signal.SIGKILL)
        except ProcessLookupError:
            pass


def _outcome(kind, data, status, usage, layer):
    cpu = usage.ru_utime + usage.ru_stime
    rest = {"cpu_seconds": cpu, "peak_bytes": usage.ru_maxrss * 1024}
    if kind != "exit":
        return Outcome(kind, data, **rest)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU or (number == signal.SIGKILL and cpu >= layer.cpu_seconds):
            return Outcome("cpu", number=number, **rest)
        if number == signal.SIGXFSZ:
            return Outcome("output", number=number, **rest)
        return Outcome("forbidden" if number == signal.SIGSYS else "signal", number=number, **rest)
    return Outcome("exit", number=os.WEXITSTATUS(status), **rest)
