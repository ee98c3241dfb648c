"""A kernel that reads module constants, and its backward."""

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
MINUS_INFINITY = tl.constexpr(float("-inf"))


@triton.jit
def softmax_forward_kernel(out_ptr, in_ptr, in_stride, out_stride, n_rows, n_cols, BLOCK_SIZE: tl.constexpr):
    """Softmax over the rows of a (n_rows, n_cols) matrix; BLOCK_SIZE >= n_cols, a power of two."""
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_cols
    for row in tl.range(row_start, n_rows, row_step):
        logits = tl.load(in_ptr + row * in_stride + columns, mask=mask, other=MINUS_INFINITY).to(tl.float32)
        shifted = logits - tl.max(logits, axis=0)
        weights = tl.exp2(shifted * LOG2_E)
        result = weights / tl.sum(weights, axis=0)
        tl.store(out_ptr + row * out_stride + columns, result, mask=mask)


@triton.jit
def softmax_backward_kernel(
    grad_in_ptr,
    grad_out_ptr,
    out_ptr,
    stride,
    n_cols,
    BLOCK_SIZE: tl.constexpr,
):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_cols
    y = tl.load(out_ptr + row * stride + columns, mask=mask, other=0.0)
    dy = tl.load(grad_out_ptr + row * stride + columns, mask=mask, other=0.0)
    inner = tl.sum(y * dy, axis=0)
    tl.store(grad_in_ptr + row * stride + columns, y * (dy - inner), mask=mask)
