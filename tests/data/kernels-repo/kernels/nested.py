"""Kernels inside a class and inside a function."""

import torch
import triton
import triton.language as tl


class Dropout(torch.autograd.Function):
    """Dropout that keeps a seed in place of a mask."""

    @staticmethod
    @triton.jit
    def kernel(x_ptr, out_ptr, n_elements, p, seed, BLOCK_SIZE: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_elements
        x = tl.load(x_ptr + offsets, mask=mask)
        keep = tl.rand(seed, offsets) > p
        tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)

    @staticmethod
    def forward(ctx, x, p, seed):
        out = torch.empty_like(x)
        Dropout.kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), p, seed, BLOCK_SIZE=1024)
        ctx.p, ctx.seed = p, seed
        return out


def make_scale_kernel(factor):
    @triton.jit
    def scale_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
        # `factor` is a constant of the enclosing function.
        offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_elements
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor, mask=mask)

    return scale_kernel
