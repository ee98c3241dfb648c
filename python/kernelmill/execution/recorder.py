"""The recorder: a plugin of pytest that copies the inputs and outputs of launches while a repository's tests run.

`python -m pytest -p kernelmill.execution.recorder` with KERNELMILL_RECORD (Options, as JSON) in a process of its own. Triton's innermost
launch is hooked, below autotuners and heuristics, where all constexprs are known. A launch is recorded if its kernel is wanted, it
differs from those recorded before (`_variety`), and its tensors are small. An autotuner does not measure here: the first configuration
that can be launched wins, so that a recording does not depend on the clock.

After a launch, the recorded kernel runs again on copies:
  * storages that it overwrites, or parts of them, without reading: they become poison, which shows what a kernel must write
  * random floating-point inputs: they become recipes of the same distribution, and the outputs are those of this run (`remade`)
A storage stays as it was (`content`) if the kernel then gives something else, or numbers that are not finite."""

from __future__ import annotations

import ctypes
import hashlib
import inspect
import json
import math
import os
import pathlib
import re
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.execution import elements, judge, recipes
from kernelmill.execution.case import CODE_VARIABLES, Row

MOST_CAPTURED = 64 << 20  # bytes of a launch's storages
WHOLE_STORAGE = 1 << 18   # of larger storages, only what arguments view is kept
RECIPE_BYTES = 1024       # smaller inputs stay as they are
ALIGNMENT = 256
BROKEN = 97               # the exit code of a process whose GPU context is broken
GPU_BROKEN = re.compile("illegal memory access|device-side assert|misaligned address|unspecified launch failure|CUDA_ERROR_ILLEGAL")
LITERALS = (bool, int, float, str, type(None))


class Refused(Exception):
    """A launch that cannot be recorded. The message is the reason, one word."""


class TooSlow(Exception):
    """A launch with more programs than `Options.programs`: its test ends."""


@dataclass(frozen=True)
class Options:
    """`wanted`: the lines [first, last] of kernels, by path relative to `root`. `cases`: the most of a kernel; `size`: the most bytes
    by content of a case; `programs`: the most of a launch, 0 for any number, since an interpreter takes milliseconds for one; `done`:
    tests that an earlier process ran."""

    out: str
    root: str
    wanted: dict[str, list[list[int]]]
    cases: int = 6
    size: int = 1 << 20
    test_seconds: int = 60
    programs: int = 0
    pretend_cuda: bool = False
    done: tuple[str, ...] = ()


@dataclass
class Span:
    """A part of a torch storage that arguments view. `tensors`: the arguments' paths."""

    base: Any
    start: int
    end: int

    def read(self) -> bytes:
        """Returns the bytes. On the processor without operators of torch, which the tested library may have replaced."""
        import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

        storage, size = self.base.untyped_storage(), self.end - self.start
        if storage.device.type == "cpu":
            return ctypes.string_at(self.start, size)
        empty: Any = torch.empty(0, dtype=torch.uint8, device=storage.device)
        return bytes(empty.set_(storage, self.start - storage.data_ptr(), (size,)).cpu().numpy().tobytes()) if size else b""


class Copy:
    """A storage with the given bytes, `skip` bytes behind its start, at a multiple of ALIGNMENT. On the processor it is made without
    operators of torch, which the tested library may have replaced."""

    def __init__(self, content: bytes, device: Any) -> None:
        import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

        self._size = len(content)
        self.storage: Any = torch.UntypedStorage(max(len(content), 1) + ALIGNMENT, device=device)
        self.skip = -self.storage.data_ptr() % ALIGNMENT
        if device.type == "cpu":
            ctypes.memmove(self.storage.data_ptr() + self.skip, content, len(content))
        elif content:
            self._view().copy_(torch.from_numpy(numpy.frombuffer(content, numpy.uint8).copy()))

    def _view(self) -> Any:
        import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

        empty: Any = torch.empty(0, dtype=torch.uint8, device=self.storage.device)
        return empty.set_(self.storage, self.skip, (self._size,))

    def read(self) -> bytes:
        if self.storage.device.type == "cpu":
            return ctypes.string_at(self.storage.data_ptr() + self.skip, self._size)
        return bytes(self._view().cpu().numpy().tobytes()) if self._size else b""


