"""Taichi: kernels, and the functions that they call; also methods of data-oriented classes. Its other decorators are
not decided."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage("taichi", {"taichi": {"kernel", "func"}, "taichi.lang.kernel_impl": {"kernel", "func"}},
                          perhaps=("taichi.real_func", "taichi.pyfunc", "taichi.experimental.real_func", "taichi.lang.kernel_impl.pyfunc"),
                          words=(b"taichi", b"@ti."), written=("ti.kernel", "ti.func"))
TUNED = ("taichi-dev/taichi",)
HELD_OUT = ("Genesis-Embodied-AI/Genesis",)
