
# Written by hand in the form of TorchInductor's runnable graphs of torch 2.11, for the tests of `kernelmill capture`.
import torch
from torch import device

import torch._dynamo.config
import torch._inductor.config

torch._inductor.config.max_autotune = False
torch._inductor.config.coordinate_descent_tuning = False
torch._inductor.config.deterministic = False

# torch version: 2.11.0+cu130
# torch cuda version: 13.0
# torch git version: 0123456789abcdef0123456789abcdef01234567


# GPU Hardware Info: 
# NVIDIA H200 : 1 

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, arg0_1, arg1_1):
        pow_1 = torch.ops.aten.pow.Tensor_Scalar(arg0_1, 2)
        mean = torch.ops.aten.mean.dim(pow_1, [-1], True);  pow_1 = None
        add = torch.ops.aten.add.Tensor(mean, 1e-06);  mean = None
        rsqrt = torch.ops.aten.rsqrt.default(add);  add = None
        mul = torch.ops.aten.mul.Tensor(arg0_1, rsqrt);  arg0_1 = rsqrt = None
        mul_1 = torch.ops.aten.mul.Tensor(mul, arg1_1);  mul = arg1_1 = None
        return (mul_1,)

def load_args(reader):
    buf0 = reader.storage(None, 262144, device=device(type='cuda', index=0))
    reader.tensor(buf0, (64, 1024), is_leaf=True)  # arg0_1
    buf1 = reader.storage(None, 4096, device=device(type='cuda', index=0))
    reader.tensor(buf1, (1024,), is_leaf=True)  # arg1_1
load_args._version = 0
mod = Repro()
