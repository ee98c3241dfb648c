import triton
import triton.language as tl


def kernel(**options):
    return triton.jit(**options)


@kernel(do_not_specialize=["n"])
def fill(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 0, mask=offsets < n)
