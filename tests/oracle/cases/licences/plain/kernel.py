import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 3 * tl.load(x_ptr + offsets))
