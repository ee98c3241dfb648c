"""FlyDSL: device functions and the host functions that launch them."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage("flydsl", {"flydsl.compiler": {"kernel", "jit"}}, words=(b"flydsl", b"flyc"), written=("flyc.kernel", "flyc.jit"))
TUNED = ("ROCm/FlyDSL",)
HELD_OUT = ("ROCm/aiter", "alibaba/rtp-llm")
