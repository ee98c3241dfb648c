"""Gives up rights of a child of the zygote for good: system calls by a filter (seccomp), files that it may change by a
ruleset (Landlock).

Both only take rights away. The outer layer (seccomp_filter.h, landlock.h) has already taken others.
"""

import ctypes
import os
import signal
import struct
import sys
import threading

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

# Numbers of system calls on x86-64.
_CALLS = {
    "open": 2, "clone": 56, "fork": 57, "vfork": 58, "execve": 59, "kill": 62, "chmod": 90, "fchmod": 91, "setpgid": 109,
    "prctl": 157, "setrlimit": 160, "tkill": 200, "tgkill": 234, "openat": 257, "fchmodat": 268, "prlimit64": 302,
    "seccomp": 317, "execveat": 322, "close_range": 436, "landlock_create_ruleset": 444, "landlock_add_rule": 445,
    "landlock_restrict_self": 446}

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38


def call(name, *arguments):
    """Makes a system call. Raises OSError if it fails."""
    values = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    answer = _libc.syscall(ctypes.c_long(_CALLS[name]), *values)
    if answer < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return answer


def prctl(option, value):
    """Calls prctl(2). Raises OSError if it fails."""
    call("prctl", option, value, 0, 0, 0)


# ---------------------------------------------------------------- seccomp

_ALLOW, _KILL, _EPERM = 0x7FFF0000, 0x80000000, 0x00050001
_ARCH_X86_64 = 0xC000003E
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_CLONE_THREAD, _CLONE_VFORK = 0x10000, 0x4000
_O_TMPFILE_BIT = 0o20000000
_PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA = 15, 16, 0x53564D41


def _instruction(code, value, if_true=0, if_false=0):
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _refuse(call):
    return _instruction(_EQUAL, _CALLS[call], 0, 1) + _instruction(_RETURN, _EPERM)


def _unless(call, argument, values):
    """Refuses a call unless the low half of its argument is one of `values`."""
    tests = b"".join(_instruction(_EQUAL, value, len(values) - i, 0) for i, value in enumerate(values))
    return (_instruction(_EQUAL, _CALLS[call], 0, len(values) + 3) + _instruction(_LOAD, _ARGUMENTS + 8 * argument) +
            tests + _instruction(_RETURN, _EPERM) + _instruction(_RETURN, _ALLOW))


def _both(call, first, second):
    """Refuses a call unless both tests hold. A test: (offset in seccomp_data, value, True if it must be equal)."""
    (at, value, equal), (at_2, value_2, equal_2) = first, second
    return (_instruction(_EQUAL, _CALLS[call], 0, 6) +
            _instruction(_LOAD, at) + _instruction(_EQUAL, value, *((0, 3) if equal else (3, 0))) +
            _instruction(_LOAD, at_2) + _instruction(_EQUAL, value_2, *((0, 1) if equal_2 else (1, 0))) +
            _instruction(_RETURN, _ALLOW) + _instruction(_RETURN, _EPERM))


def _by_bit(call, argument, bit, if_set, otherwise):
    """Returns one of two verdicts on a call, by a bit of its argument."""
    return (_instruction(_EQUAL, _CALLS[call], 0, 4) + _instruction(_LOAD, _ARGUMENTS + 8 * argument) +
            _instruction(_ANY_BIT, bit, 0, 1) + _instruction(_RETURN, if_set) + _instruction(_RETURN, otherwise))


def seccomp_filter(pid, execute):
    """Makes the BPF program of a child. It allows everything that it does not refuse: the outer filter still applies.

    Each rule is a block that begins with "is it this call?" and jumps past its end if not, as in seccomp_filter.cc.
    """
    program = (_instruction(_LOAD, _ARCH) + _instruction(_EQUAL, _ARCH_X86_64, 1, 0) + _instruction(_RETURN, _KILL) +
               _instruction(_LOAD, _NUMBER))
    for call in ("setpgid", "chmod", "fchmod", "fchmodat", "seccomp", "tkill", "execveat",
                 "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"):
        program += _refuse(call)
    if execute:
        program += _unless("kill", 0, [pid]) + _unless("tgkill", 0, [pid])
    else:
        # A process that kills itself, directly or by lowering a limit, would look like one killed by the machine.
        program += _both("kill", (_ARGUMENTS, pid, True), (_ARGUMENTS + 8, signal.SIGKILL, False))
        program += _both("tgkill", (_ARGUMENTS, pid, True), (_ARGUMENTS + 16, signal.SIGKILL, False))
        program += _refuse("setrlimit") + _both("prlimit64", (_ARGUMENTS + 16, 0, True), (_ARGUMENTS + 20, 0, True))
    program += _unless("prctl", 0, [_PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA])
    if not execute:
        for call in ("fork", "vfork", "execve"):
            program += _refuse(call)
        # A process that waits for a vfork would look like one that waits for the disk, and never count as asleep.
        program += (_instruction(_EQUAL, _CALLS["clone"], 0, 5) + _instruction(_LOAD, _ARGUMENTS) +
                    _instruction(_ANY_BIT, _CLONE_VFORK, 2, 0) + _instruction(_ANY_BIT, _CLONE_THREAD, 0, 1) +
                    _instruction(_RETURN, _ALLOW) + _instruction(_RETURN, _EPERM))
        program += _by_bit("open", 1, _O_TMPFILE_BIT, _EPERM, _ALLOW)
        program += _by_bit("openat", 2, _O_TMPFILE_BIT, _EPERM, _ALLOW)
    return program + _instruction(_RETURN, _ALLOW)


