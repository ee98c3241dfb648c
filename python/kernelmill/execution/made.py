"""Makes more cases of a recorded one: ragged sizes, other options, small, negative and extreme values, other random numbers and types.
An option is a constexpr or a number whose values the kernel tells apart.

The outputs are those of the reference, the row's module. A change makes no case if the reference fails, writes to a storage that it
did not write to in the recorded case, or says something else when it runs again (replay.py)."""

from __future__ import annotations

import ast
import hashlib
import math
from collections.abc import Iterator
from typing import Any

from kernelmill.execution import elements
from kernelmill.execution.case import Case, Row, extent
from kernelmill.execution.mutants import reachable_functions

RANDOM = ("normal", "uniform")
# Changes in the order in which they are tried, those that catch most first.
ORDER = ("ragged", "option", "tiny", "negative", "seed", "extreme", "type")


def variants(case: Case, module: str) -> Iterator[tuple[str, Case]]:
    """Yields changed cases, which have no outputs of their own yet, with the name of the change."""
    changes = (("seed", _reseed(case)), ("extreme", _scale(case, 32)), ("tiny", _scale(case, 2.0**-12)), ("negative", _negate(case)),
               ("type", _retype(case)))
    changed = [(name, fields) for name, fields in changes if fields is not None]
    for name, fields in (*changed, *(("ragged", fields) for fields in _shrink(case)), *(("option", fields) for _, fields in _options(case, module))):
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


def _options(case: Case, module: str) -> Iterator[tuple[str, Row]]:
    """Gives each option other values, one at a time."""
    asked = Asked(module, case.kernel)
    for place, each in enumerate(case.row["arguments"]):
        for other in asked.values_of(each):
            arguments = list(case.row["arguments"])
            arguments[place] = {"name": each["name"], **other}
            yield str(each["name"]), {"arguments": arguments}


class Asked:
    """Reads the values that a kernel, and the functions that it calls, compare parameters with. Any other value may mean nothing to the
    kernel, so that only floating-point numbers get others."""

    def __init__(self, module: str, kernel: str) -> None:
        self._strings: list[str] = []
        self._numbers: dict[str, list[float]] = {}
        self._none: set[str] = set()
        self._truths: set[str] = set()
        try:
            functions = reachable_functions(ast.parse(module), kernel)
        except (SyntaxError, ValueError, RecursionError):
            return
        for node in (each for function in functions for each in ast.walk(function)):
            if isinstance(node, ast.Compare):
                self._read(node)
            elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
                self._truths |= _tested_names(node.test)

    def _read(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        names = [each.id for each in sides if isinstance(each, ast.Name)]
        for constant in (part for side in sides for part in (side.elts if isinstance(side, (ast.Tuple, ast.List)) else [side])):
            value = constant.value if isinstance(constant, ast.Constant) else self
            if isinstance(value, str) and value not in self._strings:
                self._strings.append(value)
            elif value is None:
                self._none.update(names)
            elif isinstance(value, (int, float)):
                for name in names:
                    self._numbers.setdefault(name, []).append(value)

    def values_of(self, argument: Row) -> Iterator[Row]:
        """Yields other values of an argument, as a case has them."""
        name = str(argument["name"])
        if "tensor" in argument or "tuple" in argument:
            if name in self._none:
                yield {}
        elif "constexpr" in argument:
            yield from ({"constexpr": text} for text in self._texts(name, str(argument["constexpr"])))
        elif "scalar" in argument:
            kind, value = argument["scalar"]["type"], argument["scalar"]["value"]
            if isinstance(value, (bool, int, float)):
                yield from ({"scalar": {"type": kind, "value": other}} for other in self._others(name, value))

    def _texts(self, name: str, text: str) -> Iterator[str]:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return  # a type of Triton
        if isinstance(value, str):
            yield from (repr(each) for each in self._strings if each != value)
        elif isinstance(value, (bool, int, float)):
            yield from (repr(each) for each in self._others(name, value))
        if value is not None and name in self._none:
            yield "None"

    def _others(self, name: str, value: bool | int | float) -> list[Any]:
        """Returns other numbers of the same type."""
        if isinstance(value, bool):
            return [not value]
        found: list[Any] = [type(value)(each) for each in self._numbers.get(name, [])]
        if isinstance(value, int) and value in (0, 1) and name in self._truths:
            found.append(1 - value)
        if isinstance(value, float):  # a share stays one, and what is added to a divisor becomes large enough to be seen
            found.append(0.25 if 0 < value < 0.01 else 0.5 * value if 0 < value < 1 else 1.5 * value if value else 0.5)
        return [each for place, each in enumerate(found) if each != value and each not in found[:place]]


def _tested_names(test: ast.expr) -> set[str]:
    """Returns the names that a condition asks for their truth."""
    if isinstance(test, ast.Name):
        return {test.id}
    if isinstance(test, ast.UnaryOp):
        return _tested_names(test.operand)
    return {name for each in test.values for name in _tested_names(each)} if isinstance(test, ast.BoolOp) else set()


def options(case: Case, module: str) -> Iterator[tuple[str, Case]]:
    """Yields cases with another value of an option, which have no outputs of their own yet, with the option's name."""
    for name, fields in _options(case, module):
        row: Row = {key: value for key, value in case.row.items() if key not in ("id", "type")}
        yield name, Case.make(**{**row, **fields})


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
