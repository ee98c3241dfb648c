"""Tasks as a FlashInfer-Trace dataset: definitions, solutions, workloads and traces, with tensors as safetensors.

A definition has the reference where one is bound; else the kernel is its own reference, and the tag `reference:kernel` says so. Cases of
a task that differ in types, constexprs or the number of axes get definitions of their own. The solution is the dataset's kernel, by the
author `baseline`: it makes the launches that the cases have. A trace needs a time, so only cases with a measured speed have one.

A kernel that was timed on a grown case has a workload of that size, whose inputs are drawn by the one who runs it: `random`."""

from __future__ import annotations

import json
import pathlib
import pprint
import re
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kernelmill.execution import elements, growth
from kernelmill.execution.case import Row, canonical
from kernelmill.tasks import launches
from kernelmill.tasks.contents import TaskCase, Tensor, plain
from kernelmill.tasks.interface import Interface, contiguous, is_finite
from kernelmill.tasks.launches import CannotLaunch

DTYPES = {"float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int64", "int32", "int16", "int8", "bool"}
SAFE = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
        "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL"}
AUTHOR = "baseline"


def safetensors(tensors: dict[str, tuple[Tensor, bytes]]) -> bytes:
    """Returns a file of the safetensors format."""
    head: dict[str, Any] = {}
    parts: list[bytes] = []
    at = 0
    for name, (tensor, data) in sorted(tensors.items()):
        content = contiguous(tensor, data).tobytes()
        head[name] = {"dtype": SAFE[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + len(content)]}
        parts.append(content)
        at += len(content)
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


@dataclass(frozen=True)
class GrownCase(TaskCase):
    """A case that fills a device, without bytes. `base`: the recorded one; `steps`: as the speed has them."""

    base: str = ""
    steps: str = ""


def grown_cases(task: Row, interface: Interface | None, cases: Sequence[TaskCase]) -> list[GrownCase]:
    """Returns the grown cases on which a task was timed, where normal numbers can be drawn for all input tensors."""
    known = {case.id: case for case in cases}
    found: dict[str, GrownCase] = {}
    for speed in task["speed"]:
        base = known.get(str(speed["case_id"]))
        if base is None or not speed.get("grown"):
            continue
        case = growth.regrow(base.case, json.loads(speed["grown"]))
        own = interface or Interface.own(base)
        if case is None or own.output_shapes(base) != Interface(own.inputs, own.outputs).output_shapes(base):
            continue  # the shapes of the reference's results are known for recorded cases only
        grown = GrownCase(case, True, (b"",) * len(base.before), dict.fromkeys(base.after, b""), base.id, str(speed["grown"]))
        tensors = [value for each in own.inputs if isinstance(value := own.value(grown, each.argument), Tensor)]
        recipes = [(each, case.storages[each.storage].get("recipe", {})) for each in tensors]
        if all(elements.is_float(each.dtype) and recipe.get("kind") == "normal" for each, recipe in recipes):
            found[case.id] = grown
    return list(found.values())


@dataclass(frozen=True)
class Group:
    """Cases that one definition serves."""

    interface: Interface
    cases: tuple[TaskCase, ...]


def _form(case: TaskCase, interface: Interface) -> str:
    """Returns what cases of one definition have in common."""
    given = {each.argument for each in interface.inputs}
    tensors = {each.name: each for each in case.tensors()}
    rows: list[Any] = []
    for row in case.case.row["arguments"]:
        name = str(row["name"])
        if name in tensors:
            rows.append([name, tensors[name].dtype, len(tensors[name].shape), tensors[name].storage in case.after])
        elif "constexpr" in row and not str(row["constexpr"]).isdigit():
            rows.append([name, str(row["constexpr"])])
        else:
            rows.append([name, name in given, type(plain(row)).__name__ if "tuple" not in row else "tuple"])
    return json.dumps(rows)


def _key(case: TaskCase, interface: Interface) -> tuple[Any, ...]:
    """Returns what tells a case's launch from others of a definition: shapes and numbers."""
    values = [interface.value(case, each.argument) for each in interface.inputs]
    return tuple(each.shape if isinstance(each, Tensor) else each for each in values)


