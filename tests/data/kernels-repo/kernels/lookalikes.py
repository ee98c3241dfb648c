"""What looks like a kernel and is none.

    @triton.jit
    def in_a_docstring(x_ptr, BLOCK_SIZE: tl.constexpr):
        pid = tl.program_id(0)
"""

import functools

import numba
import torch
import triton
from numba import jit

EXAMPLE = '''
@triton.jit
def in_a_string(x_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(x_ptr + offsets, 0, mask=offsets < n)
'''


@numba.jit(nopython=True)
def numba_sum(values):
    total = 0.0
    for value in values:
        total += value
    return total


@jit
def numba_product(values):
    total = 1.0
    for value in values:
        total *= value
    return total


@torch.jit.script
def scripted(x: torch.Tensor) -> torch.Tensor:
    return x * 2


# @triton.jit
def commented_out(x_ptr):
    return x_ptr


@functools.lru_cache
def blocks(n_elements: int, block: int) -> int:
    """triton.jit stands here as a word; triton.cdiv is called on the host."""
    return triton.cdiv(n_elements, block)
