"""Defines the kernels that several tests use, without the imports that they need."""

import re

SCALE_ROWS = '''\
@triton.jit
def scale_rows(out_ptr, in_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_cols
    x = tl.load(in_ptr + row * stride + columns, mask=mask, other=0.0)
    total = tl.sum(x * x, axis=0)
    scale = tl.rsqrt(total / n_cols + 1e-6)
    tl.store(out_ptr + row * stride + columns, x * scale, mask=mask)
'''
RENAMES = {"scale_rows": "normalize", "out_ptr": "y", "in_ptr": "x0", "stride": "step", "n_cols": "width", "row": "r",
           "columns": "cols", "mask": "valid", "total": "acc", "scale": "factor", "BLOCK": "B", "1e-6": "1e-5"}
GELU_TANH = '''\
@triton.jit
def gelu_tanh(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    tl.store(y_ptr + at, 0.5 * x * (1 + tl.extra.cuda.libdevice.tanh(inner)), mask=at < n)
'''


def renamed(text):
    """SCALE_ROWS, or what was made of it, with other names and another number."""
    words = "|".join(map(re.escape, RENAMES))
    return re.sub(rf"\b({words})\b(?!=)", lambda m: RENAMES[m[0]], text)
