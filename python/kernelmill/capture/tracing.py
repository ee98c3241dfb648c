"""Captures one model in this process: runs it once under torch.compile with a backend that keeps each graph and the code that
TorchInductor writes for it. Kernels are not loaded, and the model's own run is eager."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import contextlib
import importlib.metadata
import json
import pathlib
import re
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kernelmill.capture import alone, graph_text, models, pretended, wrapper_text

FORMAT = 1
MOST_GUARDS = 200
MOST_GUARD_BYTES = 1000
# An address is the second argument of a check of identity or type, or what an identity is compared with. Other numbers are sizes and values.
ADDRESS = re.compile(r"(\b_*check_\w+\([^,]*,\s*|\b(?:\w*_)?id\([^,]*,\s*|\b(?:\w*_)?id\([^=]*\)\s*==\s*)\d{9,}\b")
IDENTITY_GUARD = re.compile(r"^(___|not |utils_device|torch\._functorch)|_hooks|hasattr\(|___(dict|tuple|set)_|G\['__| is |len\(")
PACKAGES = ("torch", "triton", "timm", "torchvision", "transformers")
PYTHON = ("_operator", "builtins", "math")
GRAPH, CODE, ABOUT = "graph.py", "output_code.py", "graph.json"


@dataclass(frozen=True)
class Variant:
    """How a model is captured."""

    training: bool = False
    dynamic: bool = False
    autotune: bool = False
    dtype: str = "float32"

    @property
    def name(self) -> str:
        marks = [each for each, there in (("dynamic", self.dynamic), ("autotune", self.autotune)) if there]
        if self.dtype != "float32":
            marks.append(self.dtype)
        return "-".join(["training" if self.training else "inference", *marks])


@dataclass
class Graph:
    """A graph with the code that Inductor wrote for it, or the problem."""

    phase: str
    text: str = ""
    inputs: list[graph_text.Input] = field(default_factory=list)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    operators: Counter[str] = field(default_factory=Counter)
    code: str = ""
    guards: list[str] = field(default_factory=list)
    problem: str = ""
    frame: int = 0


class Tracer:
    """The backend of torch.compile. Keeps what it sees in `graphs` and, of whole models as Dynamo traced them, in `models`."""

    def __init__(self, title: str, device: str, move: bool):
        self.title = title
        self.device = device
        self.move = move
        self.graphs: list[Graph] = []
        self.models: list[str] = []
        self.problems: list[str] = []
        # The inputs of a forward graph that are the model's, by the number of both graphs; its backward graph names them so.
        self.parameters: dict[int | None, set[str]] = {}

    def __call__(self, module: Any, inputs: Any) -> Any:
        from torch._inductor import compile_fx

        frame = len(self.models)
        try:
            self.models.append(graph_text.write_graph(module, f"{self.title}, as Dynamo traced it.", self.device)[0])
        except ValueError as error:
            self.models.append("")
            self.problems.append(f"model: {error}")
        before = len(self.graphs)
        compile_fx.compile_fx(module, inputs, inner_compile=self._lower)
        for graph in self.graphs[before:]:
            graph.frame = frame
        return module.forward

    def _lower(self, module: Any, inputs: Any, **options: Any) -> Any:
        from torch._inductor import compile_fx
        from torch._inductor.graph import GraphLowering

        if self.move:
            pretended.move(module, inputs)
        phase = "backward" if options.get("is_backward") else "inference" if options.get("is_inference") else "forward"
        number = options.get("graph_id")
        if phase != "backward":
            names = [node.name for node in module.graph.nodes if node.op == "placeholder"]
            self.parameters[number] = {names[place] for place in options.get("static_input_idxs", ())}
        graph = Graph(phase, operators=_count_operators(module), outputs=_describe_outputs(module))
        graph.guards = list_shape_guards(inputs)
        self.graphs.append(graph)
        try:
            graph.text, graph.inputs = graph_text.write_graph(module, f"{self.title}: {phase}.", self.device,
                                                             self.parameters.get(number, set()), inputs)
        except ValueError as error:
            graph.problem = f"graph: {error}"
        codes: list[str] = []
        kept = GraphLowering.save_output_code
        GraphLowering.save_output_code = staticmethod(codes.append)
        try:
            result = compile_fx.compile_fx_inner(module, inputs, **options)
        finally:
            GraphLowering.save_output_code = kept
        graph.code = wrapper_text.shorten_paths(codes[-1]) if codes else ""
        return result

    def add_guards(self, guards: Any) -> None:
        """Adds the guards of the frame that was traced last."""
        texts = [text for guard in guards for text in guard.code_list or () if len(text) <= MOST_GUARD_BYTES]
        frame = len(self.models) - 1
        for graph in self.graphs:
            if graph.frame == frame:
                graph.guards = [*graph.guards, *select_guards(texts)][:MOST_GUARDS]


def list_shape_guards(inputs: Any) -> list[str]:
    """Returns the guards on dynamic sizes: their bounds, and what the trace found out about them."""
    from torch._guards import detect_fake_mode

    mode = detect_fake_mode(inputs)
    environment = getattr(mode, "shape_env", None)
    if environment is None:
        return []
    ranges = [f"{each.lower} <= {symbol} <= {each.upper}" for symbol, each in environment.var_to_range.items()]
    return list(dict.fromkeys([*ranges, *(str(guard.expr) for guard in environment.guards)]))


def select_guards(texts: list[str]) -> list[str]:
    """Returns the guards on values, those on inputs before those on the model, without the addresses of objects. Guards on the identity
    of objects, on modules of Python and on hooks say nothing about the code; those on the shapes of tensors are the inputs."""
    kept = [ADDRESS.sub(r"\1ID", text) for text in dict.fromkeys(texts) if not IDENTITY_GUARD.search(text)]
    return sorted(kept, key=lambda text: "L['self']" in text)[:MOST_GUARDS]


def _count_operators(module: Any) -> Counter[str]:
    """Counts the operators, without Python's own, which take a tuple apart or compute sizes."""
    calls = (node for node in module.graph.nodes if node.op == "call_function" and node.target.__module__ not in PYTHON)
    return Counter(str(node.target) if "." in str(node.target) and "<" not in str(node.target) else node.target.__name__ for node in calls)


