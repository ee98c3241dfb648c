"""Quadrants, which Taichi became: kernels, and the functions that they call; also methods of data-oriented classes."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage("quadrants", {"quadrants": {"kernel", "func", "real_func"}, "quadrants.lang.kernel_impl": {"kernel", "func", "real_func"}},
                          words=(b"quadrants", b"@qd."), written=("qd.kernel", "qd.func"))
TUNED = ("Genesis-Embodied-AI/Genesis",)
HELD_OUT = ("Genesis-Embodied-AI/quadrants",)
