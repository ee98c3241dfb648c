"""Triton-distributed, a dialect of Triton: its own jit, and functions of triton.jit that need its language."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage(
    "triton_dist", {"triton_dist": {"jit", "jit.jit"}, "triton": {"jit"}}, dialect_of="triton", words=(b"triton",), written=("triton_dist.jit",),
    uses=("triton_dist.language",), of_itself=("triton_dist.jit", "triton_dist.jit.jit"))
TUNED = ("ByteDance-Seed/Triton-distributed",)
HELD_OUT = ()