# The outer layer's filter (seccomp_filter.h), which kills where that one refuses.
_OUTER_STRICT = bytes.fromhex(os.environ.pop("KERNELMILL_STRICT_FILTER", ""))


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def filter_calls(execute, strict):
    """Filters the calls of this process and its descendants. Raises OSError if it fails. `strict`: a call that is refused kills
    the process."""
    program = seccomp_filter(os.getpid(), execute)
    if strict:
        instructions = [program[i:i + 8] for i in range(0, len(program), 8)]
        refuse, end = _instruction(_RETURN, _EPERM), _instruction(_RETURN, _KILL)
        program = b"".join(end if each == refuse else each for each in instructions)
    for filter_ in ([_OUTER_STRICT] if strict else []) + [program]:
        call("seccomp", 1, 0, ctypes.byref(_Program(len(filter_) // 8, filter_)))


# ---------------------------------------------------------------- Landlock

# Rights of linux/landlock.h that change files. The outer layer restricts reading and executing.
_WRITE_FILE, _REMOVE_DIR, _REMOVE_FILE = 1 << 1, 1 << 4, 1 << 5
_MAKE_DIR, _MAKE_REG, _MAKE_SYM, _REFER, _TRUNCATE = 1 << 7, 1 << 8, 1 << 12, 1 << 13, 1 << 14
_MAKE_OTHERS = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11  # devices, sockets, pipes


def restrict_files(folder, remove, devices=()):
    """Allows writing to `folder` and to files below `devices` only, and removing files in `folder` if `remove`. Raises OSError if it
    fails."""
    abi = call("landlock_create_ruleset", None, 0, 1)
    handled = (_WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _MAKE_OTHERS | _REFER |
               (_TRUNCATE if abi >= 3 else 0))
    scoped = 3 if abi >= 6 else 0  # abstract sockets, signals
    attributes = struct.pack("=QQQ", handled, 0, scoped)
    ruleset = call("landlock_create_ruleset", attributes, len(attributes), 0)
    allowed = handled & ~_MAKE_OTHERS & ~(0 if remove else _REMOVE_DIR | _REMOVE_FILE | _REFER)
    write = handled & (_WRITE_FILE | _TRUNCATE)
    for path, access in ((folder, allowed), *((path, write) for path in ("/dev/null", *devices))):
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        call("landlock_add_rule", ruleset, 1, struct.pack("=Qi", access, fd), 0)
        os.close(fd)
    call("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)


# ---------------------------------------------------------------- refusals of Landlock, in a strict child

# Functions of C that a module can reach files with, unseen by the hook.
_C_FILES = frozenset(("open", "open64", "openat", "openat64", "creat", "fopen", "fopen64", "opendir", "mkdir", "unlink", "syscall"))


def kill_at_refused_files(folder):
    """Makes Python end this process where it is about to use a file that restrict_files(folder, remove=False) refuses. Landlock
    can only refuse, and the code that meets the refusal could hide it. Needs filter_calls(strict=True). All that the hook uses is
    its own, so that no module can change it."""
    open_, close, realpath, lexists = os.open, os.close, os.path.realpath, os.path.lexists
    get_ident, fspath, decode, parent, kill = threading.get_ident, os.fspath, os.fsdecode, os.path.dirname, os.setsid
    changes, create, inside_of = os.O_WRONLY | os.O_RDWR, os.O_CREAT, realpath(folder) + "/"
    probe = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    busy = set()  # threads in the hook: its own calls are events, too

    def may_make(path):
        return (realpath(parent(path) or ".") + "/").startswith(inside_of)

    def may_open(path, _mode=None, flags=0):
        try:
            close(open_(path, probe | flags & changes))
        except PermissionError:
            return False
        except FileNotFoundError:
            return not flags & create or may_make(path)
        except OSError:
            return True
        return True

    def is_not_there(path, *_):
        return not lexists(path)

    tests = {"open": may_open, "os.listdir": may_open, "os.scandir": may_open,
             "os.mkdir": lambda path, *_: lexists(path) or may_make(path),
             "os.symlink": lambda _, path, *__: may_make(path), "os.link": lambda source, path, *_: may_make(source) and may_make(path),
             "os.truncate": lambda path, *_: may_open(path, None, os.O_WRONLY),
             "os.remove": is_not_there, "os.rmdir": is_not_there, "os.rename": is_not_there}

    def hook(event, arguments):
        if event == "ctypes.dlsym":
            if arguments[1] in _C_FILES:
                kill()
            return
        test, thread = tests.get(event), get_ident()
        if test is None or thread in busy:
            return
        busy.add(thread)
        try:
            paths = ["." if path is None else path for path in arguments[:2]]
            place = 1 if event in ("os.symlink", "os.link") else 0
            if isinstance(paths[place], int):
                return
            paths[place] = decode(fspath(paths[place]))
            if not test(*paths, *arguments[2:]):
                kill()
        except (TypeError, ValueError):  # no path; Python says so
            pass
        finally:
            busy.discard(thread)

    sys.addaudithook(hook)
