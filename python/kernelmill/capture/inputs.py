"""The inputs of a check: laid out as the wrapper asserts, and for a backward graph with what its forward graph saves."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import json
import pathlib
from collections.abc import Sequence
from typing import Any

from kernelmill.capture import graph_text, tracing, wrapper_text

TANGENT = "tangents_"  # AOTAutograd names the gradients so that a backward graph begins with


def make_inputs(folder: pathlib.Path, device: str) -> tuple[list[Any], list[str], bool]:
    """Returns inputs for a graph, their names, and whether all that is saved for a backward graph came from a forward graph. If not, these
    values are random numbers, which may contradict each other: a softmax whose rows have no sum of 1."""
    space = graph_text.load(folder / tracing.GRAPH, device)
    values, names = space["make_inputs"](device), [each[0] for each in space["INPUTS"]]
    saved: dict[str, Any] = {}
    consistent = True
    if _read_about(folder)["phase"] == "backward":
        forward = find_forward(folder)
        consistent = forward is not None
        saved = run_forward(forward, device) if forward is not None else {}
    asserted = wrapper_text.read_strides((folder / tracing.CODE).read_text())
    made = []
    for (name, shape, stride, *_), value in zip(space["INPUTS"], values, strict=True):
        if shape is not None:
            value = lay_out(saved.get(name, value), asserted.get(name, stride))
        made.append(value)
    return made, names, consistent


def lay_out(value: Any, stride: Sequence[int]) -> Any:
    """Returns a copy of a tensor with these strides. A dimension of stride 0 repeats one element."""
    import torch

    once = value[tuple(slice(0, 1) if step == 0 else slice(None) for step in stride)]
    return torch.empty_strided(once.shape, tuple(stride), dtype=value.dtype, device=value.device).copy_(once).expand(value.shape)


def run_forward(folder: pathlib.Path, device: str) -> dict[str, Any]:
    """Runs a forward graph. Returns its results by name."""
    import torch

    space = graph_text.load(folder / tracing.GRAPH, device)
    torch.manual_seed(0)
    with torch.no_grad():
        results = space["Graph"]()(*space["make_inputs"](device))
    return dict(zip(graph_text.list_results((folder / tracing.GRAPH).read_text()), results, strict=True))


def find_forward(folder: pathlib.Path) -> pathlib.Path | None:
    """Returns the forward graph of a backward graph, one that saves what it takes, from the folder around it. That of the same number
    comes first: two layers may save the same shapes."""
    about = _read_about(folder)
    found = []
    for path in sorted(folder.parent.glob(f"*/{tracing.ABOUT}")):
        other = _read_about(path.parent)
        if other["phase"] == "forward" and other["settings"] == about["settings"] and _saves(path.parent, other, about):
            found.append((other["graph"] != about["graph"], path.parent))
    return min(found)[1] if found else None


def _saves(folder: pathlib.Path, forward: dict[str, Any], backward: dict[str, Any]) -> bool:
    """Says whether a forward graph's results end with the inputs of a backward graph: AOTAutograd returns what it saves after the rest."""
    taken = [row for row in backward["inputs"] if not row["name"].startswith(TANGENT)]
    names = graph_text.list_results((folder / tracing.GRAPH).read_text())
    outputs = forward["outputs"] or [None] * len(names)  # a debug folder does not describe them
    last = dict(list(zip(names, outputs, strict=True))[len(names) - len(taken):])
    return len(taken) <= len(names) and all(row["name"] in last and _fits(last[row["name"]], row) for row in taken)


def _fits(output: dict[str, Any] | None, row: dict[str, Any]) -> bool:
    return output is None or row["kind"] == "number" or (output["shape"], output["dtype"]) == (row["shape"], row["dtype"])


def _read_about(folder: pathlib.Path) -> dict[str, Any]:
    about: dict[str, Any] = json.loads((folder / tracing.ABOUT).read_text())
    return about
