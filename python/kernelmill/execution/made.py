"""Makes more cases of a recorded one: other random numbers, extreme values, ragged sizes, other types, other options.

The outputs are those of the reference, the row's module. A change makes no case if the reference fails, writes to a storage that it
did not write to in the recorded case, or says something else when it runs again (replay.py)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from kernelmill.execution import elements
from kernelmill.execution.case import Case, Row

RANDOM = ("normal", "uniform")


def variants(case: Case) -> Iterator[tuple[str, Case]]:
    """Yields changed cases, which have no outputs of their own yet, with the name of the change."""
    changes = (("seed", _reseed), ("ragged", _shrink), ("extreme", _stretch), ("type", _retype))
    changed = [(name, change(case)) for name, change in changes] + [("option", fields) for fields in _flip(case)]
    for name, fields in changed:
        if fields is not None:
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


def _stretch(case: Case) -> Row | None:
    """Makes values some thirty times as large, and of both signs where they were."""
    def change(_place: int, recipe: Row) -> Row:
        if recipe["kind"] == "normal":
            return {**recipe, "deviation": recipe["deviation"] * 32}
        return {**recipe, "low": recipe["low"] * 32, "high": recipe["high"] * 32}

    storages = _recipes(_randomized(case), change)
    return {"storages": storages} if storages else None


def _shrink(case: Case) -> Row | None:
    """Makes the size that a launch covers in blocks smaller, so that the last block is not full. The tensors stay as large."""
    blocks = {int(each["constexpr"]) for each in case.row["arguments"] if each.get("constexpr", "").isdigit()}
    for place, each in enumerate(case.row["arguments"]):
        if each.get("scalar", {}).get("type") != "int":
            continue
        size = each["scalar"]["value"]
        for block in sorted(blocks, reverse=True):
            if block >= 8 and size > 3 and size % block == 0 and size // block in case.row["grid"]:
                arguments = list(case.row["arguments"])
                arguments[place] = {**each, "scalar": {"type": "int", "value": size - 3}}
                return {"arguments": arguments, "ragged": True}
    return None


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
