"""Makes more cases of a recorded one: ragged sizes, other options, small, negative and extreme values, other random numbers and types.

The outputs are those of the reference, the row's module. A change makes no case if the reference fails, writes to a storage that it
did not write to in the recorded case, or says something else when it runs again (replay.py)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import Any

from kernelmill.execution import elements
from kernelmill.execution.case import Case, Row, extent

RANDOM = ("normal", "uniform")
# Changes in the order in which they are tried, those that catch most first.
ORDER = ("ragged", "option", "tiny", "negative", "seed", "extreme", "type")


def variants(case: Case) -> Iterator[tuple[str, Case]]:
    """Yields changed cases, which have no outputs of their own yet, with the name of the change."""
    changes = (("seed", _reseed(case)), ("extreme", _scale(case, 32)), ("tiny", _scale(case, 2.0**-12)), ("negative", _negate(case)),
               ("type", _retype(case)))
    changed = [(name, fields) for name, fields in changes if fields is not None]
    for name, fields in (*changed, *(("ragged", fields) for fields in _shrink(case)), *(("option", fields) for fields in _flip(case))):
        row: Row = {key: value for key, value in case.row.items() if key not in ("id", "type")}
        yield name, Case.make(**{**row, **fields})


def _recipes(case: Case, change: Any) -> list[Row] | None:
    """Changes the random recipes. Returns None if the case has no random recipe."""
    storages: list[Row] = []
    for place, each in enumerate(case.storages):
        recipe = each.get("recipe")
        storages.append({**each, "recipe": change(place, recipe)} if recipe and recipe["kind"] in RANDOM else each)
    return storages if storages != case.storages else None


def _randomized(case: Case) -> Case:
    """Replaces the content of floating-point inputs by a recipe: normal numbers."""
    storages = []
    for place, each in enumerate(case.storages):
        dtype = case.dtype_of(place)
        if "sha256" in each and dtype is not None and elements.is_float(dtype) and place not in case.outputs:
            seed = int(hashlib.sha256(f"{case.id} {place}".encode()).hexdigest()[:8], 16)
            each = {"bytes": each["bytes"], "recipe": {"kind": "normal", "dtype": dtype, "seed": seed, "mean": 0.0, "deviation": 1.0}}
        storages.append(each)
    return Case({**case.row, "storages": storages})


def _reseed(case: Case) -> Row | None:
    storages = _recipes(_randomized(case), lambda place, recipe: {**recipe, "seed": (recipe["seed"] + 0x9E3779B9 + place) & 0xFFFFFFFF})
    return {"storages": storages} if storages else None


def _scale(case: Case, factor: float) -> Row | None:
    """Makes values larger, or so small that what is added to them against a division by zero is seen."""
    def change(_place: int, recipe: Row) -> Row:
        return {**recipe, **{key: recipe[key] * factor for key in ("deviation", "mean", "low", "high") if key in recipe}}

    storages = _recipes(_randomized(case), change)
    return {"storages": storages} if storages else None


def _negate(case: Case) -> Row | None:
    """Makes all values negative: zeros that a mask puts in place of what it hides are then the largest."""
    def change(_place: int, recipe: Row) -> Row:
        if recipe["kind"] == "normal":
            return {**recipe, "mean": -8 * recipe["deviation"]}
        return {**recipe, "low": -max(abs(recipe["low"]), abs(recipe["high"])), "high": -min(abs(recipe["low"]), abs(recipe["high"]))}

    storages = _recipes(_randomized(case), change)
    return {"storages": storages} if storages else None


def _shrink(case: Case) -> Iterator[Row]:
    """Makes a size smaller, so that the last block is not full. If it is the size of a tensor, the tensor ends at the smaller size: a
    kernel that ignores a mask reads or writes behind it. A size of several dimensions is tried as the last and as the first."""
    base = _randomized(case)
    for place, each in enumerate(case.row["arguments"]):
        text = each.get("constexpr", "")
        is_size = each.get("scalar", {}).get("type") == "int" or text.isdigit() and int(text) & (int(text) - 1) != 0
        size = int(each["scalar"]["value"] if "scalar" in each else text) if is_size else 0
        if size <= 3:
            continue
        smaller = size - 3
        argument = {**each, "scalar": {"type": "int", "value": smaller}} if "scalar" in each else {**each, "constexpr": str(smaller)}
        tried = []
        for last in (True, False):
            arguments = [_cut(row, size, smaller, last) for row in case.row["arguments"]]
            if arguments == case.row["arguments"] or arguments in tried:
                continue
            tried.append(list(arguments))
            arguments[place] = argument
            yield {"arguments": arguments, "storages": _cut_storages(base, arguments), "ragged": True}
        if tried or _covers(case, size):
            arguments = list(case.row["arguments"])
            arguments[place] = argument
            yield {"arguments": arguments, "ragged": True}


def _covers(case: Case, size: int) -> bool:
    """Returns True if as many blocks are launched as cover a size."""
    blocks = {int(each["constexpr"]) for each in case.row["arguments"] if each.get("constexpr", "").isdigit()}
    return any(block >= 8 and size % block == 0 and size // block in case.row["grid"] for block in blocks)


def _cut(row: Row, size: int, smaller: int, last: bool) -> Row:
    """Returns an argument whose tensor is cut in the last, or the first, dimension of this size; or all of its elements are."""
    shape = row["tensor"]["shape"] if "tensor" in row else []
    if size in shape:
        at = len(shape) - 1 - shape[::-1].index(size) if last else shape.index(size)
        shape = [*shape[:at], smaller, *shape[at + 1:]]
        return {**row, "tensor": {**row["tensor"], "shape": shape}}
    if shape and math.prod(shape) == size:
        return {**row, "tensor": {**row["tensor"], "shape": [smaller], "strides": [1]}}
    return row


def _cut_storages(case: Case, arguments: list[Row]) -> list[Row]:
    """Ends storages that are recipes where their tensors end."""
    ends: dict[int, int] = {}
    for view in Case({"arguments": arguments}).tensors():
        end = (extent(view)[1] + 1) * elements.size(view["dtype"])
        ends[view["storage"]] = max(ends.get(view["storage"], 0), end)
    return [{**each, "bytes": min(each["bytes"], ends.get(place, each["bytes"]))} if "recipe" in each else each
            for place, each in enumerate(case.storages)]


def _flip(case: Case) -> Iterator[Row]:
    """Turns each option on or off."""
    for place, each in enumerate(case.row["arguments"]):
        if each.get("constexpr") in ("False", "True"):
            arguments = list(case.row["arguments"])
            arguments[place] = {**each, "constexpr": str(each["constexpr"] == "False")}
            yield {"arguments": arguments}


def _retype(case: Case) -> Row | None:
    """Has all float32 tensors be float16: they need half of the bytes."""
    if {view["dtype"] for view in case.tensors()} & {"float16", "bfloat16"}:
        return None
    storages: list[Row] = []
    base = _randomized(case)
    for place, each in enumerate(base.storages):
        if case.dtype_of(place) != "float32":
            storages.append(each)
        elif "recipe" not in each or each["recipe"]["kind"] not in (*RANDOM, "constant", "poison"):
            return None
        else:
            storages.append({"bytes": each["bytes"] // 2, "recipe": {**each["recipe"], **({} if each["recipe"]["kind"] == "poison"
                                                                                       else {"dtype": "float16"})}})
    def retyped(rows: list[Row]) -> list[Row]:
        return [{**row, "tensor": {**row["tensor"], "dtype": "float16"}} if row.get("tensor", {}).get("dtype") == "float32"
                else {**row, "tuple": retyped(row["tuple"])} if "tuple" in row else row for row in rows]

    if storages == base.storages:
        return None
    tolerance = {name: value for name, value in case.row["tolerance"].items() if name != "float32"}
    return {"arguments": retyped(case.row["arguments"]), "storages": storages,
            "tolerance": {**tolerance, "float16": elements.TOLERANCE["float16"]}}
