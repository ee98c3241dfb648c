"""Inputs by recipe: the same bytes on every device, and with every version of numpy and torch.

The generator is Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3). Word i of a seed is word i % 4 of block
i / 4, whose counter is (i / 4, 0) and whose key is the seed. Numbers are made of words by integer arithmetic, and by multiplications
and additions that IEEE 754 defines to the bit. A normal number is the sum of twelve 16-bit numbers: no logarithm, whose last bit
differs between libraries.

  {"kind": "normal", "seed", "mean", "deviation"}    6 words each: x = (sum of their 12 halves - 6 * 65535) / 65536
  {"kind": "uniform", "seed", "low", "high"}         1 word each:  x = (word / 256 + 0.5) / 2^24
  {"kind": "integers", "seed", "low", "high"}        1 word each:  low + word % (high - low)
  {"kind": "constant", "value"}   {"kind": "arange", "start", "step"}
  {"kind": "poison"}                                 all bits set: NaN, or -1; what a kernel must write
"""

from __future__ import annotations

import math
from typing import Any

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.execution import elements
from kernelmill.execution.elements import Array

Recipe = dict[str, Any]
_MULTIPLIERS, _WEYL = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
_LOW = numpy.uint64(0xFFFFFFFF)


def philox(counter: Array, key: tuple[int, int]) -> Array:
    """Returns the blocks (n, 4) of counters (n, 4) of 32 bits in uint64."""
    words = [counter[:, i].astype(numpy.uint64) for i in range(4)]
    first, second = key
    for _ in range(10):
        left, right = words[0] * numpy.uint64(_MULTIPLIERS[0]), words[2] * numpy.uint64(_MULTIPLIERS[1])
        high = numpy.uint64(32)
        words = [(right >> high) ^ words[1] ^ numpy.uint64(first), right & _LOW,
                 (left >> high) ^ words[3] ^ numpy.uint64(second), left & _LOW]
        first, second = (first + _WEYL[0]) & 0xFFFFFFFF, (second + _WEYL[1]) & 0xFFFFFFFF
    blocks: Array = numpy.stack(words, axis=1).astype(numpy.uint32)
    return blocks


def random_words(seed: int, count: int) -> Array:
    """Returns the first `count` words of a seed."""
    blocks = numpy.arange(-(-count // 4), dtype=numpy.uint64)
    counter = numpy.zeros((len(blocks), 4), numpy.uint64)
    counter[:, 0], counter[:, 1] = blocks & _LOW, blocks >> numpy.uint64(32)
    words: Array = philox(counter, (seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF)).reshape(-1)[:count]
    return words


def _values(recipe: Recipe, count: int) -> Array:
    kind = recipe["kind"]
    values: Array
    if kind == "normal":
        words = random_words(int(recipe["seed"]), 6 * count).reshape(count, 6).astype(numpy.int64)
        sums = (words & 0xFFFF).sum(axis=1) + (words >> 16).sum(axis=1)
        values = (sums - 6 * 65535) / 65536.0 * float(recipe["deviation"]) + float(recipe["mean"])
    elif kind == "uniform":
        parts = (random_words(int(recipe["seed"]), count) >> numpy.uint32(8)).astype(numpy.float64)
        values = (parts + 0.5) / 16777216.0 * (float(recipe["high"]) - float(recipe["low"])) + float(recipe["low"])
    elif kind == "integers":
        low, high = int(recipe["low"]), int(recipe["high"])
        values = random_words(int(recipe["seed"]), count).astype(numpy.int64) % (high - low) + low
    elif kind == "arange":
        values = numpy.arange(count, dtype=numpy.int64) * recipe["step"] + recipe["start"]
    elif kind == "constant":
        values = numpy.full(count, recipe["value"])
    else:
        raise ValueError(f"unknown recipe: {kind}")
    return values


def fill(recipe: Recipe, size: int) -> bytes:
    """Returns `size` bytes by a recipe. ValueError, KeyError: the recipe is wrong."""
    if recipe["kind"] == "poison":
        return b"\xff" * size
    dtype = str(recipe["dtype"])
    count = -(-size // elements.size(dtype))
    return bytes(elements.encode(_values(recipe, count), dtype).tobytes()[:size])


def poison(size: int) -> bytes:
    return fill({"kind": "poison"}, size)


def find_exact(data: bytes, dtype: str) -> Recipe | None:
    """Returns the recipe that gives these very bytes, or None: a constant or a sequence."""
    values = elements.decode(data, dtype)
    if len(values) < 2 or len(data) % elements.size(dtype) or not numpy.isfinite(values[:2]).all():
        return None
    first, step = values[0].item(), values[1].item() - values[0].item()
    candidates: list[Recipe] = [{"kind": "constant", "dtype": dtype, "value": first}]
    if not elements.is_float(dtype) and dtype != "bool":
        candidates.append({"kind": "arange", "dtype": dtype, "start": first, "step": step})
    return next((each for each in candidates if fill(each, len(data)) == data), None)


def fit_distribution(data: bytes, dtype: str, seed: int) -> Recipe | None:
    """Returns a random recipe whose numbers are distributed as these floating-point numbers, or None: they are too few, not finite,
    or mostly one value."""
    values = elements.decode(data, dtype)
    if not elements.is_float(dtype) or len(values) < 64 or not numpy.isfinite(values).all():
        return None
    mean, deviation = float(values.mean()), float(values.std())
    low, high = float(values.min()), float(values.max())
    if deviation == 0 or numpy.count_nonzero(values == values[0]) > len(values) // 2 or len(numpy.unique(values)) < 16:
        return None
    head = {"dtype": dtype, "seed": seed}
    if high - low < 4.2 * deviation or low >= 0:  # bounded: a uniform number's range is 3.5 deviations
        return {"kind": "uniform", **head, "low": _short(low), "high": _short(high)}
    return {"kind": "normal", **head, "mean": _short(mean), "deviation": _short(deviation)}


def _short(value: float) -> float:
    """Rounds a number to four digits."""
    return 0.0 if value == 0 else round(value, 3 - math.floor(math.log10(abs(value))))
