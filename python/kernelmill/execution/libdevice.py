"""The functions of libdevice, by numpy. They are computed in 64 bits; the caller rounds to the type of the result."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.execution.elements import Array


def _each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """Makes a function of the math module one of arrays. A number outside its domain gives NaN, an overflow infinity."""
    def one(value: float) -> float:
        try:
            return function(value)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    found: Callable[[Array], Array] = numpy.vectorize(one, otypes=[numpy.float64])
    return found


def _erfinv(values: Array) -> Array:
    """Inverts erf by Newton's method, from the approximation by Giles (2010)."""
    inside = numpy.clip(values, -1 + 1e-16, 1 - 1e-16)
    w = -numpy.log((1 - inside) * (1 + inside))
    shift = numpy.where(w < 5, w - 2.5, numpy.sqrt(numpy.maximum(w, 5)) - 3)
    small = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164, 0.246640727,
             1.50140941)
    large = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406,
             2.83297682)
    found = inside * numpy.where(w < 5, numpy.polyval(small, shift), numpy.polyval(large, shift))
    for _ in range(2):
        found = found - (_erf(found) - inside) / (2 / math.sqrt(math.pi) * numpy.exp(-found * found))
    return numpy.where(numpy.abs(values) < 1, found, numpy.where(numpy.abs(values) == 1, numpy.copysign(numpy.inf, values), numpy.nan))


def _bits(kind: str, other: str) -> Callable[[Array], Array]:
    """Reinterprets numbers of one type as another type of the same size."""
    return lambda values: values.astype(kind).view(other)


def _count_leading(values: Array) -> Array:
    width = values.dtype.itemsize * 8
    return numpy.array([width - (int(each) & ((1 << width) - 1)).bit_length() for each in values.reshape(-1)]).reshape(values.shape)


def _find_first(values: Array) -> Array:
    return numpy.array([(int(each) & -int(each)).bit_length() for each in values.reshape(-1)]).reshape(values.shape)


def _round_away(values: Array) -> Array:
    return numpy.where(numpy.abs(values) < 2.0**52, numpy.copysign(numpy.floor(numpy.abs(values) + 0.5), values), values)


_erf = _each(math.erf)
# By libdevice's names without "__nv_" and the type's letter. Numbers are computed in 64 bits, and rounded to the result's type.
_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "abs": numpy.abs, "acos": numpy.arccos, "acosh": numpy.arccosh, "asin": numpy.arcsin, "asinh": numpy.arcsinh, "atan": numpy.arctan,
    "atan2": numpy.arctan2, "atanh": numpy.arctanh, "cbrt": numpy.cbrt, "ceil": numpy.ceil,
    "copysign": numpy.copysign, "cos": numpy.cos, "cosh": numpy.cosh, "cospi": lambda x: numpy.cos(numpy.pi * x), "div": numpy.divide,
    "erf": _erf, "erfc": _each(math.erfc), "erfinv": _erfinv, "exp": numpy.exp, "exp10": lambda x: numpy.power(10.0, x),
    "exp2": numpy.exp2, "expm1": numpy.expm1, "fabs": numpy.abs, "fdim": lambda x, y: numpy.maximum(x - y, 0),
    "fdivide": numpy.divide, "floor": numpy.floor, "fma": lambda x, y, z: x * y + z, "fmax": numpy.fmax, "fmin": numpy.fmin,
    "fmod": numpy.fmod, "hypot": numpy.hypot, "isfinited": numpy.isfinite, "finite": numpy.isfinite, "isinf": numpy.isinf,
    "isinfd": numpy.isinf, "isnan": numpy.isnan, "isnand": numpy.isnan, "ldexp": lambda x, y: numpy.ldexp(x, y.astype(numpy.int32)),
    "lgamma": _each(math.lgamma), "llrint": numpy.rint, "llround": _round_away, "log": numpy.log, "log10": numpy.log10,
    "log1p": numpy.log1p, "log2": numpy.log2, "logb": lambda x: numpy.floor(numpy.log2(numpy.abs(x))), "max": numpy.maximum,
    "min": numpy.minimum, "mul": numpy.multiply, "nearbyint": numpy.rint, "nextafter": numpy.nextafter,
    "normcdf": lambda x: 0.5 * (1 + _erf(x / math.sqrt(2))), "pow": numpy.power, "powi": numpy.power, "rcbrt": lambda x: 1 / numpy.cbrt(x),
    "rcp": numpy.reciprocal, "remainder": lambda x, y: x - numpy.rint(x / y) * y, "rint": numpy.rint, "round": _round_away,
    "rsqrt": lambda x: 1 / numpy.sqrt(x), "saturate": lambda x: numpy.clip(x, 0, 1), "signbit": numpy.signbit,
    "signbitd": numpy.signbit, "sin": numpy.sin, "sinh": numpy.sinh, "sinpi": lambda x: numpy.sin(numpy.pi * x), "sqrt": numpy.sqrt,
    "tan": numpy.tan, "tanh": numpy.tanh, "tgamma": _each(math.gamma), "trunc": numpy.trunc, "add": numpy.add, "sub": numpy.subtract,
    "float_as_int": _bits("f4", "i4"), "int_as_float": _bits("i4", "f4"), "float_as_uint": _bits("f4", "u4"),
    "uint_as_float": _bits("u4", "f4"), "clz": _count_leading, "clzll": _count_leading, "ffs": _find_first, "ffsll": _find_first,
    "popc": lambda x: numpy.bitwise_count(x.astype(f"u{x.dtype.itemsize}")),
    "popcll": lambda x: numpy.bitwise_count(x.astype(f"u{x.dtype.itemsize}"))}
_BITS = ("float_as_int", "int_as_float", "float_as_uint", "uint_as_float")
_ROUNDED = re.compile("[df]?(add|sub|mul|div|rcp|sqrt|rsqrt|fma)f?_r[nzud]")


def compute(symbol: str, arguments: list[Array]) -> Array:
    """Returns what the function of this symbol makes of arrays. Results are rounded to the nearest, also by functions that round
    otherwise. NotImplementedError: it is not here."""
    name = symbol.removeprefix("__nv_").removeprefix("fast_")
    rounded = _ROUNDED.fullmatch(name)
    found = next((each for each in (rounded[1] if rounded else name, name.removesuffix("f")) if each in _FUNCTIONS), None)
    if found is None:
        raise NotImplementedError(f"{symbol} on the interpreter")
    if found not in _BITS:
        arguments = [each.astype(numpy.float64) if each.dtype.kind == "f" else each for each in arguments]
    with numpy.errstate(all="ignore"):
        return numpy.asarray(_FUNCTIONS[found](*arguments))
