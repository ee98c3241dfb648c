"""TLX, a dialect of Triton: functions of triton.jit that need triton.language.extra.tlx, or whose helpers do."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage("tlx", {"triton": {"jit", "runtime.jit.jit"}, "triton.experimental.gluon": {"jit"}}, words=(b"triton",),
                          dialect_of="triton", uses=("triton.language.extra.tlx",))
TUNED = ("facebookexperimental/triton",)
HELD_OUT = ("meta-pytorch/tritonbench",)
