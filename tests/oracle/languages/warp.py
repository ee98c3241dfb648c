"""Warp: kernels, and the functions that they call, adjoints and native snippets among them."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage("warp", {"warp": {"kernel", "func", "func_native", "func_grad", "func_replay"}, "warp.fem": {"integrand"},
                                   "warp.fem.cache": {"dynamic_kernel", "dynamic_func"}, "warp._src.fem.operator": {"integrand"},
                                   "warp._src.fem.cache": {"dynamic_kernel", "dynamic_func"}},
                          about=("warp.func_grad", "warp.func_replay"), words=(b"import warp", b"from warp", b"@wp."), written=("wp.kernel", "wp.func"))
TUNED = ("NVIDIA/warp", "NVIDIA/physicsnemo")
HELD_OUT = ("newton-physics/newton", "google-deepmind/mujoco_warp", "NVlabs/curobo")
