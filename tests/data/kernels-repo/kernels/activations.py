"""Device functions that other files import: no program id, no load, no store."""

import triton
import triton.language as tl

SQRT_2_OVER_PI = tl.constexpr(0.7978845608028654)


@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def gelu(x):
    """GELU, by the tanh approximation of Hendrycks and Gimpel."""
    return 0.5 * x * (1 + tanh(SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)))


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)
