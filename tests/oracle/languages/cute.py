"""CuTe DSL: device functions and the host functions that launch them, @cute.kernel and @cute.jit."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage("cute", {"cutlass.cute": {"kernel", "jit"}, "cutlass.cute.experimental": {"kernel", "jit"}},
                          words=(b"cutlass", b"@cute"), written=("cute.kernel", "cute.jit"))
TUNED = ("NVIDIA/cutlass", "Dao-AILab/quack", "Dao-AILab/flash-attention")
HELD_OUT = ("flashinfer-ai/flashinfer", "huggingface/kernels-community")
