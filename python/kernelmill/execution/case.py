"""A case: the inputs of one launch of a kernel, and what the kernel made of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kernelmill.errors import DatasetError
from kernelmill.execution import elements, recipes

Row = dict[str, Any]

MOST_BYTES = 1 << 31   # all storages together
MOST_PROGRAMS = 1 << 20
# Environment variables that change the code that Triton makes: a case has those of its launch, and no others hold when it runs.
CODE_VARIABLES = ("TRITON_F32_DEFAULT", "TRITON_DEFAULT_FP_FUSION", "DISABLE_LLVM_OPT")
TENSOR_KEYS = {"dtype", "shape", "strides", "offset", "storage"}


def canonical(row: Row) -> str:
    return json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_id(row: Row) -> str:
    """Returns the SHA-256 of a row without `id` and `origin`."""
    return hashlib.sha256(canonical({key: value for key, value in row.items() if key not in ("id", "origin")}).encode()).hexdigest()


@dataclass(frozen=True)
class Case:
    """A row of type `case`. Tensors are views of storages; `offset` counts elements from a storage's start."""

    row: Row

    @staticmethod
    def make(**fields: Any) -> Case:
        row: Row = {"type": "case", **fields}
        return Case({**row, "id": content_id(row)})

    @property
    def id(self) -> str:
        return str(self.row["id"])

    @property
    def module_sha256(self) -> str:
        return str(self.row["module_sha256"])

    @property
    def kernel(self) -> str:
        return str(self.row["kernel"])

    @property
    def storages(self) -> list[Row]:
        return list(self.row["storages"])

    @property
    def outputs(self) -> dict[int, str]:
        """Returns {storage: SHA-256 of its bytes afterwards}."""
        return {int(each["storage"]): str(each["sha256"]) for each in self.row["outputs"]}

    def with_outputs(self, outputs: dict[int, str], origin: Row) -> Case:
        fields = {key: value for key, value in self.row.items() if key not in ("id", "type")}
        rows = [{"storage": place, "sha256": digest} for place, digest in sorted(outputs.items())]
        return Case.make(**{**fields, "outputs": rows, "origin": origin})

    def tensors(self) -> Iterator[Row]:
        yield from _tensors(self.row["arguments"])

    def dtype_of(self, storage: int) -> str | None:
        """Returns the element type of a storage, or None if tensors of several types share it."""
        types = {str(each["dtype"]) for each in self.tensors() if each["storage"] == storage}
        return types.pop() if len(types) == 1 else None

    def check(self) -> Case:
        """Raises DatasetError unless the row is a case whose tensors lie in their storages."""
        try:
            _check(self.row)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise DatasetError(f"case {self.row.get('id', '?')}: {error or type(error).__name__}") from error
        return self


def _tensors(arguments: list[Row]) -> Iterator[Row]:
    for each in arguments:
        if "tensor" in each:
            yield each["tensor"]
        elif "tuple" in each:
            yield from _tensors(each["tuple"])


def extent(tensor: Row) -> tuple[int, int]:
    """Returns the first and the last element of a tensor in its storage; the last is less than the first if it is empty."""
    low = high = int(tensor["offset"])
    if 0 in tensor["shape"]:
        return low, low - 1
    for length, stride in zip(tensor["shape"], tensor["strides"]):
        reach = (int(length) - 1) * int(stride)
        low, high = low + min(0, reach), high + max(0, reach)
    return low, high


def _check(row: Row) -> None:
    if row["type"] != "case" or row["id"] != content_id(row):
        raise ValueError("its id is not that of its content")
    sizes = [int(each["bytes"]) for each in row["storages"]]
    if min(sizes, default=0) < 0 or sum(sizes) > MOST_BYTES:
        raise ValueError(f"its storages must have at most {MOST_BYTES} bytes")
    for each in row["storages"]:
        if ("recipe" in each) == ("sha256" in each):
            raise ValueError("a storage must have a recipe or a SHA-256")
        if "recipe" in each:
            recipes.fill(each["recipe"], 0)
    for tensor in _tensors(row["arguments"]):
        if set(tensor) != TENSOR_KEYS or len(tensor["shape"]) != len(tensor["strides"]):
            raise ValueError("a tensor must have dtype, shape, strides, offset and storage")
        low, high = extent(tensor)
        if low < 0 or (high + 1) * elements.size(tensor["dtype"]) > sizes[tensor["storage"]]:
            raise ValueError("a tensor lies outside its storage")
    grid = row["grid"]
    programs = 1
    for length in grid:
        programs *= int(length)
    if len(grid) != 3 or min(grid) < 0 or programs > MOST_PROGRAMS:
        raise ValueError(f"its grid must be three numbers with a product of at most {MOST_PROGRAMS}")
    if not row["outputs"] or any(not 0 <= int(each["storage"]) < len(sizes) for each in row["outputs"]):
        raise ValueError("it needs outputs")
    if not all(name in CODE_VARIABLES and isinstance(value, str) for name, value in row["environment"].items()):
        raise ValueError(f"its environment may have {', '.join(CODE_VARIABLES)}")
    if not all(name in elements.BITS and 0 <= value <= 1 for name, value in row["tolerance"].items()):
        raise ValueError("its tolerance must be a share for a type")
    if not isinstance(row["kernel"], str) or not isinstance(row["module_sha256"], str):
        raise ValueError("it must name its kernel")
