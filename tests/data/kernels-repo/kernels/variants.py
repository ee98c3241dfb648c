"""The same name twice, under if and else: keys are lines, never names."""

import torch
import triton
import triton.language as tl

IS_HIP = torch.version.hip is not None

if IS_HIP:

    @triton.jit
    def row_max_kernel(x_ptr, out_ptr, n_cols, stride, BLOCK_SIZE: tl.constexpr):
        """Maximum of each row, in blocks: wavefronts of 64 are too wide for one pass."""
        row = tl.program_id(0)
        best = tl.full([BLOCK_SIZE], float("-inf"), dtype=tl.float32)
        for start in range(0, n_cols, BLOCK_SIZE):
            columns = start + tl.arange(0, BLOCK_SIZE)
            x = tl.load(x_ptr + row * stride + columns, mask=columns < n_cols, other=float("-inf"))
            best = tl.maximum(best, x)
        tl.store(out_ptr + row, tl.max(best, axis=0))

else:

    @triton.jit
    def row_max_kernel(x_ptr, out_ptr, n_cols, stride, BLOCK_SIZE: tl.constexpr):
        """Maximum of each row, in one pass."""
        row = tl.program_id(0)
        columns = tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n_cols, other=float("-inf"))
        tl.store(out_ptr + row, tl.max(x, axis=0))


try:
    from triton.language.extra import libdevice
except ImportError:
    libdevice = None
else:

    @triton.jit
    def erf_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_elements
        x = tl.load(x_ptr + offsets, mask=mask)
        tl.store(out_ptr + offsets, libdevice.erf(x), mask=mask)
