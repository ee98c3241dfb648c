"""Quadrants, which Taichi became: kernels, and the functions that they call; also methods of data-oriented classes. Its other decorators
are not decided."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage("quadrants", {"quadrants": {"kernel", "func", "real_func"}, "quadrants.lang.kernel_impl": {"kernel", "func", "real_func"}},
                          perhaps=("quadrants.pyfunc", "quadrants.lang.kernel_impl.pyfunc", "quadrants.perf_dispatch"),
                          words=(b"quadrants", b"@qd."), written=("qd.kernel", "qd.func"))
TUNED = ("Genesis-Embodied-AI/Genesis",)
HELD_OUT = ("Genesis-Embodied-AI/quadrants",)
