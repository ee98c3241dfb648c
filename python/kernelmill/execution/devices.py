"""Launches a case's kernel in this process, on Triton's interpreter or on a GPU. Runs in the confined child, beside the module."""

from __future__ import annotations

import ast
import hashlib
import linecache
import math
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from kernelmill.execution import buffers, elements
from kernelmill.execution.arena import GUARD_BYTES, Arena, Place
from kernelmill.execution.case import CODE_VARIABLES, Row

MODULE = "kernelmill_module"
CONFIGURATIONS = 64  # the most of a kernel
WRAPPED = ("fn", "__wrapped__", "jit_function", "func", "kernel")  # attributes of autotuners, caches and other wrappers


class Broken(Exception):
    """The module or its launch is at fault. The message says how."""


class Unmatched(Exception):
    """A host function's result is not made of tensors like the case's outputs."""


def load(text: str, folder: str, number: int) -> dict[str, Any]:
    """Runs a module. Returns its names. Triton reads the source of functions from a file."""
    file = os.path.join(folder, f"module_{number}.py")
    with open(file, "w", encoding="utf-8") as out:
        out.write(text)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = types.ModuleType(MODULE)
    module.__file__ = file
    sys.modules[MODULE] = module
    exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)  # pylint: disable=exec-used
    return module.__dict__


def find_kernel(names: dict[str, Any], kernel: str) -> Any:
    """Returns the jit function of a name under its autotuners, heuristics and other wrappers."""
    import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]

    value = names.get(kernel.rpartition(".")[2])
    kinds = ["JITFunction", "InterpretedFunction", "GluonJITFunction"]
    for _ in range(20):
        if value is None:
            break
        if type(value).__name__ in kinds:
            return value
        inner = next((getattr(value, name) for name in WRAPPED if getattr(value, name, None) is not None), None)
        if inner is None and isinstance(value, types.FunctionType):
            return triton.jit(value)
        value = inner
    raise Broken(f"{kernel} is no kernel of the module")


class Version:
    """A jit function with the rules and the configurations of the decorators above it."""

    def __init__(self, names: dict[str, Any], kernel: str) -> None:
        self._function = find_kernel(names, kernel)
        self._rules: dict[str, Any] = {}
        self.configurations: list[Row] = []
        value = names.get(kernel.rpartition(".")[2])
        while value is not None and value is not self._function:
            if type(value).__name__ == "Heuristics":
                self._rules.update(value.values)
            elif type(value).__name__ == "Autotuner":
                self.configurations += [_configuration(each) for each in value.configs[:CONFIGURATIONS]]
            value = next((getattr(value, name) for name in WRAPPED if getattr(value, name, None) is not None), None)

    def complete(self, values: Row) -> Row:
        """Returns a launch's arguments with what the rules make of them."""
        for name, rule in self._rules.items():
            values = {**values, name: rule(values)}
        return values

    @property
    def run(self) -> Any:
        return self._function.run


def _configuration(config: Any) -> Row:
    """Returns {"constexprs", "options"} of an autotuner's configuration, as a case has them. One with a hook has neither."""
    if getattr(config, "pre_hook", None) is not None:
        return {}
    options = {name: getattr(config, name, None) for name in ("num_warps", "num_stages", "num_ctas", "maxnreg")}
    return {"constexprs": {str(name): repr(value) for name, value in config.kwargs.items()},
            "options": {name: value for name, value in options.items() if value is not None}}


def constexpr_value(text: str) -> Any:
    """Returns the value of a recorded constexpr: a literal, or a type of Triton."""
    import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if text.startswith("tl."):
        return getattr(tl, text.removeprefix("tl."))
    return ast.literal_eval(text)


def scalar_value(scalar: Row) -> Any:
    return float(scalar["value"]) if scalar["type"] == "float" else scalar["value"]


def set_environment(case: Row) -> None:
    for name in CODE_VARIABLES:
        os.environ.pop(name, None)
    os.environ.update(case["environment"])


