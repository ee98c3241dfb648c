"""Checks captures where there is a GPU: runs each graph in eager PyTorch and beside it the code that TorchInductor wrote, on the same
inputs, and writes into graph.json what came of it."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import contextlib
import importlib.util
import json
import pathlib
from collections.abc import Callable
from typing import Any

from kernelmill.capture import alone, graph_text, inputs, tracing, wrapper_text

# The largest difference that counts as close, relative to the largest number of a result: sums in another order, a few units in the
# last place of the type for each of many steps.
TOLERANCES = {"float64": 1e-9, "float32": 1e-3, "float16": 2e-2, "bfloat16": 5e-2}
# A result below this share of the others' median is rounding alone, of a sum that is zero (8 units in the last place of float32): the gradient
# of a bias before a softmax. Each way to sum it gives other digits.
ROUNDING = 1e-6
RANDOM = ("inductor_seeds", "inductor_random", "inductor_randint", ".rand.", ".randn.", "bernoulli", "native_dropout", "randint")
NOT_CHECKED = "not_checked"
UNNAMED = "gpu"  # the device of a check that its process could not name; the run of a graph's text has one of alone.PLACES


def list_graphs(folder: pathlib.Path) -> list[pathlib.Path]:
    """Returns the folders of graphs below a folder."""
    return sorted(path.parent for path in folder.rglob(tracing.ABOUT))


def check_graph(folder: pathlib.Path) -> dict[str, Any]:
    """Runs a graph and its wrapper on the GPU. Returns the check, which is added to the graph's description."""
    try:
        found = _compare_here(folder)
    except Exception as error:  # pylint: disable=broad-except  # whatever compilers and drivers raise
        found = {"status": "error", "message": f"{type(error).__name__}: {error}"[:500]}
    return add_check(folder, {**found, "device": _device()})


def add_check(folder: pathlib.Path, check: dict[str, Any]) -> dict[str, Any]:
    """Adds a check to a graph's description; an earlier one on the same device goes, and so does one that was not run."""
    about = json.loads((folder / tracing.ABOUT).read_text())
    others = [each for each in about["checks"] if each.get("device") not in (None, check["device"])]
    about["checks"] = [*others, check]
    temporary = folder / (tracing.ABOUT + ".new")
    temporary.write_text(json.dumps(about, indent=1) + "\n")
    temporary.replace(folder / tracing.ABOUT)
    return check


def _device() -> str:
    import torch

    with contextlib.suppress(Exception):
        return str(torch.cuda.get_device_name(0))
    return UNNAMED


def _compare_here(folder: pathlib.Path) -> dict[str, Any]:
    import torch
    from torch._inductor import config

    torch.backends.cudnn.allow_tf32 = False  # convolutions in another layout would differ in the fourth digit
    # The checks beside this one use the other cores.
    with config.patch(compile_threads=1):
        return _compare(folder)


def _compare(folder: pathlib.Path, device: str = "cuda") -> dict[str, Any]:
    import torch

    text, code = (folder / tracing.GRAPH).read_text(), (folder / tracing.CODE).read_text()
    statements = graph_text.without_comments(text)
    drawn = next((each for each in RANDOM if each in statements), "")
    if drawn:
        return {"status": "not_run", "message": f"the graph draws random numbers: {drawn.strip('.')}"}
    if missing := graph_text.define_operators(text):
        return {"status": "not_run", "message": f"no package here defines the operator {missing}"}
    made, names, consistent = inputs.make_inputs(folder, device)
    # Graphs write into their inputs, so each side has its own.
    ours, theirs = copy(made), copy(made)
    with torch.no_grad():
        torch.manual_seed(0)  # attention with dropout calls the same function on both sides
        expected = list(graph_text.load(folder / tracing.GRAPH, device)["Graph"]()(*ours))
        torch.manual_seed(0)
        results = list(_load(folder / tracing.CODE).call(list(theirs)))
        if device == "cuda":
            torch.cuda.synchronize()
    if len(results) != len(expected):
        return {"status": "different", "message": f"{len(results)} results for {len(expected)}"}
    if not has_finite(expected):
        return {"status": "not_run", "message": "no result is a finite number"}
    states, reused = graph_text.list_states(text), wrapper_text.list_reused(code) & set(names)
    outputs = list(zip(graph_text.list_results(text), expected, results, strict=True))
    pairs = [pair for pair in outputs if pair[0] not in states]
    rounding = list_rounding(pairs)
    left_out = {"results that are random state": len(outputs) - len(pairs), "results that are rounding alone": len(rounding),
                "inputs whose memory the code takes": len(reused)}
    pairs = [pair for pair in pairs if pair[0] not in rounding]
    pairs += [(f"input {name}", one, other) for name, one, other in zip(names, ours, theirs, strict=True) if name not in reused]
    found = compare(pairs)
    if found["status"] == "different" and not consistent:
        found.update(status="not_run", message=f"not decided: {found['message']} differs, but what a forward graph would save is made up")
    elif any(left_out.values()):
        said = ", ".join(f"{count} {what}" for what, count in left_out.items() if count)
        found["message"] = "; ".join(filter(None, (found["message"], f"not compared: {said}")))
    return found


