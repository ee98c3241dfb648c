# SPDX-License-Identifier: MIT
import triton
import triton.language as tl


@triton.jit
def smooth(in_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(in_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, tl.smoothed_exp(x), mask=at < n)


def smoothed(x, out):
    smooth[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
