import torch
import triton
import triton.language as tl
from torch import tensor, device

import torch._inductor.config
torch._inductor.config.triton.cudagraphs = False


@triton.jit
def written_by_the_user(in_ptr, out_ptr, n, BLOCK: "tl.constexpr"):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(in_ptr + offsets, mask=offsets < n), mask=offsets < n)


class Repro(torch.nn.Module):
    def forward(self, arg0_1):
        return (torch.ops.aten.sum.dim_IntList(arg0_1, [1]),)
