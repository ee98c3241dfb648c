"""Has Triton's interpreter compute with the values of bfloat16 and of floats of 8 bits.

It keeps them as integers of their bits. By itself it multiplies and compares those integers, and cuts digits off where a GPU rounds to
the nearest. Here each operation is done in float32, and its result rounded, as a GPU does."""

from __future__ import annotations

from typing import Any

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.execution import elements
from kernelmill.execution.elements import Array

UNARY = ("unary_op", "create_erf", "create_rsqrt")
BITWISE = (numpy.bitwise_and, numpy.bitwise_or, numpy.bitwise_xor)


def install(interpreter: Any, language: Any) -> None:
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    names = {language.bfloat16: "bfloat16", language.float8e4nv: "float8_e4m3fn", language.float8e5: "float8_e5m2"}

    def is_narrow(dtype: Any) -> bool:
        return dtype.scalar in names

    def widen(value: Any) -> Any:
        """Returns the values in float32; what has another type stays."""
        if not is_narrow(value.dtype):
            return value
        raw = numpy.ascontiguousarray(value.data)
        values = elements.decode(raw.reshape(-1).view(numpy.uint8), names[value.dtype.scalar])
        return handle(values.astype(numpy.float32).reshape(raw.shape), language.float32)

    def narrow(data: Array, dtype: Any) -> Any:
        """Rounds values to a type. Truths stay: a comparison's result has the type of what it compares, here as in Triton."""
        if data.dtype != numpy.bool_:
            name = names[dtype.scalar]
            data = elements.encode(data.astype(numpy.float32).reshape(-1), name).view(elements.BITS[name]).reshape(data.shape)
        return handle(data, dtype.scalar)

    def computed(method: Any) -> Any:
        """Has a method compute with values where its first operand is narrow; further arguments may be functions."""
        def compute(self: Any, first: Any, *rest: Any) -> Any:
            if not is_narrow(first.dtype) or any(each is bitwise for each in rest for bitwise in BITWISE):
                return method(self, first, *rest)
            values = [widen(each) if isinstance(each, handle) else each for each in rest]
            return narrow(method(self, widen(first), *values).data, first.dtype)

        return compute

    for name in ("binary_op", "create_fma", *UNARY):
        setattr(builder, name, computed(getattr(builder, name)))
    ternary, cast, dot = builder.ternary_op, builder.cast_impl, builder.create_dot
    builder.ternary_op = lambda self, first, second, third, op: (
        computed(ternary) if op is numpy.clip else ternary)(self, first, second, third, op)
    builder.create_dot = lambda self, left, right, *rest: dot(self, widen(left), widen(right), *rest)

    def cast_values(self: Any, source: Any, wanted: Any) -> Any:
        value = widen(source)
        return narrow(value.data, wanted) if is_narrow(wanted) else cast(self, value, wanted)

    convert = builder.create_fp_to_fp

    def convert_values(self: Any, source: Any, wanted: Any, rounding: Any) -> Any:
        toward_zero = "RTZ" in str(rounding)
        if toward_zero or not (is_narrow(source.dtype) or is_narrow(wanted)):
            return convert(self, source, wanted, rounding)
        return cast_values(self, source, wanted)

    builder.cast_impl, builder.create_fp_to_fp = cast_values, convert_values
