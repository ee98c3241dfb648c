import numba


@numba.jit
def add(a, b):
    return a + b
