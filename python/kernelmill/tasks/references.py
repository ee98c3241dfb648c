"""Runs references on a processor, and finds how a reference is called: which arguments of a kernel its parameters stand for.

A test compares the result of a library's function with a reference. A case has the arguments of the kernel's launch, deeper down. The
basic idea of a binding: parameters and arguments are paired by name and type, and the reference is run on a case. A pairing is right
if what comes out equals what the kernel wrote, on the cases of the task. So a binding is no guess: it was executed."""

from __future__ import annotations

import ast
import base64
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.execution import elements, judge
from kernelmill.execution.case import Row
from kernelmill.execution.json_process import JsonProcess
from kernelmill.tasks.contents import TaskCase, Tensor, plain

SECONDS, MEMORY = 20, 8 << 30
PART_BYTES = 64 << 20  # the process gets no more arguments at once
PAIRINGS = 96  # the most that are tried on a reference
STEPS = 100_000  # the most in the search for pairings: n arguments can have n!, or none
REFERENCES = 4  # the most that are tried on a task
TRIED = 4       # pairings that fit the smallest case, and are tried on the others
VARIANTS, LITERALS = 8, 8  # the most ways to give parameters values of the test, and the most values of a name
WRAPPER = "kernelmill_reference"
SLACK = 4      # a reference may differ by so many tolerances: it adds in another order, and rounds at other places
SOURCES = ("torch", "math", "typing", "functools", "itertools", "numpy", "collections", "dataclasses", "operator", "types", "__future__", "einops")
_BACKWARD = re.compile("backward|bwd|(^|_)grad(s|ient|ients)?(_|$)")
_GRADIENT = re.compile("grad|backward|bwd|vjp|^[dD](_?[oO]|_?[yY]|_?out|_?[xX]|_?[qQ]|_?[kK]|_?[vV]|_?[wW]|_?[hH])$", re.IGNORECASE)
_NO_GRADIENT = ("no_grad", "enable_grad", "set_grad_enabled", "requires_grad", "requires_grad_", "is_grad_enabled")
_ENDINGS = re.compile("(_?(ptr|pointer|tensor|data|buf|buffer))+$")


class Process(JsonProcess):
    """A process with torch that runs references, for one thread. Use as a context. ProgramError: it cannot be started, or it broke."""

    def __init__(self, python: str = sys.executable, confined: bool = True) -> None:
        super().__init__(python, "kernelmill.tasks.torch_process", {}, confined, {"MKL_NUM_THREADS": "1"}, "references cannot be run",
                         "; they need torch")
        self.toolchain: Row = self.ready

    def call(self, module: str, function: str, calls: Iterable[Row]) -> Iterator[Row]:
        """Makes calls of a module's function. Yields a row for each: `outputs`, or `error`. No more than PART_BYTES of arguments are in
        memory, or those of one call."""
        for part in _parts(calls):
            yield from self.ask({"module": module, "function": function, "calls": part, "seconds": SECONDS, "memory": MEMORY})


def _parts(calls: Iterable[Row]) -> Iterator[list[Row]]:
    part: list[Row] = []
    size = 0
    for call in calls:
        part.append(call)
        size += sum(len(each.get("data", "")) for each in call.values())
        if size >= PART_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


@dataclass(frozen=True)
class Binding:
    """How a reference is called for a kernel's case, and which tensors its results stand for."""

    module: str
    function: str
    parameters: tuple[tuple[str, str], ...]  # parameter, argument of the kernel
    outputs: tuple[str, ...]                 # tensors of the kernel, in the order of the results
    shapes: dict[str, list[list[int]]] = field(default_factory=dict)  # the shapes of the results, by case


class Unbound(Exception):
    """A reference cannot stand for the kernel. The message is the reason, a word of docs/howto/tasks.md."""


@dataclass(frozen=True)
class Candidate:
    """A reference, and values that its test gives to names."""

    reference: Row
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by name, as Python's repr() has them


def candidates_of(task: Row, tests: Sequence[Row]) -> list[Candidate]:
    """Returns the references of a task: those of its kernel's tests in references.jsonl, or the one of its own row. Each once."""
    found: dict[str, Candidate] = {}
    for test in tests:
        if test["reference"]:
            values: dict[str, list[str]] = {}
            for case in test["cases"]:
                for each in case["values"]:
                    if each["literal"] and each["value"] not in values.setdefault(each["name"], []):
                        values[each["name"]].append(each["value"])
            found.setdefault(test["reference"]["module"], Candidate(
                test["reference"], {name: tuple(each[:LITERALS]) for name, each in values.items()}))
    if not found and task["reference"]:
        return [Candidate(task["reference"])]
    return list(found.values())


@dataclass(frozen=True)
class _Callable:
    """A function of a module that stands for a reference."""

    module: str
    node: ast.FunctionDef


