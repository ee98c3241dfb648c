"""Gluon: Triton's lower dialect, with layouts that the author chooses."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def copy_kernel(in_ptr, out_ptr, n_elements, BLOCK_SIZE: gl.constexpr, layout: gl.constexpr):
    """Copies n_elements values; every thread has what `layout` says."""
    start = gl.program_id(0) * BLOCK_SIZE
    offsets = start + gl.arange(0, BLOCK_SIZE, layout=layout)
    mask = offsets < n_elements
    gl.store(out_ptr + offsets, gl.load(in_ptr + offsets, mask=mask), mask=mask)