def _axes(group: Group) -> tuple[Row, dict[str, list[str]], list[Row]] | None:
    """Returns the axes, the axes of each input and output, and the values of variable axes by case. None: a variable axis is in no
    input, which could tell it."""
    interface = group.interface
    lengths: dict[tuple[int, ...], str] = {}
    shapes: dict[str, list[str]] = {}
    axes: Row = {}
    columns: list[tuple[str, list[Sequence[int]], bool]] = []
    for each in interface.inputs:
        tensors = [interface.value(case, each.argument) for case in group.cases]
        if isinstance(tensors[0], Tensor):
            columns.append((each.name, [tensor.shape for tensor in tensors], True))
    for place, (name, _) in enumerate(interface.outputs):
        columns.append((name, [interface.output_shapes(case)[place] for case in group.cases], False))
    for name, by_case, is_input in columns:
        if len({len(shape) for shape in by_case}) > 1:
            return None
        shapes[name] = []
        for place in range(len(by_case[0])):
            column = tuple(int(shape[place]) for shape in by_case)
            if column not in lengths:
                constant = len(set(column)) == 1
                if not constant and not is_input:
                    return None
                lengths[column] = f"{name}_{place}"
                text = f"axis {place} of {name}"
                axes[lengths[column]] = {"type": "const", "value": column[0], "description": text} if constant else {
                    "type": "var", "description": text}
            shapes[name].append(lengths[column])
    names = {axis: column for column, axis in lengths.items()}
    values = [{axis: names[axis][place] for axis, spec in axes.items() if spec["type"] == "var"} for place in range(len(group.cases))]
    return axes, shapes, values


def _divide(interface: Interface, cases: Sequence[TaskCase]) -> list[Group]:
    """Divides cases into groups that a definition can serve."""
    groups: dict[str, list[list[TaskCase]]] = {}
    for case in cases:
        own = interface if interface.reference else Interface.own(case)
        parts = groups.setdefault(_form(case, own) + json.dumps([each.name for each in own.inputs]), [])
        # A launch is found by shapes and numbers, so two that differ in others need definitions of their own.
        part = next((part for part in parts if all(_key(each, own) != _key(case, own) or _same_launch(each, case) for each in part)), None)
        if part is None:
            parts.append([case])
        else:
            part.append(case)
    divided: list[Group] = []
    for parts in groups.values():
        for part in parts:
            group = Group(interface if interface.reference else Interface.own(part[0]), tuple(part))
            divided += [group] if _axes(group) is not None else [Group(group.interface, (case,)) for case in part]
    return divided


def _same_launch(one: TaskCase, other: TaskCase) -> bool:
    keys = ("grid", "options")
    constexprs = [[row for row in case.case.row["arguments"] if "constexpr" in row] for case in (one, other)]
    return all(one.case.row[key] == other.case.row[key] for key in keys) and constexprs[0] == constexprs[1]


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int32" if -(1 << 31) <= value < 1 << 31 else "int64"
    return "float32"


def solution_code(module: str, kernel: str, group: Group) -> str:
    """Returns a module whose `run` makes the launches of a group's cases. CannotLaunch: a launch cannot be written."""
    interface = group.interface
    given = [each.argument for each in interface.inputs]
    table = {_key(case, interface): {**launches.describe(case, given), "shapes": [tuple(each) for each in interface.output_shapes(case)]}
             for case in group.cases}
    names = ", ".join(each.name for each in interface.inputs)
    values = ", ".join(f"{each.argument!r}: {each.name}" for each in interface.inputs)
    outputs = [tensor for _, tensor in interface.outputs]
    return f"""{module.rstrip()}

{launches.CODE}

# By the shapes and numbers of the inputs: the launches of the cases.
_KERNELMILL_LAUNCHES = {pprint.pformat(table, width=120, sort_dicts=False)}


def run({names}):
    given = {{{values}}}
    key = tuple(tuple(each.shape) if hasattr(each, "shape") else each for each in given.values())
    if key not in _KERNELMILL_LAUNCHES:
        raise ValueError(f"no launch was recorded for {{key}}")
    launch = _KERNELMILL_LAUNCHES[key]
    written = _kernelmill_launch({kernel}, launch, given)
    results = tuple(written[name].reshape(shape) for name, shape in zip({outputs!r}, launch["shapes"]))
    return results[0] if len(results) == 1 else results
"""


