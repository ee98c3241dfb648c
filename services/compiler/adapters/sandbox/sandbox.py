"""The inner layer of the sandbox: a forked child of the zygote gives up rights before it touches untrusted code.

The basic idea: the outer layer (confined_process.h) confines the zygote and all its descendants, but allows what the
zygote needs. So one kernel could still reach the next: by the zygote's pipes, by signals, by files in the shared scratch
folder. A Child has none of these:

  folder       it can write only to a new scratch folder (Landlock); nothing outlives the kernel
  descriptors  /dev/null as 0 and 1, a file for a crash's last words as 2, and its own pipes: 3 for its answers, 4 for
               requests
  signals      only to itself (seccomp, and Landlock's scope if the kernel has it), except SIGKILL
  limits       processor time, address space, file size, open files. It cannot raise any, and cannot change any without
               Layer(execute=True)
  refusals     with Layer(strict=True) each refusal kills it, so that no code can hide one
  programs     with Layer(execute=False) it can neither execute nor fork, so that threads of one address space are all
               that it has. It cannot remove files either, so that its folder shows all that it has on the disk
  rights       no chmod, setpgid, seccomp or landlock, and of prctl only names

A child can lie in its own answers, and nowhere else. Each answer begins with a token that its parent chose. Anything else
on descriptor 3 ends the child as Outcome("garbled"). Untrusted code can find the token by searching its own process, so
that an answer of a process that runs untrusted Python is untrusted too. The parent bounds time and bytes, kills the
child's process group, and reaps it. The caller must not have threads.

With `--unsafe-no-sandbox` (KERNELMILL_SANDBOX=off), limits, descriptors and the parent's bounds remain; the rest is
left out. Otherwise, if a part of the layer is not available, the child ends before `work` is called, as
Outcome("refused"). Linux on x86-64 only. Uses the standard library only, with rights.py and scratch.py beside it.
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
WORDS_BYTES = 1 << 16  # kept from the end of what a child wrote to descriptor 2
ERROR_BYTES = 4000
_TOKEN_BYTES = 16
_HEAD = struct.Struct(f"={_TOKEN_BYTES}scQ")  # token, kind, size of what follows
_ENTERED, _ANSWER, _ERROR, _MEMORY, _REFUSED = b"L", b"R", b"E", b"M", b"X"


# ---------------------------------------------------------------- the child

@dataclasses.dataclass(frozen=True)
class Layer:
    """The rights and bounds of a child. `execute`: it runs no untrusted Python and needs programs, such as ptxas."""
    execute: bool = False
    strict: bool = False            # a refusal kills it, as Outcome("forbidden"); only without `execute`
    seconds: float = 90             # wall time that the parent waits, for all its answers together
    cpu_seconds: int = 60           # each process
    memory_bytes: int = 4 << 30     # each process, address space; includes what the zygote has mapped
    file_bytes: int = 64 << 20      # each file
    open_files: int = 64
    answer_bytes: int = 64 << 20    # each answer
    devices: tuple[str, ...] = ()   # folders of devices that it may write to, as a GPU's driver does


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of a child. `kind` is one of:

      ok         `data` is its answer
      error      work raised: `data` is "ValueError: ..." in UTF-8, at most ERROR_BYTES
      exit       it ended without an answer, by sys.exit or os._exit; `number` is the status
      garbled    it wrote something that is not an answer; only untrusted code does that
      time, cpu, memory, output   it exceeded the bound of its layer
      forbidden  it made a system call for which the filters kill (SIGSYS); in a strict layer, anything refused
      signal     a crash; `number` is the signal
      refused    it could not be started or confined; `data` says why. The machine's fault, not the kernel's
    """
    kind: str
    data: bytes = b""
    number: int = 0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0  # resident memory
    words: str = ""      # the end of its output on descriptor 2: a crash's last words
    full: bool = False   # it found or left the scratch folder full

    @property
    def limit(self):
        return self.kind in ("time", "cpu", "memory", "output")


def enforced():
    return os.environ.get("KERNELMILL_SANDBOX") != "off"


def protect_zygote():
    """Stops other processes of the same user from inspecting the zygote and its forks. Call it before the first run()."""
    rights.prctl(rights.PR_SET_DUMPABLE, 0)


def stand_in_for(zygote):
    """Prepares a process that the zygote forks to run children for it: it dies with the zygote, and adopts orphans."""
    _die_with(zygote)
    rights.prctl(rights.PR_SET_CHILD_SUBREAPER, 1)