def _describe_outputs(module: Any) -> list[dict[str, Any]]:
    import torch

    described: list[dict[str, Any]] = []
    for node in module.graph.output_node().args[0]:
        value = getattr(node, "meta", {}).get("val")
        if isinstance(value, torch.Tensor):
            described.append({"shape": [str(size) for size in value.shape], "dtype": str(value.dtype).removeprefix("torch.")})
        else:
            described.append({"shape": None, "dtype": None})
    return described


def capture(name: models.Name, variant: Variant, sizes: models.Sizes, device: str, folder: pathlib.Path) -> dict[str, Any]:
    """Captures a model into a folder. Returns what the manifest says of this variant."""
    import torch

    real = device == "cuda"
    if not real:
        pretended.install(device)
    else:
        pretended.never_load()
    torch.manual_seed(0)
    try:
        built = models.build(name, sizes)
    except models.NotBuilt as error:
        return _failed(*str(error).partition(": ")[::2])
    except Exception as error:  # pylint: disable=broad-except  # a library's own
        return _failed("not_built", f"{type(error).__name__}: {error}")
    tracer = Tracer(f"{name.library} {name.model}", "cuda", not real)
    problem = ""
    try:
        _run(built, variant, tracer, real)
    except Exception as error:  # pylint: disable=broad-except  # whatever models and compilers raise
        traceback.print_exc()
        cause = getattr(error, "inner_exception", error)
        problem = f"{type(cause).__name__}: {str(cause).strip().splitlines()[0] if str(cause).strip() else ''}"
    rows = _write(name, variant, tracer, device, folder)
    status = "captured" if rows and not problem else "partly" if rows else "failed"
    about = {"status": status, "graphs": rows, "problems": tracer.problems + ([problem] if problem else [])}
    if status == "failed":
        about.update(_failed(_reason(problem) if problem else "no_kernel", problem or "no graph became a Triton kernel"))
    return about


def _failed(reason: str, message: str) -> dict[str, Any]:
    return {"status": "failed", "reason": reason, "message": message[:2000]}