def _wrap(module: str, parameters: str, result: str) -> _Callable:
    text = f"{module.rstrip()}\n\n\ndef {WRAPPER}({parameters}):\n    return {result}\n"
    return _Callable(text, [each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)][-1])


def _called_class(module: str, found: ast.ClassDef) -> _Callable:
    """Returns a function that makes an object of a class and calls it. Unbound: the parameters of both have a name in common."""
    methods = {each.name: each.args for each in found.body if isinstance(each, ast.FunctionDef)}
    forward = methods.get("forward") or methods.get("__call__")
    if forward is None:
        raise Unbound("no_function")
    parts = []
    for given in (methods.get("__init__"), forward):
        if given is not None and (given.vararg or given.kwarg or given.posonlyargs or given.kwonlyargs):
            raise Unbound("variadic")
        arguments = given.args[1:] if given is not None else []
        defaults = [None] * (len(arguments) - len(given.defaults)) + list(given.defaults) if given is not None else []
        parts.append([(each, default) for each, default in zip(arguments, defaults)])
    both = [*parts[0], *parts[1]]
    if len({each.arg for each, _ in both}) < len(both):
        raise Unbound("variadic")
    both.sort(key=lambda each: each[1] is not None)
    texts = [ast.unparse(each) + (f" = {ast.unparse(default)}" if default is not None else "") for each, default in both]
    made, called = (", ".join(f"{each.arg}={each.arg}" for each, _ in part) for part in parts)
    return _wrap(module, ", ".join(texts), f"{found.name}({made})({called})")


def _with_values(function: _Callable, values: dict[str, tuple[str, ...]], case: TaskCase) -> list[_Callable]:
    """Returns the function with parameters given by the values of its test, in each way; those that an argument of the kernel has the
    name of stay."""
    names = {_short(str(each["name"])) for each in case.case.row["arguments"]}
    own = [each.arg for each in (*function.node.args.args, *function.node.args.kwonlyargs)]
    fixed = {name: values[name] for name in own if name in values and _short(name) not in names and all(map(_is_literal, values[name]))}
    if not fixed:
        return [function]
    left = [name for name in own if name not in fixed and name not in _defaults(function.node)]
    ways = list(itertools.islice(itertools.product(*fixed.values()), VARIANTS))
    return [_wrap(function.module, ", ".join(left), f"{function.node.name}(" + ", ".join(
        [*(f"{name}={name}" for name in left), *(f"{name}={value}" for name, value in zip(fixed, way))]) + ")") for way in ways]


def _defaults(function: ast.FunctionDef) -> set[str]:
    given = function.args
    first = len(given.args) - len(given.defaults)
    return {each.arg for each in given.args[first:]} | {each.arg for each, default in zip(given.kwonlyargs, given.kw_defaults) if default}


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError):
        return False
    return True


def _needs_packages_only(reference: Row) -> bool:
    """Returns whether all that a module lacks are packages of SOURCES, such as numpy: a Python that lacks one of them says so."""
    lacks = reference["unresolved_names"]
    return bool(lacks) and all(each["reason"] == "package_import" and each["name"].partition(".")[0] in SOURCES for each in lacks)


def check_reference(reference: Row | None) -> _Callable:
    """Returns the function of a row's reference. Unbound: it is missing, or needs more than torch and such packages."""
    if reference is None:
        raise Unbound("no_reference")
    if reference["kind"] == "library_path":
        raise Unbound("library_path")
    if not reference["self_contained"] and not _needs_packages_only(reference):
        raise Unbound("not_self_contained")
    try:
        tree = ast.parse(reference["module"])
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Unbound("not_python") from error
    for node in ast.walk(tree):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any(each.partition(".")[0] not in SOURCES for each in names):
            raise Unbound("not_torch")
    name = reference["name"] or "reference"
    found = [each for each in tree.body if isinstance(each, (ast.FunctionDef, ast.ClassDef)) and each.name == name.rpartition(".")[2]]
    if not found:
        raise Unbound("no_function")
    last = found[-1]
    return _called_class(reference["module"], last) if isinstance(last, ast.ClassDef) else _Callable(reference["module"], last)


@dataclass(frozen=True)
class _Parameter:
    name: str
    annotation: str
    optional: bool


def _parameters(function: ast.FunctionDef) -> list[_Parameter]:
    given = function.args
    if given.vararg or given.kwarg or given.posonlyargs:
        raise Unbound("variadic")
    first = len(given.args) - len(given.defaults)
    both = [(each, place >= first) for place, each in enumerate(given.args)]
    both += [(each, default is not None) for each, default in zip(given.kwonlyargs, given.kw_defaults)]
    return [_Parameter(each.arg, ast.unparse(each.annotation) if each.annotation else "", optional) for each, optional in both]


def _short(name: str) -> str:
    return _ENDINGS.sub("", name.lower().strip("_")).replace("_", "")


