"""cuda.lang: kernels and device functions of single threads."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage("cuda_lang", {"cuda.lang": {"kernel", "function"}}, words=(b"cuda.lang", b"cuda import lang"), written=("cl.kernel",))
TUNED = ("NVIDIA/cutile-python",)
HELD_OUT = ()
