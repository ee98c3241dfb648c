"""Runs a graph's text by itself: `python3 -m kernelmill.capture.alone GRAPH DEVICE` is a new process, in which nothing is imported that the
text does not import. Prints the shape and type of each result as JSON, or the error."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys
from typing import Any

from kernelmill.capture import graph_text

MARK = "results of the graph: "
PACKAGE_FOLDER = str(pathlib.Path(__file__).resolve().parents[2])
PLACES = ("cuda", "cpu")  # the devices of these runs, as a check names them
PR_SET_PDEATHSIG = 1


def check_text(graph: pathlib.Path, outputs: list[dict[str, Any]], device: str) -> dict[str, str]:
    """Runs the text of a graph as a user would, and compares the shapes and types of its results with the trace's. Returns the check."""
    place = "cuda" if device == "cuda" else "cpu"
    path = os.pathsep.join(filter(None, (PACKAGE_FOLDER, os.environ.get("PYTHONPATH"))))
    done = subprocess.run([sys.executable, "-m", __name__, str(graph), place], env={**os.environ, "PYTHONPATH": path}, check=False,
                          capture_output=True, text=True)
    line = next((each for each in done.stdout.splitlines() if each.startswith(MARK)), "")
    if not line:
        words = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return {"status": "error", "device": place, "message": f"the process ended with {done.returncode}: {words}"[:500]}
    found = json.loads(line.removeprefix(MARK))
    if isinstance(found, str):
        return {"status": "error", "device": place, "message": found}
    return {"status": "different" if (problem := compare(found, outputs)) else "ok", "device": place, "message": problem}


def compare(found: list[Any], outputs: list[dict[str, Any]]) -> str:
    """Returns how results differ from those of the trace; nothing if they do not."""
    if len(found) != len(outputs):
        return f"{len(found)} results for {len(outputs)}"
    for number, (result, expected) in enumerate(zip(found, outputs, strict=True)):
        if result is None or expected["shape"] is None:
            continue
        shape, dtype = result
        dynamic = any(not size.isdigit() for size in expected["shape"])
        if (shape != expected["shape"] and not dynamic) or dtype != expected["dtype"]:
            return f"result {number} is {dtype} {shape}"
    return ""


def run(graph: pathlib.Path, device: str) -> list[Any]:
    """Runs a graph's text in this process. Returns the shape and type of each result, None for what is no tensor."""
    import torch

    torch.set_num_threads(1)
    space = graph_text.load(graph, device)
    with torch.no_grad():
        results = space["Graph"]()(*space["make_inputs"](device))
    return [([str(size) for size in each.shape], str(each.dtype).removeprefix("torch.")) if isinstance(each, torch.Tensor) else None
            for each in results]


def main(graph: str, device: str) -> None:
    # It ends with its parent, which is ended at its bounds.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    found: Any
    try:
        found = run(pathlib.Path(graph), device)
    except Exception as error:  # pylint: disable=broad-except  # an operator may refuse random inputs
        found = f"{type(error).__name__}: {error}"[:500]
    print(MARK + json.dumps(found), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
