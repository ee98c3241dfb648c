"""Has Triton's interpreter treat floating-point arguments as a GPU does: as numbers of 32 bits, with the methods of tensors. Triton
passes them as Python's numbers."""

from __future__ import annotations

from typing import Any


def correct() -> None:
    import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from triton.runtime import interpreter  # type: ignore[import-not-found, import-untyped, unused-ignore]

    convert = interpreter._implicit_cvt

    def converted(argument: Any) -> Any:
        if isinstance(argument, float):
            return tl.tensor(interpreter.TensorHandle(numpy.array([argument], numpy.float32), tl.float32), tl.float32)
        return convert(argument)

    interpreter._implicit_cvt = converted
