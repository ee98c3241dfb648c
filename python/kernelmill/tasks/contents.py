"""The cases of a task with their bytes: what is in the storages before the launch, and after it.

A row of tasks.jsonl holds recipes and hashes. A Source finds the bytes: a recipe gives them, or a folder of files that are named by
their SHA-256, such as the one beside an evidence file. Expected bytes that no folder has can be computed: see expected.py."""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.errors import DatasetError
from kernelmill.execution import elements, recipes
from kernelmill.execution.case import Case, Row, extent
from kernelmill.execution.elements import Array

TASKS, REFERENCES = "tasks.jsonl", "references.jsonl"


def read_rows(folder: pathlib.Path, name: str) -> Iterator[Row]:
    """Iterates over the rows of a dataset's file. DatasetError: it is missing or damaged."""
    file = folder / name
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    row: Row = json.loads(line)
                except ValueError as error:
                    raise DatasetError(f"{file}:{number}: {error}") from error
                yield row
    except OSError as error:
        raise DatasetError(f"{file}: {error.strerror}") from error


class Source:
    """Folders with files that are named by the SHA-256 of their bytes."""

    def __init__(self, folders: Iterable[pathlib.Path]) -> None:
        self._folders = tuple(folders)

    def get(self, digest: str) -> bytes | None:
        """Returns the bytes, or None if no folder has them. DatasetError: the file is damaged."""
        for folder in self._folders:
            path = folder / digest
            if path.is_file():
                data = path.read_bytes()
                if hashlib.sha256(data).hexdigest() != digest:
                    raise DatasetError(f"{path} is damaged: its SHA-256 does not match")
                return data
        return None


@dataclass(frozen=True)
class Tensor:
    """A tensor of a case: a view of the bytes of a storage, which other tensors may share."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int  # in elements
    storage: int

    @staticmethod
    def of(name: str, row: Row) -> Tensor:
        return Tensor(name, str(row["dtype"]), tuple(row["shape"]), tuple(row["strides"]), int(row["offset"]), int(row["storage"]))

    def raw(self, data: bytes) -> Array:
        """Returns the bits of the elements, in a numpy type of the same size."""
        low, high = extent({"offset": self.offset, "shape": self.shape, "strides": self.strides})
        size = elements.size(self.dtype)
        bits = numpy.frombuffer(data, numpy.uint8)[low * size:(high + 1) * size].copy().view(elements.BITS[self.dtype])
        if 0 in self.shape:
            return numpy.zeros(self.shape, elements.BITS[self.dtype])
        start = self.offset - low
        view: Array = numpy.lib.stride_tricks.as_strided(bits[start:], self.shape, [each * size for each in self.strides])
        return view

    def numpy(self, data: bytes) -> Array:
        """Returns the values. numpy has neither bfloat16 nor the types of 8 bits: these become float32, which holds all of them."""
        raw = self.raw(data)
        if self.dtype == "bool":
            return raw.astype(numpy.bool_)
        if self.dtype == "bfloat16" or self.dtype in elements.SMALL_FLOATS:
            values = elements.decode(numpy.ascontiguousarray(raw).reshape(-1).view(numpy.uint8), self.dtype)
            return values.reshape(self.shape).astype(numpy.float32)
        return raw

    def torch(self, data: bytes, device: str = "cpu") -> Any:
        """Returns a tensor of torch with the case's strides, on memory of its own."""
        import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

        whole = len(data) // elements.size(self.dtype) * elements.size(self.dtype)
        flat = torch.frombuffer(bytearray(data[:whole]), dtype=torch.uint8) if whole else torch.empty(0, dtype=torch.uint8)
        return flat.view(getattr(torch, self.dtype)).to(device).as_strided(self.shape, self.strides, self.offset)


