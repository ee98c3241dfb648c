"""The text of a graph: a Python file with a module, its inputs, and nothing else that has to be there except PyTorch."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import ast
import contextlib
import importlib
import math
import pathlib
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

OPERATOR = re.compile(r"\btorch\.ops\.(\w+)\.(\w+)")
OVERLOAD = re.compile(r"torch\.ops\.aten\.(\w+)\.(\w+)")
OWN_NAMESPACES = ("aten", "prims", "higher_order", "inductor")  # their operators are there with torch itself
FILE = re.compile(r"^\s*# File: (\w+(?:/\w+)+)\.py:\d")
# The names, in the schemas of attention, of results that are the state of random numbers, or that are for debugging alone. Without
# dropout nothing sets them.
STATES = {"philox_seed", "philox_offset", "rng_state", "unused", "debug_attn_mask"}
LITERAL_ELEMENTS = 64  # a larger constant is made of random numbers
HEADER = '''"""{title}

Made by TorchInductor's tracing: the graph that it lowers to Triton. `python3 graph.py` runs it."""

import math
import operator

import torch
{imports}

# Name, shape, stride, type and scale of each input; an int is a size of a dynamic shape.
INPUTS = [
{inputs}
]


def make_inputs(device="{device}", seed=0):
    """Returns inputs for Graph: random ones, near 1 in vectors and alone, since variances are positive; zeros for integers, which may be indices."""
    generator = torch.Generator().manual_seed(seed)
    made = []
    for _, shape, stride, dtype, scale in INPUTS:
        if shape is None:
            made.append(stride)
            continue
        size = 1 + sum((n - 1) * s for n, s in zip(shape, stride)) if all(shape) else 0
        kind = getattr(torch, dtype)
        if kind.is_floating_point or kind.is_complex:
            positive = len(shape) < 2
            storage = torch.rand(size, generator=generator) + 0.5 if positive else torch.randn(size, generator=generator) * scale
            storage = storage.to(kind)
        elif kind == torch.bool:
            storage = torch.rand(size, generator=generator) < 0.5
        else:
            storage = torch.zeros(size, dtype=kind)
        made.append(storage.to(device).as_strided(shape, stride))
    return made


'''
FOOTER = '''

if __name__ == "__main__":
    with torch.no_grad():
        for output in Graph()(*make_inputs()):
            print(tuple(output.shape) if isinstance(output, torch.Tensor) else output)