def _likeness(parameter: str, argument: str) -> int:
    """Returns how alike two names are: 3 equal, 2 one begins with the other or ends with it, 0 different."""
    one, other = _short(parameter), _short(argument)
    if one == other:
        return 3
    short, long = sorted((one, other), key=len)
    return 2 if short and (long.startswith(short) or long.endswith(short)) else 0


def readable(case: TaskCase) -> list[Tensor]:
    """Returns the tensors whose memory holds something before the launch."""
    return [each for each in case.tensors() if case.case.storages[each.storage].get("recipe", {}).get("kind") != "poison"]


def _candidates(parameter: _Parameter, case: TaskCase) -> list[str]:
    """Returns the arguments that a parameter may stand for, the likeliest first."""
    tensors = [each.name for each in readable(case)]
    values = [str(each["name"]) for each in case.case.row["arguments"] if "scalar" in each or "constexpr" in each]
    empty = [str(each["name"]) for each in case.case.row["arguments"] if set(each) == {"name"}]  # None
    if "Tensor" in parameter.annotation:
        values = []
    elif parameter.annotation in ("int", "float", "bool", "str"):
        tensors = []
    alike = {name: _likeness(parameter.name, name) for name in (*tensors, *values, *empty)}
    named = [name for name in (*tensors, *values, *empty) if alike[name] >= (2 if parameter.optional else 0)]
    return sorted(named, key=lambda name: (-alike[name], name in values, named.index(name)))


def _pairings(parameters: list[_Parameter], case: TaskCase) -> Iterator[dict[str, str]]:
    """Iterates over pairings, the likeliest first. No argument is given twice."""
    choices = [(each, _candidates(each, case)) for each in parameters]
    if any(not found and not each.optional for each, found in choices):
        return
    steps = itertools.count()
    # Those of a total rank come before those of the next one; a rank is a place among a parameter's candidates.
    for total in range(sum(len(found) for _, found in choices) + 1):
        yield from _of_rank(choices, total, {}, steps)


def _of_rank(choices: list[tuple[_Parameter, list[str]]], total: int, taken: dict[str, str], steps: Iterator[int]) -> Iterator[dict[str, str]]:
    if next(steps) >= STEPS or total > sum(len(found) for _, found in choices):
        return
    if not choices:
        yield dict(taken)
        return
    (parameter, found), rest = choices[0], choices[1:]
    for rank, name in enumerate(found[:total + 1]):
        if name not in taken.values():
            yield from _of_rank(rest, total - rank, {**taken, parameter.name: name}, steps)
    if parameter.optional and total >= len(found):  # its default
        yield from _of_rank(rest, total - len(found), taken, steps)


def call_of(case: TaskCase, pairs: Sequence[tuple[str, str]]) -> Row:
    """Returns a call of a reference with the arguments of a case."""
    rows = {str(each["name"]): each for each in case.case.row["arguments"]}
    tensors = {each.name: each for each in case.tensors()}
    call: Row = {}
    for parameter, argument in pairs:
        if argument in tensors:
            tensor = tensors[argument]
            raw = numpy.ascontiguousarray(tensor.raw(case.before[tensor.storage]))
            call[parameter] = {"dtype": tensor.dtype, "shape": list(tensor.shape), "data": base64.b64encode(raw.tobytes()).decode()}
        else:
            call[parameter] = {"value": plain(rows[argument])}
    return call


def match_outputs(case: TaskCase, answer: Row) -> tuple[str, ...] | None:
    """Returns the tensor of the case that each result equals, or None: a result equals none."""
    if not answer.get("outputs"):
        return None
    left = [each for each in case.tensors() if each.storage in case.after]
    names: list[str] = []
    for each in answer["outputs"]:
        found = next((tensor for tensor in left if _equals(case, tensor, each)), None)
        if found is None:
            return None
        left.remove(found)
        names.append(found.name)
    return tuple(names)


def _equals(case: TaskCase, tensor: Tensor, result: Row) -> bool:
    expected = numpy.ascontiguousarray(tensor.raw(case.after[tensor.storage])).reshape(-1)
    if result["dtype"] not in elements.BITS or int(numpy.prod(result["shape"])) != expected.size:
        return False
    data = base64.b64decode(result["data"])
    if elements.is_float(tensor.dtype) != elements.is_float(str(result["dtype"])):
        return False
    values = elements.encode(elements.decode(data, str(result["dtype"])), tensor.dtype)
    tolerance = case.case.row["tolerance"].get(tensor.dtype, elements.TOLERANCE.get(tensor.dtype, 0.0)) * SLACK
    return judge.compare(values, expected.tobytes(), tensor.dtype, tolerance).outcome in ("exact", "close")