@dataclass(frozen=True)
class TaskCase:
    """A case with the bytes of its storages. `after` has the storages that the kernel must change."""

    case: Case
    hidden: bool
    before: tuple[bytes, ...]
    after: dict[int, bytes]

    @property
    def id(self) -> str:
        return self.case.id

    def tensors(self) -> list[Tensor]:
        """Returns the tensors among the arguments, in their order; those of tuples are left out."""
        return [Tensor.of(str(each["name"]), each["tensor"]) for each in self.case.row["arguments"] if "tensor" in each]

    def inputs(self, form: str = "numpy", device: str = "cpu") -> dict[str, Any]:
        """Returns the arguments of the launch by name: tensors of `form` (numpy or torch), numbers, constexprs. Memory that the kernel
        must write without reading it holds NaN or -1."""
        values: dict[str, Any] = {}
        for each in self.case.row["arguments"]:
            values[str(each["name"])] = self._argument(each, form, device)
        return values

    def outputs(self, form: str = "numpy", device: str = "cpu") -> dict[str, Any]:
        """Returns what the tensors whose memory the kernel changes hold afterwards, by name."""
        return {each.name: self._tensor(each, self.after[each.storage], form, device) for each in self.tensors()
                if each.storage in self.after}

    def _argument(self, row: Row, form: str, device: str) -> Any:
        if "tensor" in row:
            tensor = Tensor.of(str(row["name"]), row["tensor"])
            return self._tensor(tensor, self.before[tensor.storage], form, device)
        return plain(row) if "tuple" not in row else tuple(self._argument({"name": "", **each}, form, device) for each in row["tuple"])

    @staticmethod
    def _tensor(tensor: Tensor, data: bytes, form: str, device: str) -> Any:
        if form not in ("numpy", "torch"):
            raise ValueError(f"form must be numpy or torch: {form}")
        return tensor.numpy(data) if form == "numpy" else tensor.torch(data, device)


def plain(argument: Row) -> Any:
    """Returns the value of an argument that is no tensor: a number, or a constexpr; a type of Triton as its text."""
    import ast

    if "scalar" in argument:
        scalar = argument["scalar"]
        return float(scalar["value"]) if scalar["type"] == "float" else scalar["value"]
    if "constexpr" in argument:
        text = str(argument["constexpr"])
        return text if text.startswith("tl.") else ast.literal_eval(text)
    return None


@dataclass(frozen=True)
class Bounds:
    """The bounds of a task's export. `bytes`: all cases of a task together, inputs and outputs."""

    bytes: int = 64 << 20


def case_rows(task: Row) -> Iterator[tuple[Case, bool]]:
    """Iterates over the cases of a task: those in its text, then the hidden ones. DatasetError: a case is damaged."""
    for field, hidden in (("cases", False), ("hidden_cases", True)):
        for each in task[field]:
            try:
                row = json.loads(each["evidence"])
            except ValueError as error:
                raise DatasetError(f"case {each.get('id', '?')}: {error}") from error
            yield Case(row).check(), hidden


def inputs_of(case: Case, source: Source) -> tuple[bytes, ...] | None:
    """Returns the bytes of the storages before the launch, or None if some are missing."""
    contents: list[bytes] = []
    for each in case.storages:
        data = recipes.fill(each["recipe"], each["bytes"]) if "recipe" in each else source.get(str(each["sha256"]))
        if data is None:
            return None
        if len(data) != each["bytes"]:
            raise DatasetError(f"case {case.id}: a storage has {len(data)} bytes, not {each['bytes']}")
        contents.append(data)
    return tuple(contents)


def case_bytes(case: Case) -> int:
    sizes = [int(each["bytes"]) for each in case.storages]
    return sum(sizes) + sum(sizes[place] for place in case.outputs)


def load_cases(task: Row, source: Source, bounds: Bounds = Bounds()) -> tuple[list[TaskCase], list[TaskCase], Counter[str]]:
    """Returns the cases of a task with all bytes, those that lack expected bytes (`after` is empty), and how many were left out by
    reason: `inputs_missing`, `too_large`."""
    whole: list[TaskCase] = []
    half: list[TaskCase] = []
    left: Counter[str] = Counter()
    budget = bounds.bytes
    for case, hidden in sorted(case_rows(task), key=lambda each: (case_bytes(each[0]), each[0].id)):
        if case_bytes(case) > budget:
            left["too_large"] += 1
            continue
        before = inputs_of(case, source)
        if before is None:
            left["inputs_missing"] += 1
            continue
        budget -= case_bytes(case)
        after = {place: source.get(digest) for place, digest in case.outputs.items()}
        found = {place: data for place, data in after.items() if data is not None}
        (whole if len(found) == len(after) else half).append(
            TaskCase(case, hidden, before, found if len(found) == len(after) else {}))
    return whole, half, left
