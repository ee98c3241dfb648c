"""Tasks in KernelBench's file form: level1/N_NAME.py with `Model`, `get_inputs` and `get_init_inputs`.

A problem has the shapes of one case. Its numbers are drawn by torch with the distribution of the case's recipes, as KernelBench expects
it: its checker seeds torch, and draws several times. The file holds the bytes of tensors that no recipe describes, such as indices. A problem needs
a bound reference. Level 1 is KernelBench's for single kernels, which all tasks are. `solutions` has the dataset's kernel as `ModelNew`."""

from __future__ import annotations

import base64
import pathlib
import pprint
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.execution import elements
from kernelmill.execution.case import Row
from kernelmill.tasks import launches
from kernelmill.tasks.contents import TaskCase, Tensor
from kernelmill.tasks.interface import Interface, contiguous
from kernelmill.tasks.launches import CannotLaunch

LITERAL_BYTES = 8192     # the most of a tensor that the file holds itself
EXACT = 1 << 24          # integers up to this size survive as float32, to which KernelBench casts all tensors
TAKEN = ("Model", "ModelNew", "get_inputs", "get_init_inputs")


class CannotSay(Exception):
    """A task has no such form. The message is the reason."""


def _drawn(tensor: Tensor, storage: Row, data: bytes) -> str:
    """Returns an expression that draws a tensor. CannotSay: a file cannot hold so many numbers."""
    recipe = storage.get("recipe", {})
    kind, shape = recipe.get("kind"), list(tensor.shape)
    dtype = f"torch.{tensor.dtype}"
    if recipe.get("dtype", tensor.dtype) != tensor.dtype:
        kind = None
    if kind == "normal":
        return f"(torch.randn({shape}) * {recipe['deviation']!r} + {recipe['mean']!r}).to({dtype})"
    if kind == "uniform":
        return f"(torch.rand({shape}) * {recipe['high'] - recipe['low']!r} + {recipe['low']!r}).to({dtype})"
    if kind == "integers":
        return f"torch.randint({recipe['low']}, {recipe['high']}, {shape}).to({dtype})"
    if kind == "constant":
        return f"torch.full({shape}, {recipe['value']!r}, dtype={dtype})"
    content = contiguous(tensor, data).tobytes()
    if len(content) > LITERAL_BYTES:
        raise CannotSay("inputs_by_content")
    packed = base64.b64encode(zlib.compress(content, 9)).decode()
    return f"_tensor({packed!r}, {dtype}, {shape})"


def problem(task: Row, interface: Interface, case: TaskCase) -> str:
    """Returns a problem. CannotSay."""
    assert interface.reference is not None
    module, function = interface.reference
    if any(re.search(rf"^(class|def) {name}\b|^{name}\s*=", module, re.MULTILINE) for name in TAKEN):
        raise CannotSay("name_taken")
    drawn: list[str] = []
    arguments: list[str] = []
    parameters: list[str] = []
    for each in interface.inputs:
        value = interface.value(case, each.argument)
        if not isinstance(value, Tensor):
            arguments.append(f"{each.name}={value!r}")
            continue
        data = case.before[value.storage]
        drawn.append(_drawn(value, case.case.storages[value.storage], data))
        parameters.append(each.name)
        arguments.append(f"{each.name}={each.name}" + _cast(value, data))
    literal = any(each.startswith("_tensor(") for each in drawn)
    inputs = ",\n        ".join(drawn)
    names = ", ".join(parameters)
    [(_, output)] = interface.outputs
    back = _back(interface, case) or f".to(torch.{_tensor_of(case, output).dtype})"
    return f'''# {_where(task)}
# Licence: {task["license"]}. Made by kernelmill export-tasks of case {case.id}.
# Precision: {_precision(interface, case)}
{module.rstrip()}


import torch
import torch.nn as nn

_kernelmill_reference = {function}


class Model(nn.Module):
    """Computes what the kernel {task["name"]} does, as the test of its repository does."""

    def forward(self, {names}):
        result = _kernelmill_reference({", ".join(arguments)})
        return (result[0] if isinstance(result, (tuple, list)) else result){back}

{_TENSOR if literal else ""}
def get_inputs():
    return [
        {inputs}]


def get_init_inputs():
    return []
'''


_TENSOR = '''
def _tensor(text, dtype, shape):
    """Returns a tensor whose bytes stand in this file."""
    import base64
    import zlib

    return torch.frombuffer(bytearray(zlib.decompress(base64.b64decode(text))), dtype=torch.uint8).view(dtype).reshape(shape)

'''


def _cast(tensor: Tensor, data: bytes) -> str:
    """Returns the cast back to a type that is no floating-point one. CannotSay: numbers would be lost."""
    if elements.is_float(tensor.dtype):
        return ""
    values = contiguous(tensor, data)
    if values.size and int(numpy.abs(values.astype(numpy.int64)).max()) > EXACT:
        raise CannotSay("large_integers")
    return f".to(torch.{tensor.dtype})"


