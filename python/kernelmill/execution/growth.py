"""Grows a recorded case until it fills a GPU: a small one measures the overhead of a launch.

The basic idea: a kernel serves a size by programs. If a dimension of its tensors, or a product of neighbouring ones, is what an axis of
the grid covers (the axis is the size, or as many blocks as hold it), then dimension, axis, and the numbers that state the size or a
stride are multiplied by a power of two. Several such ways may be possible, and nothing here says that one is right: what the kernel
does on the grown case decides (speed.py). Random numbers and constants continue; tensors of integers that a test chose are not grown,
since they may be indices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kernelmill.execution import elements, recipes
from kernelmill.execution.case import MOST_PROGRAMS, Case, Row, extent

FULL, MOST = 64 << 20, 128 << 20  # bytes of all storages: more than any GPU's L2 cache; and the most
WAYS = 12
PERIOD = 1 << 20                  # bytes after which random numbers repeat: they take a processor long
MOST_AXIS = (MOST_PROGRAMS, 65535, 65535)
CONTINUED = ("normal", "uniform", "integers", "constant", "poison")


@dataclass(frozen=True)
class Way:
    """A way to grow a case: the size, the grid's axis that covers it, and the block by which it does. `last`: of equal dimensions of a
    tensor the last one grows, else the first. `constexprs`: a constexpr that equals the size grows as well."""

    size: int
    axis: int
    block: int
    last: bool = False
    constexprs: bool = False

    def count(self, factor: int) -> int:
        """Returns the number of blocks that hold the grown size."""
        return -(-self.size * factor // self.block)


def find_ways(case: Case) -> list[Way]:
    """Returns ways to grow a case, the likeliest first."""
    grid = [int(each) for each in case.row["grid"]]
    blocks = sorted({int(each["constexpr"]) for each in case.row["arguments"] if each.get("constexpr", "").isdigit()} - {0, 1})
    ranked: list[tuple[tuple[bool, bool, bool, bool, bool, int, int], Way]] = []
    for size in sizes(case):
        for axis, length in enumerate(grid):
            for block in (1, *blocks):
                count = -(-size // block)
                if length % count or (count == 1 and block >= 2 * max(size, 8) and block != min(blocks)):
                    continue
                for last in (False, True) if _is_square(case, size) else (False,):
                    for constexprs in (False, True) if _has_constexpr(case, size) else (False,):
                        way = Way(size, axis, block, last, constexprs)
                        grown = _grown_storages(case, way)
                        size_of_all = sum(int(case.storages[place]["bytes"]) for place in grown)
                        # Programs divide what they write: a size that is only read is that of a loop, whose grid stays.
                        ranked.append(((constexprs, not grown & set(case.outputs), count == 1, length != count, last, -size_of_all, block),
                                       way))
    return [way for _, way in sorted(ranked, key=lambda each: each[0])][:WAYS]


def regrow(case: Case, steps: Sequence[Row]) -> Case | None:
    """Returns the case that these steps make of a recorded one: {"factor", and the fields of the way}."""
    grown: Case | None = case
    for step in steps:
        way = Way(**{name: value for name, value in step.items() if name != "factor"})
        grown = grow(grown, way, int(step["factor"])) if grown is not None else None
    return grown


def sizes(case: Case) -> list[int]:
    """Returns the dimensions of tensors, and the products of neighbouring ones."""
    found: set[int] = set()
    for view in case.tensors():
        shape = [int(each) for each in view["shape"]]
        found.update(math.prod(shape[start:end]) for start in range(len(shape)) for end in range(start + 1, len(shape) + 1))
    return sorted(each for each in found if each > 1)


def _is_square(case: Case, size: int) -> bool:
    return any(list(view["shape"]).count(size) > 1 for view in case.tensors())


def _has_constexpr(case: Case, size: int) -> bool:
    return any(_is_size_constexpr(each, size) for each in case.row["arguments"])


def _is_size_constexpr(argument: Row, size: int) -> bool:
    return bool(argument.get("constexpr") == str(size)) and "block" not in str(argument["name"]).lower()


def _grown_storages(case: Case, way: Way) -> set[int]:
    return {int(view["storage"]) for view in case.tensors() if _grown_dimension(view, way) is not None}


def _grown_dimension(view: Row, way: Way) -> int | None:
    """Returns the dimension of a tensor that grows: one that is the size, or the first of neighbours whose product is."""
    shape = [int(each) for each in view["shape"]]
    if way.size in shape:
        return len(shape) - 1 - shape[::-1].index(way.size) if way.last else shape.index(way.size)
    for start in range(len(shape)):
        for end in range(start + 2, len(shape) + 1):
            if math.prod(shape[start:end]) == way.size:
                return start
    return None


def _grow_view(view: Row, way: Way, factor: int) -> Row:
    """Returns a tensor whose dimension is larger. Outer dimensions move apart in its storage."""
    at = _grown_dimension(view, way)
    if at is None:
        return view
    shape, strides = list(view["shape"]), [int(each) for each in view["strides"]]
    span = abs(strides[at]) * int(shape[at])
    shape[at] = int(shape[at]) * factor
    strides = [each * factor if place != at and span and abs(each) >= span else each for place, each in enumerate(strides)]
    offset = int(view["offset"])
    return {**view, "shape": shape, "strides": strides, "offset": offset * factor if span and offset >= span else offset}


def grow(case: Case, way: Way, factor: int) -> Case | None:
    """Returns the grown case, which has the outputs' storages of the small one and not their bytes. None: it cannot be grown so."""
    grid = [int(each) for each in case.row["grid"]]
    grid[way.axis] = grid[way.axis] // way.count(1) * way.count(factor)
    if math.prod(grid) > MOST_PROGRAMS or any(length > most for length, most in zip(grid, MOST_AXIS)):
        return None
    strides: dict[int, set[int]] = {}
    arguments = [_grow_argument(each, way, factor, strides) for each in case.row["arguments"]]
    arguments = [_grow_number(each, way, factor, strides) for each in arguments]
    storages = _grow_storages(case, arguments)
    if storages is None or arguments == case.row["arguments"]:
        return None
    row = {key: value for key, value in case.row.items() if key not in ("id", "type")}
    return Case.make(**{**row, "arguments": arguments, "storages": storages, "grid": grid})


