import types

import triton
import triton.language as tl

lang = types.SimpleNamespace(compile=triton.jit)


@lang.compile
def copy(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets))
