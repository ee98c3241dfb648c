"""Confines the processes that run modules, before they load anything: no sockets, no namespaces, no other process, and files of
Python, its packages and the toolchain only. The compiler's sandbox (kernelmill_harness.sandbox) confines each child further. Nothing
can be taken back. Linux on x86-64."""

from __future__ import annotations

import os
import struct
import sys
import sysconfig

from kernelmill.errors import ProgramError
from kernelmill.execution import harness

# Numbers of calls on x86-64 that no kernel needs: sockets; other processes' memory; kernels, mounts, namespaces, keys; io_uring.
_SOCKETS = (*range(42, 56), 288)
# A GPU's driver listens on a Unix socket of its own; nothing can be called or sent to.
_CALLING_SOCKETS = (42, 44)
_SOCKET, _AF_UNIX = 41, 1
_REFUSED = (299, 307, 101, 310, 311, 438, 246, 320, 175, 313, 176, 321, 298, 323, 425, 426, 427, 165, 166, 155, 429,
            428, 430, 432, 431, 433, 442, 161, 272, 308, 250, 248, 249, 154, 172, 173, 169, 167, 168, 304, 424)
_CLONE, _CLONE3, _NAMESPACES = 56, 435, 0x7E020000
_ALLOW, _KILL, _EPERM, _ENOSYS = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
_EXECUTE, _READ_FILE, _READ_DIR, _REFER = 1, 1 << 2, 1 << 3, 1 << 13
LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/urandom", "/dev/zero", "/dev/null")
# A GPU's driver, and the C compiler with which Triton builds its launcher.
GPU_MACHINE = ("/usr", "/bin", "/etc", "/opt", "/dev", "/proc", "/sys", "/run/nvidia-persistenced")


def readable(gpu: bool) -> list[str]:
    """Returns the folders that a module may read."""
    python = {sys.prefix, sys.base_prefix, sys.exec_prefix, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    python.update(os.path.dirname(os.path.dirname(module.__file__)) for name in ("numpy", "triton", "torch")
                  if (module := sys.modules.get(name)) is not None and module.__file__)
    own = [str(folder) for folder in harness.folders()] + [str(harness.PACKAGE)]
    machine = [*LIBRARIES, *(GPU_MACHINE if gpu else ())]
    paths = {os.path.realpath(path) for path in (*sorted(python), os.path.realpath(sys.executable), *own, *machine) if path}
    return sorted(path for path in paths if os.path.exists(path) and path != "/")


def check_hidden(path: str, gpu: bool) -> None:
    """ProgramError: modules could read this path, so that a module could look up what is expected of it."""
    real = os.path.realpath(path)
    for folder in readable(gpu):
        if (real + "/").startswith(folder + "/"):
            raise ProgramError(f"{path} must not be in {folder}, which the kernels that run may read")


def confine(scratch: str, gpu: bool) -> None:
    """Confines this process and its descendants. ProgramError: this machine cannot."""
    from kernelmill_harness import rights  # type: ignore[import-not-found, import-untyped, unused-ignore]

    try:
        rights.prctl(rights.PR_SET_NO_NEW_PRIVS, 1)
        _restrict_reads(readable(gpu), scratch, rights)
        program = _filter(gpu)
        rights.call("seccomp", 1, 0, rights.ctypes.byref(rights._Program(len(program) // 8, program)))
    except OSError as error:
        raise ProgramError(f"this machine cannot confine kernels: {error}") from error


def _restrict_reads(paths: list[str], scratch: str, rights: object) -> None:
    """Allows reading paths, and the scratch folder, where files may also move between folders: Landlock refuses that unless told."""
    call = getattr(rights, "call")
    attributes = struct.pack("=Q", _EXECUTE | _READ_FILE | _READ_DIR | _REFER)
    ruleset = call("landlock_create_ruleset", attributes, len(attributes), 0)
    for path in (*paths, scratch):
        access = _EXECUTE | _READ_FILE | (_READ_DIR if os.path.isdir(path) else 0) | (_REFER if path == scratch else 0)
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        call("landlock_add_rule", ruleset, 1, struct.pack("=Qi", access, descriptor), 0)
        os.close(descriptor)
    call("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)


def _filter(gpu: bool) -> bytes:
    def instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
        return struct.pack("=HBBI", code, if_true, if_false, value)

    load, equal, any_bit, at_least, give = 0x20, 0x15, 0x45, 0x35, 0x06
    program = (instruction(load, 4) + instruction(equal, 0xC000003E, 1, 0) + instruction(give, _KILL) + instruction(load, 0) +
               instruction(at_least, 0x40000000, 0, 1) + instruction(give, _KILL))
    for number in (*_REFUSED, *(_CALLING_SOCKETS if gpu else (_SOCKET, *_SOCKETS))):
        program += instruction(equal, number, 0, 1) + instruction(give, _EPERM)
    if gpu:
        program += (instruction(equal, _SOCKET, 0, 4) + instruction(load, 16) + instruction(equal, _AF_UNIX, 1, 0) +
                    instruction(give, _EPERM) + instruction(give, _ALLOW))
    program += instruction(equal, _CLONE3, 0, 1) + instruction(give, _ENOSYS)  # its flags are in memory: libraries fall back
    program += (instruction(equal, _CLONE, 0, 3) + instruction(load, 16) + instruction(any_bit, _NAMESPACES, 0, 1) +
                instruction(give, _EPERM))
    return program + instruction(give, _ALLOW)
