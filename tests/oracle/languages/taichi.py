"""Taichi: kernels, and the functions that they call; also methods of data-oriented classes."""
from languages.python_kernels import PythonLanguage

MAKERS = {"kernel", "func", "pyfunc", "real_func"}
LANGUAGE = PythonLanguage("taichi", {"taichi": MAKERS, "taichi.lang.kernel_impl": MAKERS, "taichi.experimental": {"real_func"}},
                          words=(b"taichi", b"@ti."), written=("ti.kernel", "ti.func"))
TUNED = ("taichi-dev/taichi",)
HELD_OUT = ("Genesis-Embodied-AI/Genesis",)
