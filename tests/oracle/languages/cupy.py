"""CuPy's JIT: functions of Python. Its kernels in strings are CUDA."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage("cupy", {"cupyx.jit": {"rawkernel"}}, words=(b"cupyx", b"rawkernel"), written=("jit.rawkernel",))
TUNED = ("cupy/cupy",)
HELD_OUT = ()
