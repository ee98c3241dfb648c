"""The inner layer of the sandbox: what a forked child of the zygote gives up before it touches a stranger's code.

The outer layer (confined_process.h) holds the zygote and all below it. It lets a process do what the zygote needs, so
one kernel could still reach the next: by the zygote's pipes, by signals, by files in the slot's scratch folder. run()
forks a child that has none of these:

  folder       a new scratch folder is the only place to write to (Landlock); nothing outlives the kernel
  descriptors  /dev/null as 0, 1 and 2, and as 3 a pipe of its own, which carries its own answer alone
  signals      to itself alone (seccomp; Landlock's scope where the kernel has it)
  limits       processor time, address space, size of a file, open files; none can be raised
  programs     Layer(execute=False) may neither execute nor fork: threads are all that it can make, and its group and
               its address space are then all that there is of it. It may not remove files either, so that the bytes
               and entries of its folder are all that it has on the disk
  rights       no further chmod, setpgid, seccomp, landlock or prctl but names

A child can lie about its own answer, and about nothing else. The parent bounds time and bytes, kills the child's
process group, and reaps it. One kernel at a time: run() is not re-entrant, and the caller must have no threads.

Under `--unsafe-no-sandbox` (KERNELMILL_SANDBOX=off) limits, descriptors and the parent's bounds remain; the rest is
left out. Otherwise a layer that cannot be had ends the child before `work` is called, as Outcome("refused"). Linux on
x86-64 only. Standard library only.
"""

import ctypes
import dataclasses
import os
import resource
import select
import shutil
import signal
import stat
import struct
import tempfile
import time

RESULT_FD = 3

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

# ---------------------------------------------------------------- seccomp

# x86-64's numbers.
_CALLS = {
    "open": 2, "clone": 56, "fork": 57, "vfork": 58, "execve": 59, "kill": 62, "fcntl": 72, "rename": 82, "rmdir": 84,
    "unlink": 87, "chmod": 90, "fchmod": 91, "setpgid": 109, "prctl": 157, "setrlimit": 160, "tkill": 200,
    "tgkill": 234, "openat": 257, "unlinkat": 263, "renameat": 264, "fchmodat": 268, "prlimit64": 302,
    "renameat2": 316, "seccomp": 317, "execveat": 322, "close_range": 436, "landlock_create_ruleset": 444,
    "landlock_add_rule": 445, "landlock_restrict_self": 446}

_ALLOW, _KILL, _EPERM = 0x7FFF0000, 0x80000000, 0x00050001
_ARCH_X86_64 = 0xC000003E
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # where struct seccomp_data has them
_CLONE_THREAD = 0x10000
_O_TMPFILE_BIT = 0o20000000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA = 1, 4, 15, 16, 0x53564D41
_PR_SET_NO_NEW_PRIVS = 38


def _instruction(code, value, if_true=0, if_false=0):
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _refuse(call):
    return _instruction(_EQUAL, _CALLS[call], 0, 1) + _instruction(_RETURN, _EPERM)


def _unless(call, argument, values):
    """Refuses a call unless the low half of its argument is one of `values`."""
    tests = b"".join(_instruction(_EQUAL, value, len(values) - i, 0) for i, value in enumerate(values))
    return (_instruction(_EQUAL, _CALLS[call], 0, len(values) + 3) + _instruction(_LOAD, _ARGUMENTS + 8 * argument) +
            tests + _instruction(_RETURN, _EPERM) + _instruction(_RETURN, _ALLOW))


def _by_bit(call, argument, bit, if_set, otherwise):
    return (_instruction(_EQUAL, _CALLS[call], 0, 4) + _instruction(_LOAD, _ARGUMENTS + 8 * argument) +
            _instruction(_ANY_BIT, bit, 0, 1) + _instruction(_RETURN, if_set) + _instruction(_RETURN, otherwise))


def seccomp_filter(pid, execute):
    """The BPF program of a child: only what it takes away, as the outer filter remains."""
    program = (_instruction(_LOAD, _ARCH) + _instruction(_EQUAL, _ARCH_X86_64, 1, 0) + _instruction(_RETURN, _KILL) +
               _instruction(_LOAD, _NUMBER))
    for call in ("setpgid", "chmod", "fchmod", "fchmodat", "seccomp", "tkill", "execveat",
                 "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"):
        program += _refuse(call)
    program += _unless("kill", 0, [pid]) + _unless("tgkill", 0, [pid])
    program += _unless("prctl", 0, [_PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA])
    if not execute:
        for call in ("fork", "vfork", "execve"):
            program += _refuse(call)
        program += _by_bit("clone", 0, _CLONE_THREAD, _ALLOW, _EPERM)
        program += _by_bit("open", 1, _O_TMPFILE_BIT, _EPERM, _ALLOW)
        program += _by_bit("openat", 2, _O_TMPFILE_BIT, _EPERM, _ALLOW)
    return program + _instruction(_RETURN, _ALLOW)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


