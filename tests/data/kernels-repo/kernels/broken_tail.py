"""A syntax error below a good kernel: the kernel is still there to be found."""

import triton
import triton.language as tl


@triton.jit
def swap_kernel(x_ptr, y_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """Swaps two vectors."""
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(x_ptr + offsets, y, mask=mask)
    tl.store(y_ptr + offsets, x, mask=mask)


def launch(x, y):
    swap_kernel[(1,)](x, y, x.numel(), BLOCK_SIZE=1024
