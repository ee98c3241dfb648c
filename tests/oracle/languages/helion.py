"""Helion: functions that are compiled to Triton, with the host's code around their loops."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage("helion", {"helion": {"kernel", "jit", "aot_kernel"}, "helion.experimental": {"aot_kernel"}},
                          words=(b"helion",), written=("helion.kernel", "helion.jit"))
TUNED = ("pytorch/helion", "gpu-mode/reference-kernels")
HELD_OUT = ("meta-pytorch/tritonbench", "meta-pytorch/BackendBench")
