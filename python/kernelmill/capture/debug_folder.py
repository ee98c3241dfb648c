"""Makes captures of the folders that TORCH_COMPILE_DEBUG=1 leaves: each graph's fx_graph_runnable.py and output_code.py."""

from __future__ import annotations

import ast
import json
import pathlib
import re
from collections import Counter
from typing import Any

from kernelmill.capture import graph_text, tracing, wrapper_text
from kernelmill.errors import RequestError

RUNNABLE = "fx_graph_runnable.py"
TORCH = re.compile(r"^# torch version: (\S+)", re.MULTILINE)
CUDA = re.compile(r"^# torch cuda version: (\S+)", re.MULTILINE)
GPU = re.compile(r"^# (NVIDIA [^:\n]+|AMD [^:\n]+) : \d+", re.MULTILINE)
SETTING = re.compile(r"^torch\._(inductor|functorch|dynamo)\.config\.(\S+) = (.*)$", re.MULTILINE)
PROPERTIES = re.compile(r"DeviceProperties\(type='(\w+)', index=\d+, multi_processor_count=(\d+), cc=(\w+)")
PHASE = re.compile(r"^# AOT ID: \['\d+_(inference|forward|backward)'\]", re.MULTILINE)


def convert(folder: pathlib.Path, out: pathlib.Path) -> list[dict[str, Any]]:
    """Writes a capture for each graph below a folder that has Triton kernels. RequestError: there is no graph."""
    places = [path.parent for path in folder.rglob(RUNNABLE) if (path.parent / tracing.CODE).exists()]
    # Inductor's cache has a second copy of each folder, named by a hash.
    places.sort(key=lambda place: (place.name.endswith(".debug"), place))
    if not places:
        raise RequestError(f"{folder} has no graph: TORCH_COMPILE_DEBUG=1 writes {RUNNABLE} and {tracing.CODE}")
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    seen: set[tuple[str, str]] = set()
    counts: Counter[str] = Counter()
    library, model = "debug", re.sub(r"[^\w-]", "_", folder.name)
    root = out / library / model
    for place in places:
        code, runnable = wrapper_text.shorten_paths((place / tracing.CODE).read_text()), (place / RUNNABLE).read_text()
        if (code, runnable) in seen:
            continue
        seen.add((code, runnable))
        try:
            row = _convert_graph(place, code, runnable, root, counts)
        except (ValueError, SyntaxError) as error:
            problems.append(f"{place.name}: {error}")
            continue
        if row is not None:
            rows.append(row)
    root.mkdir(parents=True, exist_ok=True)
    result = {"status": "captured" if not problems else "partly", "graphs": rows, "problems": problems, "seconds": 0}
    (root / "manifest.json").write_text(json.dumps({"format": tracing.FORMAT, "library": library, "model": model,
                                                    "variants": {"debug": result}}, indent=1) + "\n")
    return rows


def _convert_graph(place: pathlib.Path, code: str, runnable: str, root: pathlib.Path, counts: Counter[str]) -> dict[str, Any] | None:
    wrapper = wrapper_text.read_wrapper(code)
    if not wrapper.kernels:
        return None
    phase = match[1] if (match := PHASE.search(code)) else "inference"
    name = re.sub(r"[^\w-]", "_", re.sub(r"\.\d+$", "", place.name).removesuffix(".debug")) or "graph"
    number = counts[name]
    counts[name] += 1
    device = PROPERTIES.search(code)
    if device is None:
        raise ValueError("no device is named")
    text, inputs, operators = write_runnable(runnable, f"{name}: {phase}.", device[1])
    target = root / f"{name}.{number}"
    target.mkdir(parents=True, exist_ok=True)
    (target / tracing.GRAPH).write_text(text)
    (target / tracing.CODE).write_text(code)
    versions = [{"name": key, "value": match[1]} for key, pattern in (("torch", TORCH), ("cuda", CUDA)) if (match := pattern.search(runnable))]
    gpu = GPU.search(runnable)
    about = {"format": tracing.FORMAT, "library": "", "model": name, "phase": phase, "graph": number, "training": phase != "inference",
             "dynamic": any(each.shape is None for each in inputs), "inputs": [each.row for each in inputs], "outputs": [],
             "operators": [{"name": each, "count": count} for each, count in sorted(operators.items())],
             "kernels": [each.row for each in wrapper.kernels],
             "calls": [{"name": each, "count": count} for each, count in sorted(wrapper.calls.items())], "guards": [],
             "settings": [{"name": f"{match[1]}.{match[2]}", "value": match[3]} for match in SETTING.finditer(runnable)],
             "versions": versions,
             "device": {"name": gpu[1] if gpu else "", "target": f"{device[1]}:{device[3]}", "multiprocessors": int(device[2]), "real": True},
             "checks": [tracing.unchecked(True)]}
    (target / tracing.ABOUT).write_text(json.dumps(about, indent=1) + "\n")
    return {"folder": target.name, "phase": phase, "kernels": len(wrapper.kernels), "operators": sum(operators.values())}


