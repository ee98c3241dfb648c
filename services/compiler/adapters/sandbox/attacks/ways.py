# The common beginning of all attacks. The tests put VICTIM before it: the things to harm (attacks.h).
#
# An attack's name begins with its required outcome:
#   refused_    every way is refused: PermissionError, or the process is killed
#   silenced_   it cannot answer any more, which is reported as its own error
#   ended_      a bound ends the process
#   overrun_    a bound ends the whole confined process
#   contained_  the process may do all of it, and the next kernel does not notice


def all_refused(*ways):
    """Raises the sandbox's error if each way is refused, and another error, naming the way, if one succeeds."""
    for way in ways:
        try:
            way()
        except PermissionError:
            continue
        raise AssertionError(f"escaped by way {ways.index(way)}")
    raise PermissionError("every way was refused")


def call(number, *arguments):
    """Makes a system call by its number."""
    import ctypes
    import os
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    values = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    if libc.syscall(ctypes.c_long(number), *values) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
