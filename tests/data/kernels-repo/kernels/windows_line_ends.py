"""Written on Windows: every line ends in CR LF, and a kernel's bytes keep them."""

import triton
import triton.language as tl


@triton.jit
def transpose_kernel(
    in_ptr, out_ptr, n_rows, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    """Transposes a contiguous (n_rows, n_cols) matrix, a tile a program."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < n_rows) & (columns[None, :] < n_cols)
    tile = tl.load(in_ptr + rows[:, None] * n_cols + columns[None, :], mask=inside)
    tl.store(out_ptr + columns[:, None] * n_rows + rows[None, :], tl.trans(tile), mask=tl.trans(inside))
