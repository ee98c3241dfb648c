"""The element types of tensors, by raw bits: numpy has neither bfloat16 nor the types of 8 bits."""

from __future__ import annotations

import functools
from typing import Any, TypeAlias

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

Array: TypeAlias = "numpy.ndarray[Any, Any]"

# torch's name of a type: the numpy type of its bits.
BITS = {"float64": "f8", "float32": "f4", "float16": "f2", "bfloat16": "u2", "float8_e4m3fn": "u1", "float8_e5m2": "u1",
        "int64": "i8", "int32": "i4", "int16": "i2", "int8": "i1", "uint64": "u8", "uint32": "u4", "uint16": "u2", "uint8": "u1",
        "bool": "u1"}
SMALL_FLOATS = {"float8_e4m3fn": (4, 7), "float8_e5m2": (5, 15)}  # bits of the exponent, and its bias
# The difference that floating-point kernels may have, as a share of a value's size.
TOLERANCE = {"float64": 1e-7, "float32": 2e-4, "float16": 4e-3, "bfloat16": 3e-2, "float8_e4m3fn": 0.15, "float8_e5m2": 0.3}


def size(dtype: str) -> int:
    return int(BITS[dtype][1])


def is_float(dtype: str) -> bool:
    return dtype in TOLERANCE


@functools.cache
def _table(dtype: str) -> Array:
    """Returns the values of all 256 patterns of a type of 8 bits."""
    exponent_bits, bias = SMALL_FLOATS[dtype]
    mantissa_bits = 7 - exponent_bits
    values = []
    for pattern in range(256):
        sign, exponent = -1.0 if pattern & 0x80 else 1.0, (pattern >> mantissa_bits) & ((1 << exponent_bits) - 1)
        mantissa, top = pattern & ((1 << mantissa_bits) - 1), (1 << exponent_bits) - 1
        if exponent == top and dtype == "float8_e5m2":
            value = float("inf") if mantissa == 0 else float("nan")
        elif exponent == top and mantissa == (1 << mantissa_bits) - 1:
            value = float("nan")
        elif exponent == 0:
            value = mantissa * 2.0 ** (1 - bias - mantissa_bits)
        else:
            value = (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)
        values.append(sign * value)
    return numpy.array(values)


def decode(data: bytes | Array, dtype: str) -> Array:
    """Returns the values of raw bytes: float64 for floating-point types, else integers."""
    bits = numpy.frombuffer(data, numpy.uint8) if isinstance(data, bytes) else data
    raw = bits[:len(bits) // size(dtype) * size(dtype)].view(BITS[dtype])
    values: Array
    with numpy.errstate(invalid="ignore"):  # signaling NaNs
        if dtype == "bfloat16":
            single: Array = (raw.astype(numpy.uint32) << 16).view(numpy.float32)
            values = single.astype(numpy.float64)
        elif dtype in SMALL_FLOATS:
            values = _table(dtype)[raw]
        else:
            values = raw.astype(numpy.float64) if is_float(dtype) else raw
    return values


def encode(values: Array, dtype: str) -> Array:
    """Returns the raw bytes of values, rounded to the nearest, ties to even. Integers wrap."""
    if dtype == "bfloat16":
        single = values.astype(numpy.float32).view(numpy.uint32).astype(numpy.uint64)
        raw = ((single + 0x7FFF + ((single >> 16) & 1)) >> 16).astype(numpy.uint16)
    elif dtype in SMALL_FLOATS:
        raw = _encode_small(values, dtype)
    elif dtype == "bool":
        raw = (values != 0).astype(numpy.uint8)
    elif is_float(dtype):
        with numpy.errstate(over="ignore"):
            raw = values.astype(BITS[dtype])
    else:
        raw = values.astype(numpy.int64).astype(BITS[dtype])
    data: Array = numpy.ascontiguousarray(raw).view(numpy.uint8)
    return data


def _encode_small(values: Array, dtype: str) -> Array:
    table = _table(dtype)[:0x80]
    finite = table[numpy.isfinite(table)]  # patterns 0, 1, 2, ... in the order of their values
    sizes = numpy.minimum(numpy.abs(values.astype(numpy.float64)), finite[-1])
    above = numpy.minimum(numpy.searchsorted(finite, sizes), len(finite) - 1)
    below = numpy.maximum(above - 1, 0)
    up, down = finite[above] - sizes, sizes - finite[below]
    nearest = numpy.where((up < down) | ((up == down) & (above % 2 == 0)), above, below)
    patterns: Array = (nearest | numpy.where(numpy.signbit(values), 0x80, 0)).astype(numpy.uint8)
    return patterns
