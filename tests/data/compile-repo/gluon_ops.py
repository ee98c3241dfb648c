# SPDX-License-Identifier: MIT
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def shift(in_ptr, out_ptr, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    gl.store(out_ptr + at, gl.load(in_ptr + at, mask=at < n) + 1.0, mask=at < n)


def shifted(x, out):
    shift[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512, num_warps=4)