def _die_with(parent):
    rights.prctl(rights.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _keep_descriptors(answers, requests, words):
    # First move every descriptor above the numbers to be given.
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
        # Linux counts by user. Half the limit leaves room for a child that must fork, whatever untrusted code takes.
        bounds.append((resource.RLIMIT_NPROC, threads // 2))
    for which, bound in bounds:
        hard = resource.getrlimit(which)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(which, (bound, bound))
    # A process can ignore SIGXCPU, but not the SIGKILL a second later.
    resource.setrlimit(resource.RLIMIT_CPU, (layer.cpu_seconds, layer.cpu_seconds + 1))


def _enter(layer, folder, parent):
    """Gives up the layer's rights. Raises OSError if a part is not available."""
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
    rights.restrict_files(folder, remove=layer.execute, devices=layer.devices)
    rights.filter_calls(layer.execute, layer.strict)
    if layer.strict:
        rights.kill_at_refused_files(folder)


class Channel:
    """A child's connection to its parent."""

    def __init__(self, token):
        self._token = token

    def requests(self):
        """Yields requests, as lines without their ends, until the parent closes the pipe."""
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
    except BaseException as error:  # after any error, `work` must not be called
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
        channel._write(_ERROR, _format_error(error))
    finally:
        os._exit(status & 0xFF)


def _format_error(error):
    """Formats an exception of untrusted code, whose own code runs when it is printed."""
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:
        text = "an exception that cannot be printed"
    return text.encode("utf-8", "replace")[:ERROR_BYTES]


# ---------------------------------------------------------------- the parent

class Child:
    """A confined process that calls work(channel), which reads requests and answers them. At the end of its `with`
    statement, none of its processes is alive and its folder is gone. The folder is made in `folder`, by default in
    KERNELMILL_SCRATCH."""

    def __init__(self, work, layer=Layer(), folder=None):
        self._layer = layer
        self._buffer = bytearray()
        self._entered = False
        self._full = False
        self._outcome = None  # set after it ended
        self._token = os.urandom(_TOKEN_BYTES)
        self._folder = tempfile.mkdtemp(prefix="kernel-", dir=folder or os.environ["KERNELMILL_SCRATCH"])
        self._words = scratch.nameless_file(self._folder + ".words")
        self._answers, answers = os.pipe()
        requests, self._requests = os.pipe()
        os.set_blocking(self._requests, False)
        parent, self._seconds = os.getpid(), layer.seconds  # the rest of its wall time
        try:
            self._pid = os.fork()
        except OSError as error:
            self._pid = 0
            self._outcome = Outcome("refused", f"fork: {error}".encode())
        else:
            if self._pid == 0:
                _child(work, layer, self._folder, (answers, requests, self._words), self._token, parent)
            try:
                os.setpgid(self._pid, self._pid)  # parent and child both do it, so that neither is too late
            except OSError:
                pass  # the child has done it, and may have ended
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
        """Sends a line to Channel.requests. A child that leaves no room for it has not read its requests, and is ended."""
        if self._outcome is not None:
            return
        line = request + b"\n"
        try:
            sent = os.write(self._requests, line)
        except BlockingIOError:
            sent = 0
        except BrokenPipeError:
            return
        if sent < len(line):
            self._end("garbled", b"", 0)

    def answer(self, seconds=float("inf")):
        """Returns its next answer, as Outcome("ok"), for which it waits at most `seconds`. Any other outcome ends the child, and later
        calls return it again."""
        if self._outcome is not None:
            return self._outcome
        start = time.monotonic()
        deadline = start + min(self._seconds, seconds)
        kind, data = self._read_answer(deadline)
        self._seconds -= time.monotonic() - start
        self._full = self._full or scratch.is_full(self._folder)
        if kind == "ok":
            return Outcome("ok", data, cpu_seconds=self.cpu_seconds(), full=self._full)
        return self._end(kind, data, deadline)

    def cpu_seconds(self):
        """Returns the processor time so far."""
        if self._outcome is None:
            try:
                return time.clock_gettime((~self._pid << 3) | 2)  # its CPU clock: see clock_getcpuclockid(3)
            except OSError:
                return 0.0
        return self._outcome.cpu_seconds

    def full(self):
        """Returns True if an answer or its end found the scratch folder full."""
        return self._full

    def end(self):
        """Kills the child. Returns its outcome, which tells what it used, whatever its kind."""
        return self._outcome or self._end("ok", b"", 0)

    def _end(self, kind, data, deadline):
        status, usage, late = _reap(self._pid, deadline, kill=kind != "exit")
        size = os.fstat(self._words).st_size
        words = os.pread(self._words, WORDS_BYTES, max(0, size - WORDS_BYTES)).decode("utf-8", "replace")
        outcome = _outcome(late or kind, data, status, usage, self._layer)
        if outcome.kind == "exit" and not self._entered:
            # It failed before it was confined and could not report it. No untrusted code has run.
            outcome = dataclasses.replace(outcome, kind="refused", data=b"it ended before it was confined")
        self._outcome = dataclasses.replace(outcome, words=words, full=self._full)
        return self._outcome

    def _read_answer(self, deadline):
        """Returns (kind, data); "exit" means the end of its output."""
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
        """Returns (kind of frame, data), or (kind of outcome, b"")."""
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
    """Calls work(), which returns bytes, in a confined child. Returns its Outcome after the child's end."""
    with Child(lambda channel: channel.answer(work()), layer, folder) as child:
        outcome = child.answer()
        used = child.end()
        return dataclasses.replace(outcome, cpu_seconds=used.cpu_seconds, peak_bytes=used.peak_bytes)


def _reap(child, deadline, kill):
    """Waits for the child, kills it at the deadline, and then the rest of its group. Returns (status, rusage,
    None | "time")."""
    late, pause = None, 0.0002
    while not kill:
        # Leave it a zombie, so that no other group can get its number.
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            break
        if time.monotonic() >= deadline:
            late, kill = "time", True
        time.sleep(pause)
        pause = min(0.02, pause * 2)
    _kill_group(child)
    status, usage = os.wait4(child, 0)[1:]
    try:
        # This process adopts orphans (PR_SET_CHILD_SUBREAPER), such as those of ptxas.
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
