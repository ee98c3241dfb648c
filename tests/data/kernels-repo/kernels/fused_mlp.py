"""A kernel whose helpers come from another file."""

import triton
import triton.language as tl

from .activations import gelu, silu


@triton.jit
def gated_activation_kernel(
    gate_ptr, up_ptr, out_ptr, n_cols, stride, BLOCK_SIZE: tl.constexpr, USE_GELU: tl.constexpr
):
    """out = act(gate) * up, a row a program; all are (rows, n_cols) with the same row stride."""
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = columns < n_cols
    gate = tl.load(gate_ptr + row * stride + columns, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + row * stride + columns, mask=mask, other=0.0)
    if USE_GELU:
        activated = gelu(gate)
    else:
        activated = silu(gate)
    tl.store(out_ptr + row * stride + columns, activated.to(up.dtype) * up, mask=mask)