def write_runnable(runnable: str, title: str, device: str) -> tuple[str, list[graph_text.Input], Counter[str]]:
    """Returns the graph of an fx_graph_runnable.py as a file by itself, its inputs and its operators. ValueError: it has a part that
    is no text."""
    tree = ast.parse(runnable)
    classes = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == "Repro"]
    loaders = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == "load_args"]
    if len(classes) != 1 or len(loaders) != 1:
        raise ValueError("no Repro and load_args")
    forward = next(each for each in classes[0].body if isinstance(each, ast.FunctionDef) and each.name == "forward")
    for node in ast.walk(classes[0]):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            raise ValueError(f"the graph has an attribute: {node.attr}")
    names = [each.arg for each in forward.args.args[1:]]
    inputs = _read_inputs(loaders[0], names)
    body = "\n".join(runnable.splitlines()[forward.lineno - 1:forward.end_lineno])
    operators = Counter(match for match in re.findall(r"\btorch\.ops\.([\w.]+)\(", body))
    text = graph_text.HEADER.format(title=title, device=device, inputs="\n".join(each.line for each in inputs),
                                    imports="\n".join(graph_text.list_imports(body)))
    return text + "class Graph(torch.nn.Module):\n" + body.rstrip() + "\n" + graph_text.FOOTER, inputs, operators


def _read_inputs(loader: ast.FunctionDef, names: list[str]) -> list[graph_text.Input]:
    """Reads the inputs that load_args describes, in the order of the parameters."""
    devices: dict[str, str] = {}
    inputs: list[graph_text.Input] = []
    for statement in loader.body:
        call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        keywords = {each.arg: each.value for each in call.keywords}
        kind = call.func.attr
        if kind == "storage" and isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            match = re.search(r"type='(\w+)'(?:, index=(\d+))?", ast.unparse(keywords["device"])) if "device" in keywords else None
            devices[statement.targets[0].id] = ":".join(part for part in match.groups() if part) if match else "cpu"
        elif kind == "tensor" and isinstance(call.args[0], ast.Name):
            shape = list(ast.literal_eval(call.args[1]))
            given = call.args[2] if len(call.args) > 2 else keywords.get("stride")
            stride = list(ast.literal_eval(given)) if given is not None else _contiguous(shape)
            dtype = ast.unparse(keywords["dtype"]).removeprefix("torch.") if "dtype" in keywords else "float32"
            inputs.append(graph_text.Input("", shape, stride, dtype, devices[call.args[0].id]))
        elif kind == "symint":
            inputs.append(graph_text.Input("", None, ast.literal_eval(call.args[0])))
        elif kind != "storage":
            raise ValueError(f"an input is a {kind}")
    if len(inputs) != len(names):
        raise ValueError(f"{len(names)} parameters, and {len(inputs)} inputs")
    for each, name in zip(inputs, names, strict=True):
        each.name = name
    return inputs


def _contiguous(shape: list[int]) -> list[int]:
    stride: list[int] = []
    step = 1
    for size in reversed(shape):
        stride.insert(0, step)
        step *= max(size, 1)
    return stride
