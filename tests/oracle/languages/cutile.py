"""cuTile: kernels, and the functions that they call."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage("cutile", {"cuda.tile": {"kernel", "function"}, "cuda.tile_experimental": {"kernel", "function"}},
                          words=(b"cuda.tile", b"import tile", b"@ct."), written=("ct.kernel", "ct.function"))
TUNED = ("NVIDIA/cutile-python", "linkedin/Liger-Kernel")
HELD_OUT = ("NVIDIA/TileGym", "flashinfer-ai/flashinfer")
