"""Decorators that stack: autotune above jit, and the called form of jit."""

import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BLOCK_SIZE": size}, num_warps=warps) for size, warps in ((1024, 4), (4096, 8))],
    key=["n_cols"],
)
@triton.jit
def layer_norm_forward_kernel(
    x_ptr,  # (rows, n_cols)
    y_ptr,  # (rows, n_cols)
    weight_ptr,  # (n_cols,)
    bias_ptr,  # (n_cols,)
    mean_ptr,  # (rows,)
    rstd_ptr,  # (rows,)
    stride,
    n_cols,
    eps,
    BLOCK_SIZE: tl.constexpr,
):
    """Layer norm of one row a program, in two passes over blocks of columns."""
    row = tl.program_id(0)
    x_ptr += row * stride
    y_ptr += row * stride
    total = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK_SIZE):
        columns = start + tl.arange(0, BLOCK_SIZE)
        total += tl.load(x_ptr + columns, mask=columns < n_cols, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n_cols
    squares = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK_SIZE):
        columns = start + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + columns, mask=columns < n_cols, other=0.0).to(tl.float32)
        centred = tl.where(columns < n_cols, x - mean, 0.0)
        squares += centred * centred
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / n_cols + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, n_cols, BLOCK_SIZE):
        columns = start + tl.arange(0, BLOCK_SIZE)
        mask = columns < n_cols
        x = tl.load(x_ptr + columns, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + columns, mask=mask)
        bias = tl.load(bias_ptr + columns, mask=mask)
        tl.store(y_ptr + columns, (x - mean) * rstd * weight + bias, mask=mask)


@triton.jit(do_not_specialize=["n_rows"])
def column_sum_kernel(partial_ptr, out_ptr, n_rows, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, n_rows, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < n_rows) & (columns[None, :] < n_cols)
        total += tl.load(partial_ptr + rows[:, None] * n_cols + columns[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + columns, tl.sum(total, axis=0), mask=columns < n_cols)