def tensors_in(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for each in value:
            yield from tensors_in(each)
    elif hasattr(value, "data_ptr") and hasattr(value, "untyped_storage"):
        yield value


def _reach(tensor: Any) -> tuple[int, int]:
    """Returns the addresses of a tensor's first byte and of the byte after its last."""
    low = high = 0
    for length, stride in zip(tensor.shape, tensor.stride()):
        low, high = low + min(0, (length - 1) * stride), high + max(0, (length - 1) * stride)
    return tensor.data_ptr() + low * tensor.element_size(), tensor.data_ptr() + (high + 1) * tensor.element_size()


def find_spans(values: list[Any]) -> tuple[list[Span], dict[int, int]]:
    """Returns the spans of all tensors, and the span of each tensor by its identity. Tensors that share a storage share a span."""
    spans: list[Span] = []
    by_storage: dict[int, int] = {}
    places: dict[int, int] = {}
    for tensor in (each for value in values for each in tensors_in(value)):
        if tensor.numel() == 0:
            places[id(tensor)] = len(spans)
            spans.append(Span(tensor, 0, 0))
            continue
        start, end = _reach(tensor)
        base, size = tensor.untyped_storage().data_ptr(), tensor.untyped_storage().nbytes()
        if size <= WHOLE_STORAGE:  # a kernel may reach more of it than its argument shows
            start, end = base, base + size
        start = max(base, start // ALIGNMENT * ALIGNMENT)
        place = by_storage.setdefault(base, len(spans))
        if place == len(spans):
            spans.append(Span(tensor, start, end))
        span = spans[place]
        span.start, span.end = min(span.start, start), max(span.end, end)
        places[id(tensor)] = place
    return spans, places


def tensor_row(tensor: Any, place: int, span: Span) -> Row:
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype not in elements.BITS:
        raise Refused(f"dtype_{dtype}")
    offset = 0 if span.end == 0 else tensor.data_ptr() - span.start
    if offset % tensor.element_size():
        raise Refused("unaligned")
    return {"dtype": dtype, "shape": list(tensor.shape), "strides": list(tensor.stride()), "offset": offset // tensor.element_size(),
            "storage": place}


def constexpr_text(value: Any) -> str:
    import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]

    value = getattr(value, "value", value) if isinstance(value, tl.constexpr) else value
    if isinstance(value, tl.dtype):
        name = next((name for name in dir(tl) if getattr(tl, name) is value), None)
        if name is None:
            raise Refused("constexpr_dtype")
        return f"tl.{name}"
    if isinstance(value, tuple):
        return "(" + "".join(f"{constexpr_text(each)}," for each in value) + ")"
    if isinstance(value, LITERALS) and (not isinstance(value, float) or math.isfinite(value)):
        return repr(value)
    raise Refused("constexpr_object" if not callable(value) else "function_argument")


def argument_row(value: Any, constexpr: bool, spans: list[Span], places: dict[int, int]) -> Row:
    """Describes an argument. Refused: a case cannot hold it."""
    if constexpr or isinstance(value, str) or type(value).__name__ in ("constexpr", "dtype") and not hasattr(value, "data_ptr"):
        return {"constexpr": constexpr_text(value)}
    if value is None:
        return {}
    if type(value).__name__ == "TensorWrapper":
        raise Refused("reinterpreted_tensor")
    if "Descriptor" in type(value).__name__:
        raise Refused("tensor_descriptor")
    if isinstance(value, tuple):
        return {"tuple": [argument_row(each, False, spans, places) for each in value]}
    if id(value) in places:
        return {"tensor": tensor_row(value, places[id(value)], spans[places[id(value)]])}
    if isinstance(value, bool) or isinstance(value, int):
        return {"scalar": {"type": type(value).__name__, "value": value}}
    if isinstance(value, float):
        return {"scalar": {"type": "float", "value": value if math.isfinite(value) else repr(value)}}
    raise Refused(f"argument_{type(value).__name__}")


def is_ragged(rows: list[Row], grid: list[int]) -> bool:
    """Returns True if a size is no multiple of a block size, and as many blocks as cover it are launched."""
    sizes = {row["scalar"]["value"] for row in rows if "scalar" in row and row["scalar"]["type"] == "int"}
    sizes |= {length for row in rows if "tensor" in row for length in row["tensor"]["shape"]}
    blocks = {int(row["constexpr"]) for row in rows if row.get("constexpr", "").isdigit()}
    return any(size > 1 and block >= 8 and block & (block - 1) == 0 and size % block and -(-size // block) in (*grid, 1)
               for size in sizes for block in blocks)


class Launch:
    """A launch that is being recorded: its arguments, and how to launch the kernel again."""

    def __init__(self, bound: dict[str, Any], rows: list[Row], spans: list[Span], places: dict[int, int], grid: list[int], options: Row,
                 run: Callable[..., Any], has_atomics: bool) -> None:
        self.has_atomics = has_atomics
        self.environment = {name: os.environ[name] for name in CODE_VARIABLES if os.environ.get(name)}
        self.bound, self.rows, self.spans, self.places = bound, rows, spans, places
        self.grid, self.options, self._run = grid, options, run

    def types(self) -> dict[int, str]:
        """Returns the element types of storages that have one."""
        found: dict[int, set[str]] = {}
        for view in _views(self.rows):
            found.setdefault(view["storage"], set()).add(view["dtype"])
        return {place: next(iter(types)) for place, types in found.items() if len(types) == 1}

    def may_poison(self, place: int) -> bool:
        """Returns False for integers of a kernel with atomics: it might wait for a counter or a lock."""
        return not self.has_atomics or all(elements.is_float(view["dtype"]) for view in _views(self.rows) if view["storage"] == place)

    def again(self, contents: list[bytes]) -> list[bytes]:
        """Launches the kernel on storages with these bytes. Returns the bytes afterwards."""
        import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

        copies = [Copy(content, span.base.untyped_storage().device) for span, content in zip(self.spans, contents)]

        def replaced(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(replaced(each) for each in value)
            if id(value) not in self.places:
                return value
            place = self.places[id(value)]
            row = tensor_row(value, place, self.spans[place])
            if not value.numel():
                return value
            copy = copies[place]
            # The element offset must be whole: storages of torch begin at a multiple of 64.
            offset = copy.skip // value.element_size() + row["offset"]
            empty = torch.empty(0, dtype=value.dtype, device=copy.storage.device)
            return empty.set_(copy.storage, offset, value.shape, value.stride())

        self._run(**{name: replaced(value) for name, value in self.bound.items()}, grid=tuple(self.grid), warmup=False, **self.options)
        synchronize()
        return [copy.read() for copy in copies]


def find_grid(function: Any, names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
    """Returns a launch's arguments by name, and its grid."""
    parameters = inspect.signature(function).parameters
    bound = {name: each.default for name, each in parameters.items() if each.default is not inspect.Parameter.empty}
    bound |= dict(zip(names, args)) | {name: value for name, value in kwargs.items() if name in parameters}
    bound = {name: bound[name] for name in names}
    grid = kwargs["grid"](bound) if callable(kwargs["grid"]) else kwargs["grid"]
    return bound, ([int(each) for each in grid] + [1, 1])[:3] if isinstance(grid, (tuple, list)) else [int(grid), 1, 1]


def has_atomics(function: Any) -> bool:
    """Returns True if the function's file has atomics, or cannot be read."""
    try:
        return "atomic_" in inspect.getsource(inspect.getmodule(function) or function)
    except (OSError, TypeError):
        return True


def synchronize() -> None:
    import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

    cuda: Any = torch.cuda
    if cuda.is_initialized():
        cuda.synchronize()


class Recorder:
    """Records launches to a folder: launches.jsonl, and tensors by SHA-256 beside it."""

    def __init__(self, options: Options) -> None:
        self._options, self._root = options, os.path.realpath(options.root)
        self._out = pathlib.Path(options.out)
        (self._out / "tensors").mkdir(parents=True, exist_ok=True)
        self._lines = (self._out / "launches.jsonl").open("a", encoding="utf-8")
        self._seen: dict[tuple[str, int], set[str]] = {}
        self._refused: set[tuple[str, int, str]] = set()
        self._places: dict[Any, tuple[str, int] | None] = {}
        self._busy = threading.local()
        self.pending: list[Row] = []
        self.launched: set[tuple[str, int]] = set()  # the wanted kernels that the running test has launched

    # ------------------------------------------------------------ launches

    def place(self, function: Any) -> tuple[str, int] | None:
        """Returns the path and first line of a wanted kernel, or None."""
        code = function.__code__
        if code not in self._places:
            path = os.path.realpath(code.co_filename)
            relative = os.path.relpath(path, self._root)
            lines = self._options.wanted.get(relative, [])
            found = next((first for first, last in lines if first <= code.co_firstlineno <= last), None)
            self._places[code] = None if found is None else (relative, found)
        return self._places[code]

    def launch(self, function: Any, names: list[str], run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Launches, and records the launch if it is worth it."""
        place = self.place(function)
        if kwargs.get("warmup") or getattr(self._busy, "on", False):
            return run(*args, **kwargs)
        self._check_size(place, function, names, args, kwargs)
        if place is None:
            return run(*args, **kwargs)
        self.launched.add(place)
        self._busy.on = True
        try:
            prepared = None
            try:
                prepared = self._prepare(place, function, names, run, args, kwargs)
            except Refused as refused:
                self._refuse(place, str(refused))
            except Exception as error:  # pylint: disable=broad-except
                self._refuse(place, f"recorder_{type(error).__name__}")
            if prepared is None:
                return run(*args, **kwargs)
            synchronize()
            before = [span.read() for span in prepared.spans]
            result = run(*args, **kwargs)
            synchronize()
            after = [span.read() for span in prepared.spans]
            try:
                self.pending.append(self._record(place, prepared, before, after))
            except Refused as refused:
                self._refuse(place, str(refused))
            except Exception as error:  # pylint: disable=broad-except
                self._refuse(place, f"again_{type(error).__name__}")
            return result
        finally:
            self._busy.on = False

    def _check_size(self, place: tuple[str, int] | None, function: Any, names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]
                    ) -> None:
        """TooSlow: the launch, of any kernel, has too many programs."""
        try:
            programs = math.prod(find_grid(function, names, args, kwargs)[1]) if self._options.programs else 0
        except Exception:  # pylint: disable=broad-except
            return  # the launch says what is wrong
        if programs > self._options.programs:
            if place is not None:
                self._refuse(place, "too_many_programs")
            raise TooSlow(f"{programs} programs, of {self._options.programs} that the interpreter runs")

    def _prepare(self, place: tuple[str, int], function: Any, names: list[str], run: Callable[..., Any], args: tuple[Any, ...],
                 kwargs: dict[str, Any]) -> Launch | None:
        """Returns the launch if it is to be recorded."""
        parameters = inspect.signature(function).parameters
        bound, grid = find_grid(function, names, args, kwargs)
        options = {name: value for name, value in kwargs.items()
                   if name not in (*parameters, "grid", "warmup") and isinstance(value, (bool, int)) and name != "debug"}
        spans, places = find_spans(list(bound.values()))
        rows = [{"name": name, **argument_row(value, "constexpr" in str(parameters[name].annotation), spans, places)}
                for name, value in bound.items()]
        if sum(span.end - span.start for span in spans) > MOST_CAPTURED:
            raise Refused("too_large")
        variety = self._variety(rows, grid, options)
        seen = self._seen.setdefault(place, set())
        ragged = variety.endswith("ragged")
        room = self._options.cases if ragged or any(each.endswith("ragged") for each in seen) else self._options.cases - 2
        if variety in seen or len(seen) >= room:
            return None
        return Launch(bound, rows, spans, places, grid, options, run, has_atomics(function))

    def _variety(self, rows: list[Row], grid: list[int], options: Row) -> str:
        """Returns what makes a launch another kind of launch: types, constexprs, classes of sizes."""
        def kind(row: Row) -> Any:
            if "tensor" in row:
                view = row["tensor"]
                return [view["dtype"], len(view["shape"]), [0 in view["shape"], 1 in view["shape"]], view["strides"][-1:] == [1]]
            if "scalar" in row:
                value = row["scalar"]["value"]
                return [row["scalar"]["type"], isinstance(value, int) and (value == 1, value % 16 == 0)]
            return row.get("constexpr", [kind(each) for each in row.get("tuple", [])])

        ragged = "ragged" if is_ragged(rows, grid) else "even"
        return json.dumps([[kind(row) for row in rows], options, [each > 1 for each in grid]]) + ragged

    def has_enough(self, places: set[tuple[str, int]]) -> bool:
        """Returns True if kernels have as many cases as they get without a ragged one."""
        return bool(places) and all(len(self._seen.get(place, ())) >= self._options.cases - 2 for place in places)

    # ------------------------------------------------------------ what is kept

    def _record(self, place: tuple[str, int], launch: Launch, before: list[bytes], after: list[bytes]) -> Row:
        if before == after:
            raise Refused("writes_nothing")
        storages, inputs, outputs, how = self._choose(launch, before, after)
        self._check_repeats(launch, inputs, outputs)
        written = [each for each, (start, end) in enumerate(zip(inputs, outputs)) if start != end]
        kept = [storage for storage in storages if "recipe" not in storage]
        if not written or sum(each["bytes"] for each in kept) + sum(len(outputs[each]) for each in written) > self._options.size:
            raise Refused("too_large" if written else "writes_nothing")
        for storage, content in zip(storages, inputs):
            if "recipe" not in storage:
                storage["sha256"] = self._keep(content)
        variety = self._variety(launch.rows, launch.grid, launch.options)
        self._seen[place].add(variety)
        return {"path": place[0], "line": place[1], "arguments": launch.rows, "storages": storages, "grid": launch.grid,
                "options": launch.options, "environment": launch.environment, "ragged": variety.endswith("ragged"), "inputs": how,
                "outputs": [{"storage": each, "sha256": self._keep(outputs[each])} for each in written]}

    def _check_repeats(self, launch: Launch, inputs: list[bytes], outputs: list[bytes]) -> None:
        """Refused: the kernel makes something else of the same inputs, as sums in any order do."""
        types = launch.types()
        for place, (found, expected) in enumerate(zip(launch.again(inputs), outputs)):
            if judge.compare(numpy.frombuffer(found, numpy.uint8), expected, types.get(place)).outcome == "different":
                raise Refused("not_repeatable")

    def _choose(self, launch: Launch, before: list[bytes], after: list[bytes]) -> tuple[list[Row], list[bytes], list[bytes], str]:
        """Returns the storages, their bytes before and after, and if the inputs are `content` or `remade`."""
        types = launch.types()
        written = {each for each, (start, end) in enumerate(zip(before, after)) if start != end}
        inputs, outputs = list(before), list(after)
        storages: list[Row] = [{"bytes": len(each)} for each in before]
        for place in self._find_overwritten(launch, before, after, written):
            inputs[place] = recipes.poison(len(before[place]))
            storages[place]["recipe"] = {"kind": "poison"}
        if any("recipe" in each for each in storages):
            outputs = launch.again(inputs)
        random: dict[int, Row] = {}
        for place, content in enumerate(before):
            if "recipe" in storages[place] or place not in types or not content:
                continue
            recipe = recipes.find_exact(content, types[place])
            if recipe is not None:
                storages[place]["recipe"] = recipe
            elif len(content) >= RECIPE_BYTES:
                seed = int.from_bytes(hashlib.sha256(content).digest()[:4], "little")
                recipe = recipes.fit_distribution(content, types[place], seed)
                if recipe is not None:
                    random[place] = recipe
        if random:
            made = [recipes.fill(random[place], len(content)) if place in random else content for place, content in enumerate(inputs)]
            remade = launch.again(made)
            if all(_sane(outputs[place], remade[place], types.get(place)) for place in written):
                for place, recipe in random.items():
                    storages[place]["recipe"] = recipe
                return storages, made, remade, "remade"
        return storages, inputs, outputs, "content"

    def _find_overwritten(self, launch: Launch, before: list[bytes], after: list[bytes], written: set[int]) -> set[int]:
        """Returns the storages whose bytes before do not matter: poisoned, the kernel writes the same."""
        chosen = {place for place in written if launch.may_poison(place)}
        for _ in range(2):
            if not chosen:
                break
            poisoned = launch.again([recipes.poison(len(each)) if place in chosen else each for place, each in enumerate(before)])
            failed = set()
            for place in written:
                found, wanted = numpy.frombuffer(poisoned[place], numpy.uint8), numpy.frombuffer(after[place], numpy.uint8)
                untouched = (found == 0xFF) & (wanted == numpy.frombuffer(before[place], numpy.uint8)) if place in chosen else False
                if not ((found == wanted) | untouched).all():
                    failed.add(place)
            if not failed:
                return chosen
            chosen -= failed & chosen or chosen
        return set()

    def _keep(self, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        path = self._out / "tensors" / digest
        if not path.exists():
            path.write_bytes(content)
        return digest

    # ------------------------------------------------------------ what is told

    def _refuse(self, place: tuple[str, int], reason: str) -> None:
        if (*place, reason) not in self._refused:
            self._refused.add((*place, reason))
            self.tell({"refused": reason, "path": place[0], "line": place[1]})

    def tell(self, row: Row) -> None:
        self._lines.write(json.dumps(row) + "\n")
        self._lines.flush()

    def end_test(self, test: str, outcome: str, seconds: float, why: str) -> None:
        for row in self.pending:
            self.tell({"launch": {**row, "test": test, "outcome": outcome}})
        self.pending = []
        self.tell({"test": test, "outcome": outcome, "seconds": round(seconds, 3), "why": why})


def _views(rows: list[Row]) -> Iterator[Row]:
    for row in rows:
        if "tensor" in row:
            yield row["tensor"]
        yield from _views(row.get("tuple", []))


def _sane(recorded: bytes, remade: bytes, dtype: str | None) -> bool:
    """Returns True if remade outputs are as finite and as varied as the recorded ones."""
    if dtype is None or not elements.is_float(dtype):
        return True
    old, new = elements.decode(recorded, dtype), elements.decode(remade, dtype)
    finite = numpy.isfinite(new)
    if numpy.count_nonzero(finite) < numpy.count_nonzero(numpy.isfinite(old)):
        return False
    return len(numpy.unique(old)) <= 1 or len(numpy.unique(new[finite])) > 1


# ---------------------------------------------------------------- hooks

def hook_launches(recorder: Recorder) -> None:
    from triton.runtime import autotuner, interpreter, jit  # type: ignore[import-not-found, import-untyped, unused-ignore]

    run = jit.JITFunction.run

    def recorded(self: Any, *args: Any, **kwargs: Any) -> Any:
        return recorder.launch(self.fn, self.arg_names, lambda *a, **k: run(self, *a, **k), args, kwargs)

    jit.JITFunction.run = recorded
    start = interpreter.InterpretedFunction.__init__

    def started(self: Any, fn: Any, **kwargs: Any) -> None:
        start(self, fn, **kwargs)
        inner = self.run
        self.run = lambda *a, **k: recorder.launch(self.fn, self.arg_names, inner, a, k)

    interpreter.InterpretedFunction.__init__ = started
    interpreter.InterpretedFunction.__getitem__ = lambda self, grid: lambda *a, **k: self.run(*a, grid=grid, warmup=False, **k)
    bench, tuned = autotuner.Autotuner._bench, autotuner.Autotuner.run

    def first_wins(self: Any, *args: Any, **kwargs: Any) -> Any:
        if getattr(self, "_kernelmill_won", False):
            return [float("inf")] * 3
        self._do_bench = self.__dict__["do_bench"] = _once  # names of several versions
        timings = bench(self, *args, **kwargs)
        self._kernelmill_won = timings != [float("inf")] * 3
        return timings

    def run_tuned(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._kernelmill_won = False
        return tuned(self, *args, **kwargs)

    autotuner.Autotuner._bench, autotuner.Autotuner.run = first_wins, run_tuned


def _once(call: Callable[[], Any], *_: Any, **__: Any) -> list[float]:
    call()
    return [0.0] * 3


def estimate_work(item: Any) -> float:
    """Returns the logarithm of the product of a test's parameters that are whole numbers, also in tuples: its tensors are the smaller the
    smaller this is. Parameters of other kinds count by the numbers in the test's name."""
    def numbers(value: Any) -> Iterator[float]:
        if isinstance(value, (list, tuple)):
            for each in value:
                yield from numbers(each)
        elif isinstance(value, int) and value > 1:
            yield float(value)

    parameters = getattr(getattr(item, "callspec", None), "params", {}).values()
    named = (float(each) for each in re.findall(r"\d+", item.nodeid.partition("[")[2]) if int(each) > 1)
    return sum(math.log(each) for value in parameters for each in numbers(value)) or sum(math.log(each) for each in named)


class Plugin:
    """Tells pytest's outcomes to the recorder, and ends tests that take too long."""

    def __init__(self, recorder: Recorder, test_seconds: int, done: frozenset[str]) -> None:
        self._recorder, self._seconds, self._done = recorder, test_seconds, done
        self._launched: dict[str, set[tuple[str, int]]] = {}  # by test, without parameters

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Runs one set of parameters of each test first, then another of each, so that a recording that is cut off has seen most.
        Small sizes come first: their tensors can be kept, and Triton's interpreter is slow."""
        tests: dict[str, list[Any]] = {}
        for item in items:
            if item.nodeid not in self._done:
                tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
        turns = zip_longest(*(sorted(each, key=estimate_work) for each in tests.values()))
        items[:] = [item for turn in turns for item in turn if item is not None]

    def pytest_runtest_setup(self, item: Any) -> None:
        def late(*_: Any) -> None:
            raise TimeoutError(f"more than {self._seconds} seconds")

        import pytest  # type: ignore[import-not-found, import-untyped, unused-ignore]

        self._recorder.tell({"begun": item.nodeid})
        self._recorder.launched = set()
        if self._recorder.has_enough(self._launched.get(item.nodeid.partition("[")[0], set())):
            pytest.skip("its kernels have cases")
        signal.signal(signal.SIGALRM, late)
        signal.alarm(self._seconds)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
            signal.alarm(0)
            self._launched.setdefault(report.nodeid.partition("[")[0], set()).update(self._recorder.launched)
            lines = report.longreprtext.splitlines() if report.outcome == "failed" else []
            why = next((line[1:].strip() for line in reversed(lines) if line.startswith("E ")), lines[-1] if lines else "")
            self._recorder.end_test(report.nodeid, report.outcome, report.duration, why[:200])
            if GPU_BROKEN.search(report.longreprtext if report.outcome == "failed" else ""):
                os._exit(BROKEN)  # no later test of this process can pass

    def pytest_sessionfinish(self) -> None:
        self._recorder.tell({"ended": True})


def pytest_load_initial_conftests(early_config: Any) -> None:
    """Hooks before a conftest imports a kernel."""
    options = Options(**json.loads(pathlib.Path(os.environ["KERNELMILL_RECORD"]).read_text(encoding="utf-8")))
    if options.pretend_cuda:
        from kernelmill.execution import interpreter, pretend

        interpreter.correct(bounded=False)
        pretend.install()
    own = pathlib.Path(options.root) / "test"
    if own.is_dir():  # Python's own package of this name, which torch imports, would hide it
        sys.modules["test"] = types.ModuleType("test")
        sys.modules["test"].__path__ = [str(own)]
    recorder = Recorder(options)
    hook_launches(recorder)
    early_config.pluginmanager.register(Plugin(recorder, options.test_seconds, frozenset(options.done)), "kernelmill-recorder-tests")