def copy(values: list[Any]) -> list[Any]:
    """Copies tensors with their strides."""
    import torch

    return [inputs.lay_out(value, value.stride()) if isinstance(value, torch.Tensor) else value for value in values]


def _load(path: pathlib.Path) -> Any:
    spec = importlib.util.spec_from_file_location("wrapper_" + path.parent.name.replace(".", "_").replace("-", "_"), path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def has_finite(values: list[Any]) -> bool:
    """Says whether a result has a number that can be compared. If all are infinite or NaN, any code gives them."""
    import torch

    tensors = [value for value in values if isinstance(value, torch.Tensor) and value.is_floating_point()]
    return not tensors or any(bool(torch.isfinite(value).any()) for value in tensors)


def list_rounding(pairs: list[tuple[str, Any, Any]]) -> set[str]:
    """Returns the names of results that are rounding alone on both sides, beside the size of the others."""
    import torch

    largest = {name: max(float(value.abs().nan_to_num().max()) for value in (one, other)) for name, one, other in pairs
               if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor) and one.dtype == torch.float32 and one.numel() and other.numel()}
    median = sorted(largest.values())[len(largest) // 2] if largest else 0.0
    return {name for name, value in largest.items() if value < ROUNDING * median}


def compare(pairs: list[tuple[str, Any, Any]]) -> dict[str, Any]:
    """Compares results one by one, each with its name: exact if all bits are the same, close within the tolerance of their type, else different."""
    import torch

    status, largest = "exact", 0.0
    for name, one, other in pairs:
        if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
            continue
        if one.shape != other.shape or one.dtype != other.dtype:
            return {"status": "different", "message": f"{name}: {other.dtype} {tuple(other.shape)}"}
        if torch.equal(one, other) or (one.is_floating_point() and torch.allclose(one, other, rtol=0, atol=0, equal_nan=True)):
            continue
        status = "close"
        kind = str(one.dtype).removeprefix("torch.")
        difference = _difference(one, other)
        largest = max(largest, difference)
        if difference > TOLERANCES.get(kind, 0.0):
            return {"status": "different", "message": f"{name} ({kind})", "largest_difference": difference}
    return {"status": status, "message": "", "largest_difference": largest}


def _difference(one: Any, other: Any) -> float:
    """Returns the largest difference, relative to the largest finite number; infinite if what is not finite differs."""
    import torch

    one, other = one.double(), other.double()
    finite = torch.isfinite(one)
    if not torch.equal(finite, torch.isfinite(other)) or not torch.allclose(one[~finite], other[~finite], equal_nan=True):
        return float("inf")
    if not bool(finite.any()):
        return 0.0
    scale = max(float(one[finite].abs().max()), 1e-6)
    return float((one[finite] - other[finite]).abs().max()) / scale


def is_checked(folder: pathlib.Path) -> bool:
    """Says whether a graph's wrapper was run."""
    return read_status(folder) != NOT_CHECKED


def read_status(folder: pathlib.Path) -> str:
    """Returns the status of a graph's wrapper: that of its last check, or not_checked."""
    return _last_status(folder, lambda device: device not in (None, *alone.PLACES))


def read_text_status(folder: pathlib.Path) -> str:
    """Returns the status of a graph's text, run by itself, or not_checked."""
    return _last_status(folder, lambda device: device in alone.PLACES)


def _last_status(folder: pathlib.Path, is_asked: Callable[[Any], bool]) -> str:
    checks = json.loads((folder / tracing.ABOUT).read_text())["checks"]
    return str(([each["status"] for each in checks if is_asked(each.get("device"))] or [NOT_CHECKED])[-1])
