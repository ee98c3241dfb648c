"""The least time that a GPU needs for a case: its bytes by the memory's bandwidth, or its operations by the peak rate."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelmill.execution import elements
from kernelmill.execution.case import Case, Row
from kernelmill.execution.mutants import reachable_functions


@dataclass(frozen=True)
class Peaks:
    """The peaks of a device: bytes and, by element type, operations of dense matrix products, each a second."""

    bandwidth: float
    operations: dict[str, float] = field(default_factory=dict)


_HOPPER = {"float64": 67e12, "float32": 494.7e12, "float16": 989.4e12, "bfloat16": 989.4e12, "float8_e4m3fn": 1978.9e12,
           "float8_e5m2": 1978.9e12, "int8": 1978.9e12}
_AMPERE = {"float64": 19.5e12, "float32": 156e12, "float16": 312e12, "bfloat16": 312e12, "int8": 624e12}
# By the device's name, as the driver has it. float32 is TF32, which Triton's dot uses. Source: NVIDIA's data sheets of the H100, H200 and
# A100 (their rates "with sparsity" are halved), and for the H100 the white paper of its architecture.
PEAKS = {
    "NVIDIA H100 80GB HBM3": Peaks(3.35e12, _HOPPER),
    "NVIDIA H100 PCIe": Peaks(2.0e12, {"float64": 51e12, "float32": 378e12, "float16": 756e12, "bfloat16": 756e12,
                                       "float8_e4m3fn": 1513e12, "float8_e5m2": 1513e12, "int8": 1513e12}),
    "NVIDIA H200": Peaks(4.8e12, _HOPPER),
    "NVIDIA A100-SXM4-80GB": Peaks(2.039e12, _AMPERE),
    "NVIDIA A100-SXM4-40GB": Peaks(1.555e12, _AMPERE),
    "NVIDIA A100 80GB PCIe": Peaks(1.935e12, _AMPERE),
}
MOST_SHARE = 1.02  # a kernel that seems to be faster does not move all of its tensors


def count_bytes(case: Case) -> int:
    """Returns the bytes of tensors that a launch must move: each is read once or written once, or both if it changes what it read."""
    moved = 0
    for place, storage in enumerate(case.storages):
        views = [view for view in case.tensors() if view["storage"] == place]
        held = sum(math.prod(length for length, stride in zip(view["shape"], view["strides"]) if stride) * elements.size(view["dtype"])
                   for view in views)
        held = min(held, int(storage["bytes"]))
        reads = storage.get("recipe", {}).get("kind") != "poison"
        moved += held * (int(reads) + int(place in case.outputs))
    return moved


def multiplies_matrices(module: str, kernel: str) -> bool:
    """Says whether the kernel, or a function that it calls, has a matrix product."""
    try:
        functions = reachable_functions(ast.parse(module), kernel)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(isinstance(node, ast.Call) and (node.func.attr if isinstance(node.func, ast.Attribute) else
                                               getattr(node.func, "id", "")) in ("dot", "dot_scaled")
               for function in functions for node in ast.walk(function))


def count_operations(case: Case) -> tuple[int, str] | None:
    """Returns the operations of a case that is one product of two matrices, or of a batch of them, and their type. None: it is not
    plainly one."""
    read = [view for view in case.tensors() if len(view["shape"]) >= 2 and view["storage"] not in case.outputs
            and case.storages[view["storage"]].get("recipe", {}).get("kind") != "poison"]
    written = [view for view in case.tensors() if view["storage"] in case.outputs]
    if len(read) != 2 or len(written) != 1 or read[0]["dtype"] != read[1]["dtype"]:
        return None
    shapes = [[int(each) for each in view["shape"]] for view in (*read, *written)]
    if len({tuple(shape[:-2]) for shape in shapes}) != 1:
        return None
    (a, b), (rows, columns) = [_last_two(shape) for shape in shapes[:2]], shapes[2][-2:]
    inner = [(x, y) for x in (0, 1) for y in (0, 1) if a[x] == b[y] and (a[1 - x], b[1 - y]) == (rows, columns)]
    lengths = {a[x] for x, _ in inner}
    if len(lengths) != 1:
        return None
    return 2 * math.prod(shapes[0][:-2]) * rows * columns * lengths.pop(), str(read[0]["dtype"])


def _last_two(shape: Sequence[int]) -> tuple[int, int]:
    """Returns the last two dimensions."""
    return shape[-2], shape[-1]


def account(case: Case, module: str, median_us: float, hardware: str) -> Row:
    """Returns what a launch moves and computes, and the share of the roofline that it reaches. Null: it is not known."""
    moved, counted = count_bytes(case), count_operations(case) if multiplies_matrices(module, case.kernel) else None
    row: Row = {"bytes": moved, "operations": counted[0] if counted else None, "roofline": None, "bound": ""}
    peaks = PEAKS.get(hardware)
    if peaks is None or (counted is None and multiplies_matrices(module, case.kernel)):
        return row
    least = {"memory": moved / peaks.bandwidth}
    if counted is not None:
        if counted[1] not in peaks.operations:
            return row
        least["compute"] = counted[0] / peaks.operations[counted[1]]
    bound = max(least, key=lambda each: least[each])
    share = least[bound] * 1e6 / median_us
    return {**row, "roofline": round(share, 4), "bound": bound} if share <= MOST_SHARE else row
