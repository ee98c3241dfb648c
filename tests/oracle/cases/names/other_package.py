from somewhere.gpu import tl, triton


@triton.jit
def double(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets))


@tl.jit_of_another_kind
def nothing(x):
    return x