class Device:
    """A device with a case's storages. `tensor` and `collect` are its two ways."""

    def tensor(self, view: Row) -> Any:
        raise NotImplementedError

    def collect(self) -> None:
        """Waits for the launch, and copies the storages back to the arena."""

    def argument(self, row: Row) -> Any:
        if "tensor" in row:
            return self.tensor(row["tensor"])
        if "scalar" in row:
            return scalar_value(row["scalar"])
        if "constexpr" in row:
            return constexpr_value(row["constexpr"])
        if "tuple" in row:
            return tuple(self.argument(each) for each in row["tuple"])
        return None

    def prepare(self, function: Any, case: Row) -> Callable[[], Any]:
        """Returns the launch of a case."""
        set_environment(case)
        values = _complete(function, {each["name"]: self.argument(each) for each in case["arguments"]})
        return lambda: function.run(**values, grid=tuple(case["grid"]), warmup=False, **case["options"])

    def launch(self, function: Any, case: Row) -> str:
        """Launches a case. Returns the SHA-256 of the kernel's IR, where there is one."""
        compiled = self.prepare(function, case)()
        self.collect()
        forms = getattr(compiled, "asm", None) or {}
        return hashlib.sha256(forms["ttir"].encode()).hexdigest() if "ttir" in forms else ""

    def placeholder(self, view: Row) -> Any:
        """Returns a small tensor for which the compiler makes the same code."""
        raise NotImplementedError

    def compile(self, function: Any, case: Row) -> None:
        """Compiles the kernel for a case without a launch. An error in it comes again at the launch."""
        set_environment(case)
        try:
            values = {each["name"]: self.placeholder(each["tensor"]) if "tensor" in each else self.argument(each)
                      for each in case["arguments"]}
            values = _complete(function, values)
            function.run(**values, grid=tuple(case["grid"]), warmup=True, **case["options"])
        except Exception:  # pylint: disable=broad-except
            pass

    def prepare_reference(self, function: Any, case: Row, reference: Row) -> Callable[[], Any]:
        """Returns the call of a reference: {"parameters": {parameter: the case's argument}}."""
        rows = {each["name"]: each for each in case["arguments"]}
        given = {}
        for name, argument in reference["parameters"].items():
            row = rows[argument]
            given[name] = row["constexpr"] if row.get("constexpr", "").startswith("tl.") else self.argument(row)
        return lambda: function(**given)

    def refer(self, function: Any, case: Row, reference: Row) -> None:
        """Calls a reference, and copies its results to the tensors that they stand for, by name: `outputs`. Unmatched: they do not fit."""
        results = list(_tensors_in(self.prepare_reference(function, case, reference)(), 0))
        views = {each["name"]: each["tensor"] for each in case["arguments"] if "tensor" in each}
        if len(results) != len(reference["outputs"]):
            raise Unmatched(f"the reference has {len(results)} results")
        for name, result in zip(reference["outputs"], results):
            view = views[name]
            if result.numel() != math.prod(view["shape"]):
                raise Unmatched(f"a result of the reference is {list(result.shape)}, and {name} is {view['shape']}")
            to = self.tensor(view)
            to.copy_(result.detach().to(to.dtype).reshape(view["shape"]))
        self.collect()

    def call(self, function: Any, case: Row, host: Row) -> list[Row]:
        """Calls a host function, or a model, with arguments of a case, and copies the tensors that it returns to the case's outputs.
        Returns the output and the shape of each. `host`: {"arguments": {parameter: argument}}, or {"inputs": [argument]} of a model;
        and {"results": [{"name", "shape", "dtypes"}]} of a model, what is wanted, or {"shapes": {output: shape}} of a function, whose
        result may have these alone. Unmatched: the result is something else."""
        os.environ.update(case["environment"])
        rows = {each["name"]: each for each in case["arguments"]}
        named = {name: self.argument(rows[argument]) for name, argument in host.get("arguments", {}).items()}
        inputs = [self.argument(rows[argument]) for argument in host.get("inputs", ())]
        results = list(_tensors_in(function(*inputs, **named), 0))
        # A tensor that was passed as an output is there already.
        passed = {tensor.data_ptr() for tensor in named.values() if hasattr(tensor, "data_ptr")}
        results = [result for result in results if result.data_ptr() not in passed]
        found = self._take_wanted(results, case, host["results"]) if "results" in host else self._take_alike(results, case, host["shapes"])
        self.collect()
        return found

    def _take_alike(self, results: list[Any], case: Row, shapes: Row) -> list[Row]:
        """Takes each result for the first output of its type and size."""
        written = {each["storage"] for each in case["outputs"]}
        views = {each["name"]: each["tensor"] for each in case["arguments"] if "tensor" in each and each["tensor"]["storage"] in written}
        found = []
        for result in results:
            alike = [name for name, view in views.items()
                     if str(result.dtype) == f"torch.{view['dtype']}" and result.numel() == math.prod(view["shape"])]
            if not alike:
                raise Unmatched(f"a result is a {result.dtype} tensor {list(result.shape)}, as no output is")
            view, shape = views.pop(alike[0]), list(result.shape)
            if shape != shapes.get(alike[0], shape):
                raise Unmatched(f"a result has the shape {shape}, and {shapes[alike[0]]} is wanted")
            self.tensor(view).copy_(result.detach().reshape(view["shape"]))
            found.append({"name": alike[0], "shape": shape})
        return found

    def _take_wanted(self, results: list[Any], case: Row, wanted: list[Row]) -> list[Row]:
        """Takes results for outputs in their order. All are checked before any is taken."""
        if len(results) != len(wanted):
            raise Unmatched(f"it returns {len(results)} tensors, and {len(wanted)} are wanted")
        for result, each in zip(results, wanted):
            if list(result.shape) != each["shape"]:
                raise Unmatched(f"a result has the shape {list(result.shape)}, and {each['shape']} is wanted")
            if str(result.dtype).removeprefix("torch.") not in each["dtypes"]:
                raise Unmatched(f"a result is {result.dtype}, and {' or '.join(each['dtypes'])} is wanted")
        views = {each["name"]: each["tensor"] for each in case["arguments"] if "tensor" in each}
        for result, each in zip(results, wanted):
            to = self.tensor(views[each["name"]])
            to.copy_(result.detach().to(to.dtype).reshape(to.shape))
        return [{"name": each["name"], "shape": each["shape"]} for each in wanted]

    @staticmethod
    def make_model(model: Any) -> Any:
        """Makes a model. Returns its call, which computes no gradients, as KernelBench's."""
        import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

        made = model().cuda()

        def call(*inputs: Any) -> Any:
            with torch.no_grad():
                return made(*inputs)

        return call