def _reason(problem: str) -> str:
    """Returns a word for an error: its type in small letters, AssertionError as assertion_error."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", problem.split(":", 1)[0]).lower()


def _run(built: models.Built, variant: Variant, tracer: Tracer, real: bool) -> None:
    import torch

    dtype = getattr(torch, variant.dtype)
    module = built.module.train(variant.training).to(dtype)

    def place(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        value = value.to(dtype) if value.is_floating_point() else value
        return value.cuda() if real else value

    arguments, keywords = torch.utils._pytree.tree_map(place, (built.arguments, built.keywords or {}))
    module = module.cuda() if real else module
    with _settings(variant, real):
        compiled = torch._dynamo.optimize(tracer, guard_export_fn=tracer.add_guards, dynamic=variant.dynamic or None)(module)
        with torch.set_grad_enabled(variant.training):
            compiled(*arguments, **keywords)


@contextlib.contextmanager
def _settings(variant: Variant, real: bool) -> Iterator[None]:
    """The settings of a capture: no caches, backward graphs at once, and attention that can be traced without a GPU."""
    import torch._dynamo.config as dynamo
    import torch._functorch.config as functorch
    import torch._inductor.config as inductor
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with contextlib.ExitStack() as stack:
        stack.enter_context(inductor.patch(inductor_settings(variant)))
        stack.enter_context(functorch.patch(enable_autograd_cache=False, force_non_lazy_backward_lowering=True))
        stack.enter_context(dynamo.patch(automatic_dynamic_shapes=variant.dynamic, suppress_errors=False))
        if not real:
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        yield


def inductor_settings(variant: Variant) -> dict[str, Any]:
    """Returns Inductor's settings for a variant. Matrices are not padded: whether they are is chosen by time, and changes the graph."""
    return {"shape_padding": False, "fx_graph_cache": False, "fx_graph_remote_cache": False, "compile_threads": 1, "max_autotune": variant.autotune,
            "max_autotune_gemm_backends": "TRITON" if variant.autotune else "ATEN,TRITON,CPP"}


def _write(name: models.Name, variant: Variant, tracer: Tracer, device: str, folder: pathlib.Path) -> list[dict[str, Any]]:
    """Writes the graphs that became Triton kernels. Returns a row of the manifest for each."""
    import torch

    rows = []
    counts: Counter[str] = Counter()
    for graph in tracer.graphs:
        wrapper = wrapper_text.read_wrapper(graph.code) if graph.code else None
        if wrapper is None or not wrapper.kernels or not graph.text:
            reason = graph.problem or ("no code" if wrapper is None else "no Triton kernel")
            tracer.problems.append(f"{graph.phase} graph: {reason}")
            continue
        label = variant.name if variant.name.startswith(graph.phase) else f"{variant.name}-{graph.phase}"
        stem = re.sub(r"[^\w-]", "_", f"{name.model}_{label}")
        number = counts[label]
        counts[label] += 1
        place = folder / f"{stem}.{number}"
        place.mkdir(parents=True, exist_ok=True)
        (place / GRAPH).write_text(graph.text)
        runs = alone.check_text(place / GRAPH, graph.outputs, device)
        (place / CODE).write_text(graph.code)
        if tracer.models[graph.frame]:
            (place / "model.py").write_text(tracer.models[graph.frame])
        for kernel in wrapper.kernels:
            (place / "kernels").mkdir(exist_ok=True)
            (place / "kernels" / f"{kernel.name[:200]}.py").write_text(kernel.text.lstrip("\n"))
        about = {"format": FORMAT, "library": name.library, "model": name.model, "phase": graph.phase, "graph": number,
                 "training": variant.training, "dynamic": variant.dynamic, "inputs": [each.row for each in graph.inputs],
                 "outputs": graph.outputs, "operators": _pairs(graph.operators), "kernels": [each.row for each in wrapper.kernels],
                 "calls": _pairs(wrapper.calls), "guards": graph.guards, "settings": _describe_settings(variant),
                 "versions": _describe_versions(torch), "device": _describe_device(device, torch), "checks": [runs, unchecked(device == "cuda")]}
        (place / ABOUT).write_text(json.dumps(about, indent=1) + "\n")
        rows.append({"folder": place.name, "phase": graph.phase, "kernels": len(wrapper.kernels),
                     "operators": sum(graph.operators.values())})
    return rows


def unchecked(real: bool) -> dict[str, Any]:
    """Returns the check of a wrapper that was not run, with the reason."""
    return {"status": "not_run", "device": None,
            "message": "kernelmill capture --check was not run" if real else "the code was generated without a GPU"}


def _pairs(counts: Counter[str]) -> list[dict[str, Any]]:
    return [{"name": name, "count": count} for name, count in sorted(counts.items())]


def _describe_settings(variant: Variant) -> list[dict[str, str]]:
    settings = {**inductor_settings(variant), "dtype": variant.dtype, "dynamic": variant.dynamic}
    return [{"name": key, "value": str(value)} for key, value in sorted(settings.items())]


def _describe_versions(torch: Any) -> list[dict[str, str]]:
    versions = []
    for package in PACKAGES:
        try:
            versions.append({"name": package, "value": importlib.metadata.version(package)})
        except importlib.metadata.PackageNotFoundError:
            continue
    return [*versions, {"name": "cuda", "value": str(torch.version.cuda)}, {"name": "torch_git", "value": str(torch.version.git_version)}]


def _describe_device(device: str, torch: Any) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(0)
    return {"name": properties.name, "target": f"cuda:{properties.major}{properties.minor}",
            "multiprocessors": properties.multi_processor_count, "real": device == "cuda"}
