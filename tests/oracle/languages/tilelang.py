"""TileLang: a function that tilelang.jit compiles, with the T.prim_func within it; else the T.prim_func or T.macro alone."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage(
    "tilelang", {"tilelang": {"jit", "lazy_jit", "jit.jit", "jit.lazy_jit"}}, below={"tilelang": {"prim_func", "macro"}},
    words=(b"tilelang", b"prim_func", b"T.macro"), outermost=True, written=("T.prim_func", "T.macro"))
TUNED = ("tile-ai/tilelang", "deepseek-ai/DeepSeek-V3.2-Exp", "fla-org/flash-linear-attention")
HELD_OUT = ("tile-ai/tilescale", "deepseek-ai/TileKernels")
