# SPDX-FileCopyrightText: 2026 The kernelmill authors
# SPDX-License-Identifier: GPL-3.0-only
"""A file whose own licence is not the repository's: its kernel must not be kept."""

import triton
import triton.language as tl


@triton.jit
def row_mean_kernel(x_ptr, out_ptr, n_cols, stride, BLOCK_SIZE: tl.constexpr):
    """Mean of each row of a (rows, n_cols) matrix."""
    row = tl.program_id(0)
    total = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK_SIZE):
        columns = start + tl.arange(0, BLOCK_SIZE)
        total += tl.load(x_ptr + row * stride + columns, mask=columns < n_cols, other=0.0)
    tl.store(out_ptr + row, tl.sum(total, axis=0) / n_cols)
