class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[64, 2048]", arg1_1: "f32[64]"):
        # triton.jit is named in this comment alone
        sum_1: "f32[64]" = torch.ops.aten.sum.dim_IntList(arg0_1, [1]);  arg0_1 = None
        return (sum_1,)