'''


@dataclass
class Input:
    """An input of a graph. `shape` is None for a number, whose value is then `stride`."""

    name: str
    shape: list[int] | None
    stride: Any
    dtype: str = ""
    device: str = ""
    symbolic: list[str] = field(default_factory=list)  # the shape with the names of dynamic sizes
    scale: float = 1.0  # the factor of its random numbers

    @property
    def line(self) -> str:
        shape = None if self.shape is None else tuple(self.shape)
        stride = self.stride if self.shape is None else tuple(self.stride)
        return f"    ({self.name!r}, {shape!r}, {stride!r}, {self.dtype!r}, {self.scale!r}),"

    @property
    def row(self) -> dict[str, Any]:
        if self.shape is None:
            return {"name": self.name, "kind": "number", "value": str(self.stride)}
        return {"name": self.name, "kind": "tensor", "shape": self.symbolic or [str(size) for size in self.shape],
                "stride": [str(step) for step in self.stride], "dtype": self.dtype, "device": self.device}


def read_inputs(module: Any, parameters: Container[str] = (), examples: Sequence[Any] = ()) -> list[Input]:
    """Returns the inputs of a traced graph, with dynamic sizes as they were in the trace. `examples` are what it is lowered for: a
    forward graph may save a value in another layout than it was traced with. Those that are named as parameters of the
    model are small, as initial weights are: with many layers the results would otherwise be infinite."""
    import torch

    inputs = []
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    for number, node in enumerate(placeholders):
        value = examples[number] if examples else node.meta.get("val", node.meta.get("example_value"))
        if isinstance(value, torch.Tensor):
            symbolic = [str(size) for size in value.shape]
            shape, stride = [_hint(size) for size in value.shape], [_hint(step) for step in value.stride()]
            dtype = str(value.dtype).removeprefix("torch.")
            scale = _weight_scale(shape) if node.name in parameters else 1.0
            inputs.append(Input(node.name, shape, stride, dtype, str(value.device), symbolic, scale))
        else:
            inputs.append(Input(node.name, None, _hint(value)))
    return inputs


def _weight_scale(shape: list[int]) -> float:
    """Returns the scale that keeps the size of what a weight is multiplied with."""
    return float(f"{max(math.prod(shape[1:]), 1) ** -0.5:.4g}")


def _hint(size: Any) -> Any:
    """Returns a number for a size, which may be a symbol: the size of the trace."""
    node = getattr(size, "node", None)
    if node is None:
        return size
    return node.hint if node.hint is not None else size.node.shape_env.size_hint(node.expr, allow_none=True)


def write_graph(module: Any, title: str, device: str, parameters: Container[str] = (), examples: Sequence[Any] = ()) -> tuple[str, list[Input]]:
    """Returns a graph as a Python file, and its inputs. ValueError: it has a part that cannot be written as text."""
    inputs = read_inputs(module, parameters, examples)
    constants = _write_constants(module)
    code = module.print_readable(print_output=False, include_stride=True, include_device=True, colored=False)
    body = _shorten_paths(_name_class(code))
    if constants:
        body = body.replace("class Graph(torch.nn.Module):\n",
                            "class Graph(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n" + constants + "\n", 1)
    head = HEADER.format(title=title, imports="\n".join(list_imports(body)), inputs="\n".join(each.line for each in inputs), device=device)
    return head + body.rstrip() + "\n" + FOOTER, inputs


def list_imports(body: str) -> list[str]:
    """Returns the imports that a graph's text needs beyond torch."""
    imports = ["from torch import device, inf, nan  # noqa: F401"]
    if "fx_pytree" in body:
        imports.append("import torch.fx._pytree as fx_pytree")
    if "ops.prims." in body:
        imports.append("import torch._inductor.inductor_prims  # noqa: F401")
    return imports + [f"import {module}  # noqa: F401" for module in list_operator_modules(body)]


def list_operator_modules(body: str) -> list[str]:
    """Returns the modules that call operators of packages, from the comments above the calls. Importing one defines its operators."""
    modules: dict[str, None] = {}
    file = ""
    for line in body.splitlines():
        if line.lstrip().startswith("#"):
            named = FILE.match(line)
            file = named[1] if named else ""
        elif file and any(match[1] not in OWN_NAMESPACES for match in OPERATOR.finditer(line)):
            modules[file.replace("/", ".").removesuffix(".__init__")] = None
    return list(modules)


def load(path: pathlib.Path, device: str) -> dict[str, Any]:
    """Runs the text of a graph for a device, "cuda" or "cpu". Returns its names."""
    text = path.read_text()
    if device == "cpu":
        text = text.replace("device(type='cuda', index=0)", "device(type='cpu')").replace(".to('cuda:0')", "")
    space: dict[str, Any] = {"__name__": "graph"}
    exec(compile(text, "graph.py", "exec"), space)  # pylint: disable=exec-used  # the capture's own text
    return space


def define_operators(text: str) -> str:
    """Defines the operators that a graph calls. Returns the name of the first that is not defined even so, or nothing."""
    import torch

    for module in list_operator_modules(text):
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    for match in OPERATOR.finditer(without_comments(text)):
        if match[1] not in OWN_NAMESPACES and not hasattr(getattr(torch.ops, match[1]), match[2]):
            return f"{match[1]}.{match[2]}"
    return ""


def without_comments(text: str) -> str:
    """Returns a text without its lines of comment, which quote the model's code."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


def list_results(text: str) -> list[str]:
    """Returns the names of a graph's results in their order."""
    statement = next(each for each in ast.walk(_forward(text)) if isinstance(each, ast.Return))
    return [ast.unparse(each) for each in statement.value.elts] if isinstance(statement.value, ast.Tuple) else []


def list_states(text: str) -> set[str]:
    """Returns the names of values that are the state of random numbers, as the schemas of their operators say."""
    import torch

    states = set()
    calls: dict[str, Any] = {}
    for name, value in _assignments(text):
        if isinstance(value, ast.Call) and (match := OVERLOAD.fullmatch(ast.unparse(value.func))):
            calls[name] = getattr(getattr(torch.ops.aten, match[1]), match[2])
        elif isinstance(value, ast.Subscript) and ast.unparse(value.value) in calls:
            returns, place = calls[ast.unparse(value.value)]._schema.returns, ast.literal_eval(value.slice)
            if place < len(returns) and returns[place].name in STATES:  # split returns one list of many
                states.add(name)
    return states


def _assignments(text: str) -> Iterator[tuple[str, ast.expr]]:
    for statement in _forward(text).body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target if isinstance(statement, ast.AnnAssign) else None
        if isinstance(target, ast.Name) and isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            yield target.id, statement.value


def _forward(text: str) -> ast.FunctionDef:
    return next(each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef) and each.name == "forward")


def _name_class(code: str) -> str:
    """Names the class Graph, and refuses a graph with graphs in it: their classes would need instances."""
    if len(re.findall(r"^\s*class \S+\(torch\.nn\.Module\):", code, re.MULTILINE)) != 1:
        raise ValueError("the graph has a graph in it")
    return re.sub(r"^class \S+\(torch\.nn\.Module\):", "class Graph(torch.nn.Module):", code, count=1, flags=re.MULTILINE)


def _write_constants(module: Any) -> str:
    """Returns the statements that make the graph's constants."""
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    with unset_fake_temporarily():  # a constant is a real tensor, which the trace around this refuses
        return _list_constants(module)


def _list_constants(module: Any) -> str:
    import torch

    lines = []
    for name in sorted({node.target for node in module.graph.nodes if node.op == "get_attr"}):
        value = module
        for part in name.split("."):
            value = getattr(value, part)
        if not isinstance(value, torch.Tensor) or "." in name:
            raise ValueError(f"the graph has an attribute that is no tensor: {name}")
        if value.numel() <= LITERAL_ELEMENTS:
            text = f"torch.tensor({value.detach().cpu().tolist()!r}, dtype={value.dtype})"
        elif value.dtype.is_floating_point:
            text = f"torch.randn({tuple(value.shape)!r}, generator=torch.Generator().manual_seed(0)).to({value.dtype})"
        else:
            text = f"torch.zeros({tuple(value.shape)!r}, dtype={value.dtype})"
        place = "" if value.device.type == "cpu" else f".to({str(value.device)!r})"
        lines.append(f"        self.{name} = {text}{place}\n")
    return "".join(lines)


def _shorten_paths(code: str) -> str:
    """Leaves of the paths in comments what is below site-packages, or else the file's name: the rest is this machine's."""

    def shorten(match: re.Match[str]) -> str:
        path = match[1]
        for mark in ("/site-packages/", "/dist-packages/"):
            if mark in path:
                return "# File: " + path.split(mark)[-1]
        return "# File: " + path.rsplit("/", 1)[-1]

    return re.sub(r"# File: (/[^:\n]*)", shorten, code)