def _grow_argument(argument: Row, way: Way, factor: int, strides: dict[int, set[int]]) -> Row:
    """Grows a tensor, and notes what becomes of its strides."""
    if "tuple" in argument:
        return {**argument, "tuple": [_grow_argument(each, way, factor, strides) for each in argument["tuple"]]}
    if "tensor" not in argument:
        return argument
    grown = _grow_view(argument["tensor"], way, factor)
    for old, new in zip(argument["tensor"]["strides"], grown["strides"]):
        strides.setdefault(int(old), set()).add(int(new))
    return {**argument, "tensor": grown}


def _grow_number(argument: Row, way: Way, factor: int, strides: dict[int, set[int]]) -> Row:
    """Grows a number that is the size, or a stride that became larger in every tensor that has it."""
    scalar = argument.get("scalar", {})
    if way.constexprs and _is_size_constexpr(argument, way.size):
        return {**argument, "constexpr": str(way.size * factor)}
    if scalar.get("type") != "int":
        return argument
    value = int(scalar["value"])
    moved = strides.get(value, {value})
    if "stride" not in str(argument["name"]).lower() and value == way.size:
        return {**argument, "scalar": {**scalar, "value": value * factor}}
    return {**argument, "scalar": {**scalar, "value": next(iter(moved))}} if value > 1 and len(moved) == 1 else argument


def _grow_storages(case: Case, arguments: list[Row]) -> list[Row] | None:
    """Returns the storages of grown tensors. None: one that must grow holds what cannot be continued."""
    before, after = (_ends(Case({"arguments": rows})) for rows in (case.row["arguments"], arguments))
    storages: list[Row] = []
    for place, each in enumerate(case.storages):
        more = after.get(place, 0) - before.get(place, 0)
        if more and not _continues(each, case.dtype_of(place)):
            return None
        storages.append({**each, "bytes": int(each["bytes"]) + more})
    return storages


def _ends(case: Case) -> dict[int, int]:
    """Returns where the last tensor of each storage ends, in bytes."""
    ends: dict[int, int] = {}
    for view in case.tensors():
        end = (extent(view)[1] + 1) * elements.size(view["dtype"])
        ends[view["storage"]] = max(ends.get(view["storage"], 0), end)
    return ends


def _continues(storage: Row, dtype: str | None) -> bool:
    if "recipe" in storage:
        return storage["recipe"]["kind"] in CONTINUED
    return dtype is not None and (elements.is_float(dtype) or dtype == "bool")


def total(case: Case) -> int:
    return sum(int(each["bytes"]) for each in case.storages)


def find_factor(case: Case, way: Way, most: int) -> int:
    """Returns the largest power of two by which the storages have at most so many bytes; 1 if none does."""
    factor = 1
    while (grown := grow(case, way, 2 * factor)) is not None and total(grown) <= most and total(grown) > total(case):
        factor *= 2
    return factor


def fill(case: Case, small: Sequence[bytes]) -> list[bytes]:
    """Returns the bytes of a grown case's storages. `small`: those of the recorded one, which repeat where no recipe continues them."""
    return [_fill(each, content) for each, content in zip(case.storages, small)]


def _fill(storage: Row, content: bytes) -> bytes:
    size = int(storage["bytes"])
    if size == len(content):
        return content
    if "recipe" in storage:
        content = recipes.fill(storage["recipe"], min(size, PERIOD))
    return (content * -(-size // max(len(content), 1)))[:size]


def describe(small: Case, grown: Case) -> Iterator[str]:
    """Yields what became larger: numbers of the launch by name, tensors by their shapes, and the grid."""
    for old, new in zip(small.row["arguments"], grown.row["arguments"]):
        if old == new:
            continue
        if "tensor" in new and old["tensor"]["shape"] != new["tensor"]["shape"]:
            yield f"{new['name']} {_shape(new['tensor']['shape'])}"
        elif "scalar" in new:
            yield f"{new['name']} = {new['scalar']['value']}"
        elif "constexpr" in new:
            yield f"{new['name']} = {new['constexpr']}"
    yield f"grid {_shape(grown.row['grid'])}"


def _shape(lengths: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, lengths)) + "]"
