"""Numba's CUDA target: kernels and device functions."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage("numba", {"numba.cuda": {"jit", "decorators.jit"}, "numba_cuda_mlir.cuda": {"jit"}}, words=(b"numba", b"cuda.jit"), written=("cuda.jit", "numba.cuda.jit"))
TUNED = ("NVIDIA/numba-cuda",)
HELD_OUT = ("NVIDIA/nvmath-python", "NVIDIA/cccl")