def solution(task: Row, interface: Interface, case: TaskCase) -> str:
    """Returns the dataset's kernel as `ModelNew`. CannotLaunch."""
    tensors = [each for each in interface.inputs if isinstance(interface.value(case, each.argument), Tensor)]
    spec = launches.describe(case, [each.argument for each in tensors])
    names = ", ".join(each.name for each in tensors)
    casts = {each.name: f".to(torch.{interface.value(case, each.argument).dtype})" for each in tensors}
    given = ", ".join(f"{each.argument!r}: {each.name}{casts[each.name]}" for each in tensors)
    [(_, output)], [shape] = interface.outputs, interface.output_shapes(case)
    return f'''# {_where(task)}
# Licence: {task["license"]}. Made by kernelmill export-tasks of case {case.id}.
# Precision: {_precision(interface, case)}
{str(task["module"]).rstrip()}

{launches.CODE}

import torch
import torch.nn as nn

_KERNELMILL_LAUNCH = {pprint.pformat(spec, width=120, sort_dicts=False)}


class ModelNew(nn.Module):
    def forward(self, {names}):
        written = _kernelmill_launch({task["name"]}, _KERNELMILL_LAUNCH, {{{given}}})
        return written[{output!r}].reshape({list(shape)}){_back(interface, case)}
'''


def _back(interface: Interface, case: TaskCase) -> str:
    """Returns the cast of a result to the type that KernelBench gives to all floating-point inputs, or nothing. Its checker
    compares results of one type alone, and references of some tests compute in float64."""
    [(_, output)] = interface.outputs
    floats = [each.name for each in interface.inputs if isinstance(value := interface.value(case, each.argument), Tensor)
              and elements.is_float(value.dtype)]
    return f".to({floats[0]}.dtype)" if floats and elements.is_float(_tensor_of(case, output).dtype) else ""


def _tensor_of(case: TaskCase, name: str) -> Tensor:
    return next(each for each in case.tensors() if each.name == name)


def _precision(interface: Interface, case: TaskCase) -> str:
    """Returns KernelBench's word for the type of the numbers: its checker casts all tensors to the one that it is given."""
    types = {value.dtype for each in interface.inputs if isinstance(value := interface.value(case, each.argument), Tensor)}
    return next((word for dtype, word in (("float16", "fp16"), ("bfloat16", "bf16")) if dtype in types), "fp32")


def _where(task: Row) -> str:
    return " ".join(str(task["url"] or f"{task['repository']} {task['path']}").split())


@dataclass(frozen=True)
class Problem:
    """A problem: its text, and the case whose shapes it has."""

    text: str
    case: TaskCase


def make_problem(task: Row, interface: Interface, cases: Sequence[TaskCase]) -> Problem:
    """Returns the problem of the largest case that can be said. CannotSay: none can; the message is the reason of the last."""
    if len(interface.outputs) != 1:
        raise CannotSay("several_outputs")
    reason = "no_case"
    # float32 first: it is what KernelBench casts to unless told otherwise.
    for case in sorted(reversed(cases), key=lambda case: _precision(interface, case) != "fp32"):
        if not any(isinstance(interface.value(case, each.argument), Tensor) for each in interface.inputs):
            reason = "no_input_tensor"
            continue
        try:
            return Problem(problem(task, interface, case), case)
        except CannotSay as error:
            reason = str(error)
    raise CannotSay(reason)


class Writer:
    """Writes a folder. `left` counts what could not be said, by reason."""

    def __init__(self, out: pathlib.Path) -> None:
        self._out = out
        self._next = 1
        self.left: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()

    def add(self, task: Row, interface: Interface, cases: Sequence[TaskCase]) -> str:
        """Adds a problem. Returns the reason if that fails, or nothing."""
        try:
            made = make_problem(task, interface, cases)
        except CannotSay as error:
            return str(error)
        self._write(task, interface, made.case, made.text)
        return ""

    def _write(self, task: Row, interface: Interface, case: TaskCase, text: str) -> None:
        name = f"{self._next}_{re.sub(r'[^A-Za-z0-9_]', '_', str(task['name']))}.py"
        self._next += 1
        files: list[tuple[str, Any]] = [("level1", text)]
        try:
            files.append(("solutions/level1", solution(task, interface, case)))
            self.counts["solutions"] += 1
        except CannotLaunch as error:
            self.left[f"solution:{error}"] += 1
        for folder, content in files:
            (self._out / folder).mkdir(parents=True, exist_ok=True)
            (self._out / folder / name).write_text(content, encoding="utf-8")
        self.counts["problems"] += 1
