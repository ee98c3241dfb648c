# What begins each attack. The tests put VICTIM before it: what there is to harm (attacks.h).
#
# The name of an attack says what must come of it:
#   refused_    every way is refused: PermissionError, or the process is killed
#   silenced_   it can say nothing any more, which is an error of its own
#   ended_      a bound ends the process
#   overrun_    a bound ends the whole confined process
#   contained_  the process may do all of it, and the next kernel does not notice


def all_refused(*ways):
    """Raises what the sandbox raises, if it refuses each way; an error of another type names one that succeeded."""
    for way in ways:
        try:
            way()
        except PermissionError:
            continue
        raise AssertionError(f"escaped by way {ways.index(way)}")
    raise PermissionError("every way was refused")


def call(number, *arguments):
    """A system call, as its number says."""
    import ctypes
    import os
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    values = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    if libc.syscall(ctypes.c_long(number), *values) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
