"""Triton under other names: what a decorator is, the imports say."""

import triton as tr
import triton.language as lang
from triton import autotune, jit
from triton import jit as compile_for_gpu
from triton.runtime.jit import jit as runtime_jit


@jit
def fill_kernel(out_ptr, value, n_elements, BLOCK_SIZE: lang.constexpr):
    offsets = lang.program_id(0) * BLOCK_SIZE + lang.arange(0, BLOCK_SIZE)
    lang.store(out_ptr + offsets, value, mask=offsets < n_elements)


@tr.jit
def iota_kernel(out_ptr, first, step, n_elements, BLOCK_SIZE: lang.constexpr):
    offsets = lang.program_id(0) * BLOCK_SIZE + lang.arange(0, BLOCK_SIZE)
    lang.store(out_ptr + offsets, first + step * offsets, mask=offsets < n_elements)


@autotune([tr.Config({"BLOCK_SIZE": 512}), tr.Config({"BLOCK_SIZE": 2048})], key=["n_elements"])
@compile_for_gpu
def absolute_difference_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: lang.constexpr):
    offsets = lang.program_id(0) * BLOCK_SIZE + lang.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    difference = lang.load(x_ptr + offsets, mask=mask) - lang.load(y_ptr + offsets, mask=mask)
    lang.store(out_ptr + offsets, lang.abs(difference), mask=mask)


@runtime_jit
def clamp_kernel(x_ptr, low, high, n_elements, BLOCK_SIZE: lang.constexpr):
    """Clamps x to [low, high], in place."""
    offsets = lang.program_id(0) * BLOCK_SIZE + lang.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = lang.load(x_ptr + offsets, mask=mask)
    lang.store(x_ptr + offsets, lang.minimum(lang.maximum(x, low), high), mask=mask)