def reference_code(interface: Interface) -> str:
    """Returns the module of a bound reference with the function `run`."""
    assert interface.reference is not None
    module, function = interface.reference
    names = ", ".join(each.name for each in interface.inputs)
    values = ", ".join(f"{each.name}={each.name}" for each in interface.inputs)
    return f"{module.rstrip()}\n\n\n_kernelmill_reference = {function}\n\n\ndef run({names}):\n    return _kernelmill_reference({values})\n"


class Writer:
    """Writes a folder. `left` counts the cases that could not be said, by reason."""

    def __init__(self, out: pathlib.Path) -> None:
        self._out = out
        self.left: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()

    def add(self, task: Row, tags: Sequence[str], interface: Interface | None, cases: Sequence[TaskCase]) -> bool:
        """Adds a task. Returns False if none of its cases could be said."""
        kept = [case for case in cases if self._fits(case, interface)]
        kept += grown_cases(task, interface, kept)
        added = 0
        for group in _divide(interface or Interface((), ()), kept):
            code = None
            try:
                code = solution_code(str(task["module"]), str(task["name"]), group)
            except CannotLaunch as error:
                if not group.interface.reference:
                    self.left[str(error)] += len(group.cases)
                    continue
                self.left[f"solution:{error}"] += 1  # the reference tells what to compute without it
            self._write_group(task, tags, group, code, added)
            added += 1
        return added > 0

    def _fits(self, case: TaskCase, interface: Interface | None) -> bool:
        own = interface or Interface.own(case)
        values = [own.value(case, each.argument) for each in own.inputs]
        tensors = {each.name: each for each in case.tensors()}
        types = [each.dtype for each in values if isinstance(each, Tensor)] + [tensors[name].dtype for _, name in own.outputs]
        reason = ""
        if any("tuple" in row for row in case.case.row["arguments"]):
            reason = "tuple_argument"
        elif not any(isinstance(each, Tensor) for each in values):
            reason = "no_input_tensor"
        elif any(each not in DTYPES for each in types):
            reason = "type_without_a_name"
        elif any(value is None or isinstance(value, str) for value in values):
            reason = "input_without_a_type"
        elif not is_finite(case, [name for _, name in own.outputs]):
            reason = "not_finite"  # the evaluator refuses such results
        if reason:
            self.left[reason] += 1
        return not reason

    def _write_group(self, task: Row, tags: Sequence[str], group: Group, code: str | None, number: int) -> None:
        found = _axes(group)
        assert found is not None
        axes, shapes, values = found
        interface = group.interface
        kind = re.sub(r"\W", "_", tags[0]) if tags else "other"
        name = f"{re.sub(r'[^A-Za-z0-9_]', '_', str(task['name']))}_{str(task['id'])[:8]}" + (f"_{number}" if number else "")
        tensors = {each.name: each for each in group.cases[0].tensors()}
        inputs: Row = {}
        for each in interface.inputs:
            value = interface.value(group.cases[0], each.argument)
            is_tensor = isinstance(value, Tensor)
            inputs[each.name] = {"shape": shapes[each.name] if is_tensor else None, "dtype": value.dtype if is_tensor else self._widest(
                [_scalar(interface.value(case, each.argument)) for case in group.cases]),
                "description": f"the kernel's argument {each.argument}"}
        outputs = {output: {"shape": shapes[output], "dtype": tensors[tensor].dtype, "description": f"the kernel writes it to {tensor}"}
                   for output, tensor in interface.outputs}
        says = "reference:torch" if interface.reference else "reference:kernel"
        self._json(f"definitions/{kind}/{name}.json", {
            "name": name, "op_type": kind, "tags": [says, *tags], "description": _describe(task, interface), "axes": axes,
            "inputs": inputs, "outputs": outputs, "constraints": [],
            "reference": reference_code(interface) if interface.reference else code})
        if code is not None:
            self._json(f"solutions/{AUTHOR}/{kind}/{name}/{name}_triton.json", {
                "name": f"{name}_triton", "definition": name, "author": AUTHOR, "description": _describe(task, interface),
                "spec": {"language": "triton", "target_hardware": ["cuda"], "entry_point": "main.py::run",
                         "dependencies": ["torch", "triton"], "destination_passing_style": False},
                "sources": [{"path": "main.py", "content": code}]})
        workloads = [self._workload(kind, name, interface, case, axis) for case, axis in zip(group.cases, values)]
        self._lines(f"workloads/{kind}/{name}.jsonl", [{"definition": name, "workload": each} for each in workloads])
        pairs = zip(group.cases, workloads) if code is not None else ()
        traces = [trace for case, each in pairs for trace in _traces(task, case, name, each)]
        if traces:
            self._lines(f"traces/{AUTHOR}/{kind}/{name}.jsonl", traces)
        grown = sum(isinstance(case, GrownCase) for case in group.cases)
        self.counts.update(definitions=1, solutions=int(code is not None), workloads=len(workloads) - grown, grown_workloads=grown,
                           traces=len(traces), **{says.replace(":", "_"): 1})

    @staticmethod
    def _widest(types: list[str]) -> str:
        return next(each for each in ("float32", "int64", "int32", "bool") if each in types)

    def _workload(self, kind: str, name: str, interface: Interface, case: TaskCase, axes: Row) -> Row:
        path = f"blob/workloads/{kind}/{name}/{name}_{case.id[:32]}.safetensors"
        tensors: dict[str, tuple[Tensor, bytes]] = {}
        inputs: Row = {}
        for each in interface.inputs:
            value = interface.value(case, each.argument)
            if isinstance(value, Tensor) and isinstance(case, GrownCase):
                inputs[each.name] = {"type": "random"}
            elif isinstance(value, Tensor):
                tensors[each.name] = (value, case.before[value.storage])
                inputs[each.name] = {"type": "safetensors", "path": path, "tensor_key": each.name}
            else:
                inputs[each.name] = {"type": "scalar", "value": value}
        if tensors:
            self._bytes(path, safetensors(tensors))
        return {"uuid": case.id[:32], "axes": axes, "inputs": inputs}

    def _json(self, path: str, value: Row) -> None:
        self._bytes(path, json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n")

    def _lines(self, path: str, rows: Sequence[Row]) -> None:
        self._bytes(path, "".join(canonical(each) + "\n" for each in rows).encode())

    def _bytes(self, path: str, data: bytes) -> None:
        (self._out / path).parent.mkdir(parents=True, exist_ok=True)
        (self._out / path).write_bytes(data)


def _describe(task: Row, interface: Interface) -> str:
    where = task["url"] or f"{task['repository']} {task['path']}"
    held = "a test compares it with this reference" if interface.reference else "the kernel is its own reference"
    return f"{task['qualname']} of {where} ({task['license']}); {held}"


def _traces(task: Row, case: TaskCase, definition: str, workload: Row) -> list[Row]:
    """Returns the traces of a case: one for each device on which its speed was measured."""
    outcomes = {(each["device"], each["toolchain"]): each for each in task["outcomes"]}
    traces = []
    for speed in task["speed"]:
        outcome = outcomes.get((speed["device"], speed["toolchain"]))
        timed = (case.base, case.steps) if isinstance(case, GrownCase) else (case.id, "")
        if (speed["case_id"], speed.get("grown") or "") != timed or outcome is None:
            continue
        eager = speed["eager_us"] or 0.0
        traces.append({"definition": definition, "workload": workload, "solution": f"{definition}_triton", "evaluation": {
            "status": "PASSED", "timestamp": "unknown", "log": "",
            "environment": {"hardware": speed.get("hardware") or speed["device"], "libs": {"toolchain": speed["toolchain"]}},
            "correctness": {"max_relative_error": outcome["relative"], "max_absolute_error": outcome["absolute"]},
            "performance": {"latency_ms": speed["median_us"] / 1000, "reference_latency_ms": eager / 1000,
                            "speedup_factor": eager / speed["median_us"] if speed["median_us"] else 0.0}}})
    return traces
