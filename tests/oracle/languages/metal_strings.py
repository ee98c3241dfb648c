"""Metal in strings of Python: kernels within literals that reach torch.mps.compile_shader, and the bodies that MLX's metal_kernel takes."""
from languages import c_functions
from languages.cuda_strings import CudaStrings


class MetalStrings(CudaStrings):
    name, crawled = "metal_strings", "metal"
    compilers, words, bodies = {"compile_shader": 0}, (b"kernel void", b"[[kernel"), {("mlx", "metal_kernel"): (3, "source")}
    functions = staticmethod(c_functions.metal_functions)


LANGUAGE = MetalStrings()
TUNED = ("ml-explore/mlx", "ml-explore/mlx-lm", "ml-explore/mlx-examples")
HELD_OUT = ("Blaizzy/mlx-vlm", "Blaizzy/mlx-audio")
