"""An interface of a task: the inputs and outputs by which other programs call its kernel and its reference.

With a binding, these are the reference's parameters and results. Without one they are the kernel's own tensors and numbers, and the
kernel is its own reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.execution import elements
from kernelmill.execution.elements import Array
from kernelmill.tasks.contents import TaskCase, Tensor, plain
from kernelmill.tasks.references import Binding, readable


@dataclass(frozen=True)
class Input:
    """An input: the parameter's name, and the kernel's argument that gives its value."""

    name: str
    argument: str


@dataclass(frozen=True)
class Interface:
    """`reference` is the code of the reference and its function's name; empty where the kernel is its own."""

    inputs: tuple[Input, ...]
    outputs: tuple[tuple[str, str], ...]  # name, tensor of the kernel
    reference: tuple[str, str] | None = None
    shapes: dict[str, list[list[int]]] = field(default_factory=dict)

    @staticmethod
    def bound(binding: Binding) -> Interface:
        names = {parameter for parameter, _ in binding.parameters}
        outputs = tuple((_free("output" if len(binding.outputs) == 1 else f"output_{place}", names), tensor)
                        for place, tensor in enumerate(binding.outputs))
        return Interface(tuple(Input(*each) for each in binding.parameters), outputs, (binding.module, binding.function), binding.shapes)

    @staticmethod
    def own(case: TaskCase) -> Interface:
        """The interface of a kernel without a binding."""
        tensors = {each.name for each in readable(case)}
        inputs = tuple(Input(str(each["name"]), str(each["name"])) for each in case.case.row["arguments"]
                       if str(each["name"]) in tensors or "scalar" in each)
        names = {each.name for each in inputs}
        outputs = tuple((_free(each.name, names), each.name) for each in case.tensors() if each.storage in case.after)
        return Interface(inputs, outputs)

    def value(self, case: TaskCase, name: str) -> Tensor | Any:
        """Returns a tensor of the case, or a plain value."""
        found = next((each for each in case.tensors() if each.name == name), None)
        return found if found is not None else plain(next(each for each in case.case.row["arguments"] if each["name"] == name))

    def output_shapes(self, case: TaskCase) -> list[list[int]]:
        if case.id in self.shapes:
            return self.shapes[case.id]
        tensors = {each.name: each for each in case.tensors()}
        return [list(tensors[name].shape) for _, name in self.outputs]


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_after"
    return name


def contiguous(tensor: Tensor, data: bytes) -> Array:
    """Returns the raw elements of a tensor, in order."""
    return numpy.ascontiguousarray(tensor.raw(data))


def is_finite(case: TaskCase, names: Sequence[str]) -> bool:
    """Says whether all numbers that tensors hold after the launch are finite."""
    tensors = {each.name: each for each in case.tensors()}
    return all(bool(numpy.isfinite(elements.decode(contiguous(tensors[name], case.after[tensors[name].storage]).reshape(-1).view(
        numpy.uint8), tensors[name].dtype)).all()) for name in names if elements.is_float(tensors[name].dtype))
