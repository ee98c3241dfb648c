"""Launches of a kernel as text: a specification of what a case's launch is, and the code that makes it again.

The code is part of files that other programs load, so it needs torch and Triton alone. It takes the tensors and numbers that an
interface gives by the argument's name; all else (strides, sizes, constexprs, grid) is as the case has it. A tensor that has its memory to
itself and is only read is passed on as it is; others are copied into memory that is laid out as the case has it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from kernelmill.execution import elements
from kernelmill.execution.case import Row
from kernelmill.tasks.contents import TaskCase, Tensor

CODE = '''

def _kernelmill_function(kernel):
    """Returns the function under autotuners and heuristics, whose choices the launch has."""
    while type(kernel).__name__ not in ("JITFunction", "InterpretedFunction", "GluonJITFunction"):
        kernel = kernel.fn
    return kernel


def _kernelmill_argument(row, given, storages):
    import triton.language

    kind, value = row
    if kind == "given":
        return given[value]
    if kind == "tensor":
        return storages[value[0]].as_strided(*value[1:])
    if kind == "language":
        return getattr(triton.language, value)
    return float(value) if kind == "float" else value


def _kernelmill_copy(to, given):
    """Fills a view, whose elements may lie on each other where a stride is 0."""
    for axis, stride in enumerate(to.stride()):
        if stride == 0 and to.shape[axis] > 1:
            to, given = to.narrow(axis, 0, 1), given.narrow(axis, 0, 1)
    to.copy_(given)


def _kernelmill_launch(kernel, launch, given):
    """Makes a launch. Returns the tensors that the kernel wrote, by name."""
    import torch

    device = next(value.device for value in given.values() if isinstance(value, torch.Tensor))
    storages = [None if each is None else torch.full((each[0],), each[2], dtype=getattr(torch, each[1]), device=device)
                if each[2] is not None else torch.empty(each[0], dtype=getattr(torch, each[1]), device=device)
                for each in launch["storages"]]
    for name, view in launch["filled"]:
        _kernelmill_copy(storages[view[0]].as_strided(*view[1:]), given[name])
    values = {name: _kernelmill_argument(row, given, storages) for name, row in launch["arguments"].items()}
    _kernelmill_function(kernel)[tuple(launch["grid"])](**values, **launch["options"])
    return {name: values[name] for name in launch["written"]}
'''


class CannotLaunch(Exception):
    """A launch cannot be written as text. The message is the reason."""


def _constant(storage: Row) -> Any:
    """Returns the value that fills a storage, None if the kernel overwrites it without reading it. CannotLaunch: it holds numbers."""
    kind = storage.get("recipe", {}).get("kind")
    if kind == "poison":
        return None
    if kind == "constant":
        return storage["recipe"]["value"]
    raise CannotLaunch("unbound_input")


def _stands_alone(tensor: Tensor, case: TaskCase) -> bool:
    """Says whether a tensor is all of its storage, in order, is only read, and no other tensor looks at it."""
    expected, size = [], 1
    for length in reversed(tensor.shape):
        expected.append(size)
        size *= length
    shares = sum(each.storage == tensor.storage for each in case.tensors())
    return (shares == 1 and tensor.storage not in case.after and tensor.offset == 0 and list(tensor.strides) == expected[::-1])


def describe(case: TaskCase, given: Iterable[str]) -> Row:
    """Returns the specification of a case's launch, in literals. `given`: arguments that the interface gives. CannotLaunch: an
    argument is neither given nor known."""
    given = set(given)
    tensors = {each.name: each for each in case.tensors()}
    arguments: dict[str, tuple[str, Any]] = {}
    filled: list[tuple[str, Any]] = []
    needed: set[int] = set()
    for row in case.case.row["arguments"]:
        name = str(row["name"])
        tensor = tensors.get(name)
        if tensor is not None and name in given and _stands_alone(tensor, case):
            arguments[name] = ("given", name)
        elif tensor is not None:
            view = (tensor.storage, tensor.shape, tensor.strides, tensor.offset)
            arguments[name] = ("tensor", view)
            needed.add(tensor.storage)
            if name in given:
                filled.append((name, view))
        else:
            arguments[name] = ("given", name) if name in given else _literal(row)
    covered = {view[0] for _, view in filled}
    storages = [_storage(place, case, place in covered) if place in needed else None for place in range(len(case.before))]
    written = [each.name for each in case.tensors() if each.storage in case.after]
    return {"grid": list(case.case.row["grid"]), "options": dict(case.case.row["options"]), "storages": storages, "filled": filled,
            "arguments": arguments, "written": written}


def _storage(place: int, case: TaskCase, covered: bool) -> tuple[int, str, Any]:
    dtype = case.case.dtype_of(place)
    if dtype is None:
        raise CannotLaunch("storage_of_several_types")
    storage = case.case.storages[place]
    return int(storage["bytes"]) // elements.size(dtype), dtype, None if covered else _constant(storage)


def _literal(row: Row) -> tuple[str, Any]:
    if "tuple" in row:
        raise CannotLaunch("tuple_argument")
    if "scalar" in row:
        value = row["scalar"]["value"]
        infinite = row["scalar"]["type"] == "float" and not math.isfinite(float(value))
        return ("float", str(value)) if infinite else ("value", float(value) if row["scalar"]["type"] == "float" else value)
    if "constexpr" in row:
        import ast

        text = str(row["constexpr"])
        return ("language", text.removeprefix("tl.")) if text.startswith("tl.") else ("value", ast.literal_eval(text))
    return ("value", None)
