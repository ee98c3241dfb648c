"""Warp: kernels, and the functions that they call. Adjoints and native snippets are not decided."""
from languages.python_kernels import PythonLanguage

LANGUAGE = PythonLanguage("warp", {"warp": {"kernel", "func"}}, perhaps=("warp.func_native", "warp.func_grad", "warp.func_replay"),
                          words=(b"import warp", b"from warp", b"@wp."), written=("wp.kernel", "wp.func"))
TUNED = ("NVIDIA/warp", "NVIDIA/physicsnemo")
HELD_OUT = ("newton-physics/newton", "google-deepmind/mujoco_warp", "NVlabs/curobo")