def _complete(function: Any, values: Row) -> Row:
    return function.complete(values) if isinstance(function, Version) else values


def _tensors_in(value: Any, depth: int) -> Iterator[Any]:
    """Yields the tensors of a result: of tuples, lists and dictionaries too."""
    if hasattr(value, "untyped_storage"):
        yield value
    elif isinstance(value, (tuple, list)) and depth < 4:
        for each in value:
            yield from _tensors_in(each, depth + 1)
    elif isinstance(value, dict) and depth < 4:
        yield from _tensors_in(list(value.values()), depth + 1)


class Cpu(Device):
    """Triton's interpreter, on the arena itself."""

    def __init__(self, arena: Arena, places: list[Place], dtypes: dict[str, Any]) -> None:
        self._storages = [buffers.Storage(arena.address + place.offset, place.size) for place in places]
        self._dtypes = dtypes

    def tensor(self, view: Row) -> Any:
        return buffers.Buffer(self._storages[view["storage"]], self._dtypes[view["dtype"]], view["dtype"], tuple(view["shape"]),
                              tuple(view["strides"]), view["offset"])

    def prepare(self, function: Any, case: Row) -> Callable[[], Any]:
        return super().prepare(function, {**case, "options": {}})


class Processor(Device):
    """Triton's interpreter with torch, for host functions, on the arena itself."""

    def __init__(self, arena: Arena, places: list[Place], torch: Any) -> None:
        self._torch = torch
        self._storages = [torch.frombuffer(arena.map, dtype=torch.uint8, offset=place.offset, count=place.size).untyped_storage()
                          if place.size else torch.empty(0, dtype=torch.uint8).untyped_storage() for place in places]

    def tensor(self, view: Row) -> Any:
        empty = self._torch.empty(0, dtype=getattr(self._torch, view["dtype"]))
        return empty.set_(self._storages[view["storage"]], view["offset"], tuple(view["shape"]), tuple(view["strides"]))


class Cuda(Device):
    """A GPU, by torch. Each storage is copied with its guard zones."""

    def __init__(self, arena: Arena, places: list[Place]) -> None:
        import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]
        import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]

        if hasattr(triton, "set_allocator"):  # for kernels that need memory of their own
            triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
        self._torch, self._arena, self._places = torch, arena, places
        self._before = [arena.bytes[place.offset - GUARD_BYTES:place.offset + place.size + GUARD_BYTES].copy() for place in places]
        self._copies = [torch.from_numpy(each).cuda() for each in self._before]
        torch.cuda.synchronize()

    def tensor(self, view: Row) -> Any:
        torch, copy = self._torch, self._copies[view["storage"]]
        offset = GUARD_BYTES // elements.size(view["dtype"]) + view["offset"]
        empty = torch.empty(0, dtype=getattr(torch, view["dtype"]), device="cuda")
        return empty.set_(copy.untyped_storage(), offset, tuple(view["shape"]), tuple(view["strides"]))

    def placeholder(self, view: Row) -> Any:
        torch = self._torch
        offset = int(view["offset"]) % 16  # the compiler asks for addresses that are multiples of 16
        empty = torch.empty(offset + 1, dtype=getattr(torch, view["dtype"]), device="cuda")
        return empty.as_strided(tuple(view["shape"]), (0,) * len(view["shape"]), offset)

    def collect(self) -> None:
        self._torch.cuda.synchronize()
        after = [copy.cpu().numpy() for copy in self._copies]
        for place, found in zip(self._places, after):
            self._arena.bytes[place.offset - GUARD_BYTES:place.offset + place.size] = found[:GUARD_BYTES + place.size]
        # The arena has one zone between two storages, each copy has two. So what changed behind a storage is told last.
        for place, found, before in zip(self._places, after, self._before):
            end = place.offset + place.size
            behind = self._arena.bytes[end:end + GUARD_BYTES]
            changed = found[GUARD_BYTES + place.size:] != before[GUARD_BYTES + place.size:]
            behind[changed] = found[GUARD_BYTES + place.size:][changed]