def _covers(case: TaskCase, names: Sequence[str]) -> bool:
    """Returns whether the tensors are all that the kernel writes."""
    storages = {each.name: each.storage for each in case.tensors()}
    return set(case.after) <= {storages[name] for name in names}


def _tells(case: TaskCase, names: Sequence[str]) -> bool:
    """Says whether an output holds different values: a constant equals many things."""
    tensors = {each.name: each for each in case.tensors()}
    return any(len(numpy.unique(tensors[name].raw(case.after[tensors[name].storage]))) > 1 for name in names)


def is_backward(task: Row, tags: Sequence[str]) -> bool:
    """Returns whether a kernel is one of the backward pass."""
    return "backward" in tags or bool(_BACKWARD.search(str(task["qualname"]).lower()))


def check_direction(reference: Row, backward: bool) -> None:
    """Unbound: the reference of a kernel of the backward pass has nothing of gradients, or that of another kernel computes them. Both may
    agree with the kernel on the cases, as the gradient of a linear function does, and are not what the task asks for."""
    try:
        tree = ast.parse(reference["module"])
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Unbound("not_python") from error
    called = {each.func.attr for each in ast.walk(tree) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)}
    takes = bool(called & {"backward", "grad", "vjp"}) or bool(_BACKWARD.search(str(reference["name"] or "").lower()))
    if takes and not backward:
        raise Unbound("other_direction")
    if backward and not takes and not any(_GRADIENT.search(each) for each in _names(tree) if each not in _NO_GRADIENT):
        raise Unbound("other_direction")


def _names(tree: ast.Module) -> set[str]:
    found = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    found |= {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
    return found | {each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute)}


def bind(candidates: Sequence[Candidate], cases: Sequence[TaskCase], process: Process, backward: bool = False
         ) -> tuple[Binding, list[TaskCase]]:
    """Returns how a reference is called, and the cases on which it equals the kernel: the reference that does on most. `backward`: the
    kernel is one of the backward pass. Unbound: none does on half of them; the reason is that of the first."""
    best: tuple[Binding, list[TaskCase]] | None = None
    first: Unbound | None = None
    for each in candidates[:REFERENCES]:
        try:
            function = check_reference(each.reference)
            check_direction(each.reference, backward)
            for function in _with_values(function, each.values, cases[0]):
                try:
                    found = _bind(function, cases, process)
                except Unbound as error:
                    first = first or error
                    continue
                if best is None or len(found[1]) > len(best[1]):
                    best = found
                if len(best[1]) == len(cases):
                    return best
        except Unbound as error:
            first = first or error
    if best is None:
        raise first or Unbound("no_reference")
    return best


def _bind(function: _Callable, cases: Sequence[TaskCase], process: Process) -> tuple[Binding, list[TaskCase]]:
    parameters, smallest = _parameters(function.node), cases[0]
    if any("tuple" in each for each in smallest.case.row["arguments"]):
        raise Unbound("tuple_argument")
    pairings: list[dict[str, str]] = []
    for each in _pairings(parameters, smallest):
        pairings.append(each)
        if len(pairings) == PAIRINGS:
            break
    if not pairings:
        raise Unbound("no_arguments")
    calls = (call_of(smallest, tuple(each.items())) for each in pairings)
    best: tuple[Binding, list[TaskCase]] | None = None
    failed = tried = parts = 0
    for pairs, answer in zip(pairings, process.call(function.module, function.node.name, calls)):
        failed += "error" in answer
        names = match_outputs(smallest, answer)
        if names is None:
            continue
        if not _covers(smallest, names):
            parts += 1
            continue
        tried += 1
        binding, held = _verify(Binding(function.module, function.node.name, tuple(pairs.items()), names), cases, process)
        if best is None or len(held) > len(best[1]):
            best = (binding, held)
        if tried == TRIED or len(held) == len(cases):
            break
    if best is not None and 2 * len(best[1]) >= len(cases):
        return best
    if parts and not tried:
        raise Unbound("outputs_missing")
    if failed == len(pairings):
        raise Unbound("reference_fails")
    raise Unbound("reference_differs")


def _verify(binding: Binding, cases: Sequence[TaskCase], process: Process) -> tuple[Binding, list[TaskCase]]:
    """Runs the reference on all cases. Returns those on which it equals the kernel; none if constants alone say so."""
    known = [{str(row["name"]) for row in case.case.row["arguments"]} for case in cases]
    fit = [case for case, names in zip(cases, known) if {argument for _, argument in binding.parameters} <= names]
    answers = process.call(binding.module, binding.function, (call_of(case, binding.parameters) for case in fit))
    held = []
    for case, answer in zip(fit, answers):
        if match_outputs(case, answer) == binding.outputs:
            held.append(case)
            binding.shapes[case.id] = [each["shape"] for each in answer["outputs"]]
    return binding, held if any(_tells(case, binding.outputs) for case in held) else []