# ---------------------------------------------------------------- Landlock

# Rights of linux/landlock.h that change files; reading and executing are the outer layer's business.
_WRITE_FILE, _REMOVE_DIR, _REMOVE_FILE = 1 << 1, 1 << 4, 1 << 5
_MAKE_DIR, _MAKE_REG, _MAKE_SYM, _REFER, _TRUNCATE = 1 << 7, 1 << 8, 1 << 12, 1 << 13, 1 << 14
_MAKE_OTHERS = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11  # devices, sockets, pipes


def _call(name, *arguments):
    """Raises OSError."""
    values = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    answer = _libc.syscall(ctypes.c_long(_CALLS[name]), *values)
    if answer < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return answer


def _restrict_files(folder, remove):
    abi = _call("landlock_create_ruleset", None, 0, 1)
    handled = (_WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _MAKE_OTHERS | _REFER |
               (_TRUNCATE if abi >= 3 else 0))
    scoped = 3 if abi >= 6 else 0  # abstract sockets, signals
    attributes = struct.pack("=QQQ", handled, 0, scoped)
    ruleset = _call("landlock_create_ruleset", attributes, len(attributes), 0)
    allowed = handled & ~_MAKE_OTHERS & ~(0 if remove else _REMOVE_DIR | _REMOVE_FILE | _REFER)
    for path, access in ((folder, allowed), ("/dev/null", handled & (_WRITE_FILE | _TRUNCATE))):
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        _call("landlock_add_rule", ruleset, 1, struct.pack("=Qi", access, fd), 0)
        os.close(fd)
    _call("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)


# ---------------------------------------------------------------- the child

@dataclasses.dataclass(frozen=True)
class Layer:
    """What a child may use. `execute`: it runs no stranger's Python and needs programs, such as ptxas."""
    execute: bool = False
    seconds: float = 90             # of the clock, till its answer and its end
    cpu_seconds: int = 60           # of each process
    memory_bytes: int = 4 << 30     # of address space, of each process; what the zygote has mapped counts
    file_bytes: int = 64 << 20      # of each file
    open_files: int = 64
    answer_bytes: int = 64 << 20    # of what `work` returns


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of a child. `kind` is one of:

      ok         `data` is what work returned
      error      work raised: `data` is "ValueError: ..." in UTF-8, at most 4,000 bytes
      exit       it ended without an answer, by sys.exit or os._exit; `number` is the status
      garbled    what it wrote is no answer: only a stranger's code does that
      time, cpu, memory, output   it reached the bound of its layer
      forbidden  a system call for which the filters kill (SIGSYS)
      signal     a crash; `number` is the signal
      refused    the layer could not be had; `data` says why. The machine's fault, not the kernel's
    """
    kind: str
    data: bytes = b""
    number: int = 0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0  # of resident memory

    @property
    def limit(self):
        return self.kind in ("time", "cpu", "memory", "output")


def enforced():
    return os.environ.get("KERNELMILL_SANDBOX") != "off"


def protect_zygote():
    """Once, before the first run(): no process of the same user may look into the zygote or what it forks."""
    _call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)


def _keep_descriptors(answer):
    if answer != RESULT_FD:
        os.dup2(answer, RESULT_FD)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    _call("close_range", RESULT_FD + 1, 0xFFFFFFFF, 0)


def _set_limits(layer):
    bounds = [(resource.RLIMIT_AS, layer.memory_bytes), (resource.RLIMIT_FSIZE, layer.file_bytes),
              (resource.RLIMIT_NOFILE, layer.open_files), (resource.RLIMIT_CORE, 0)]
    for which, bound in bounds:
        hard = resource.getrlimit(which)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(which, (bound, bound))
    # SIGXCPU can be ignored; a second later comes SIGKILL.
    resource.setrlimit(resource.RLIMIT_CPU, (layer.cpu_seconds, layer.cpu_seconds + 1))


def _enter(layer, folder, parent):
    """Raises OSError where a part cannot be had."""
    os.setpgid(0, 0)
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR=folder, KERNELMILL_SCRATCH=folder)
    tempfile.tempdir = folder
    _set_limits(layer)
    if not enforced():
        return
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)
    _restrict_files(folder, remove=layer.execute)
    program = seccomp_filter(os.getpid(), layer.execute)
    _call("seccomp", 1, 0, ctypes.byref(_Program(len(program) // 8, program)))


def _write_answer(kind, data):
    answer = memoryview(struct.pack("=cQ", kind, len(data)) + data)
    while answer:
        answer = answer[os.write(RESULT_FD, answer):]


def _child(work, layer, folder, answer, parent):
    try:
        _keep_descriptors(answer)
        _enter(layer, folder, parent)
    except BaseException as error:  # whatever it is, `work` must not be called
        _write_answer(b"X", f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(0)
    try:
        _write_answer(b"R", work())
        status = 0
    except MemoryError:
        _write_answer(b"M", b"")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException as error:
        _write_answer(b"E", _text_of(error))
        status = 0
    finally:
        os._exit(status & 0xFF)


def _text_of(error):
    """A stranger's exception: to print it runs his code."""
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:
        text = "an exception that cannot be printed"
    return text.encode("utf-8", "replace")[:4000]


# ---------------------------------------------------------------- the parent

def run(work, layer=Layer(), folder=None):
    """Calls work() in a confined child; it returns bytes. Returns an Outcome, whatever the child does, and when nothing
    of it is alive. `folder` is where its scratch folder is made; without, in KERNELMILL_SCRATCH."""
    scratch = tempfile.mkdtemp(prefix="kernel-", dir=folder or os.environ["KERNELMILL_SCRATCH"])
    read, write = os.pipe()
    parent, started = os.getpid(), time.monotonic()
    child = os.fork()
    if child == 0:
        _child(work, layer, scratch, write, parent)
    try:
        os.close(write)
        try:
            os.setpgid(child, child)  # both sides do, so that neither is too late
        except OSError:
            pass  # it has done so, and may have ended
        answer, over = _read_answer(read, layer, started + layer.seconds)
        status, usage, late = _reap(child, started + layer.seconds, kill=over is not None)
        return _outcome(answer, over or late, status, usage, layer)
    finally:
        os.close(read)
        clear_folder(scratch)


def _read_answer(fd, layer, deadline):
    """(bytes, None | "time" | "output")"""
    chunks, size = [], 0
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return b"".join(chunks), "time"
        if not poll.poll(left * 1000):
            continue
        chunk = os.read(fd, 1 << 20)
        if not chunk:
            return b"".join(chunks), None
        chunks.append(chunk)
        size += len(chunk)
        if size > layer.answer_bytes + 9:
            return b"", "output"


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
        # The zygote is the reaper of orphans (PR_SET_CHILD_SUBREAPER): what ptxas left comes here.
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


def _outcome(answer, over, status, usage, layer):
    cpu = usage.ru_utime + usage.ru_stime
    rest = {"cpu_seconds": cpu, "peak_bytes": usage.ru_maxrss * 1024}
    if over:
        return Outcome(over, **rest)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU or (number == signal.SIGKILL and cpu >= layer.cpu_seconds):
            return Outcome("cpu", number=number, **rest)
        return Outcome("forbidden" if number == signal.SIGSYS else "signal", number=number, **rest)
    code = os.WEXITSTATUS(status)
    if not answer:
        return Outcome("exit", number=code, **rest)
    kinds = {b"R": "ok", b"E": "error", b"M": "memory", b"X": "refused"}
    head, data = answer[:9], answer[9:]
    if len(head) < 9 or head[:1] not in kinds or struct.unpack("=Q", head[1:])[0] != len(data):
        return Outcome("garbled", **rest)
    return Outcome(kinds[head[:1]], data, code, **rest)


def clear_folder(path):
    """Removes a folder that a stranger wrote to, when nobody writes to it any more. Never follows links; folders
    without rights get them back; no depth of folders needs more than a few descriptors."""
    for number in range(1 << 30):
        # Folders that lie deeper are moved up, one level a round, and found by the next round.
        moved = _clear_once(path, number)
        if not moved:
            break
    shutil.rmtree(path, ignore_errors=True)


def _clear_once(path, number):
    moved = 0
    for entry in list(os.scandir(path)):
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)
            continue
        os.chmod(entry.path, stat.S_IRWXU)
        for below in list(os.scandir(entry.path)):
            if below.is_dir(follow_symlinks=False):
                os.chmod(below.path, stat.S_IRWXU)
                os.rename(below.path, os.path.join(path, f".km-{number}-{moved}"))
                moved += 1
            else:
                os.unlink(below.path)
        os.rmdir(entry.path)
    return moved
