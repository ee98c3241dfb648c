"""Finds how an answer serves a case of its task: by a kernel with the case's parameters, and by its own call: ModelNew, or a host function
whose parameters have the case's names. Reads the answer's text; nothing of it runs here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from kernelmill.execution.case import Case

MODEL = "ModelNew"  # the class of an answer to a problem in KernelBench's form


@dataclass(frozen=True)
class Host:
    """A host function of a module. `required`: the parameters without a default."""

    module: str
    name: str
    parameters: tuple[str, ...]
    required: frozenset[str]

    def arguments(self, case: Case) -> dict[str, str] | str:
        """Returns {parameter: name of the case's argument}, or the reason why there is no such map."""
        by_name: dict[str, list[str]] = {}
        for each in case.row["arguments"]:
            by_name.setdefault(plain(each["name"]), []).append(each["name"])
        outputs = {each["name"] for each in case.row["arguments"]
                   if "tensor" in each and case.storages[each["tensor"]["storage"]].get("recipe", {}).get("kind") == "poison"}
        found: dict[str, str] = {}
        for parameter in self.parameters:
            names = by_name.get(plain(parameter), [])
            if len(names) == 1 and (parameter in self.required or names[0] not in outputs):
                found[parameter] = names[0]
            elif parameter in self.required:
                return f"{self.name} needs {parameter}, which no argument of the case is named for"
        return found if found else f"{self.name} has no parameter that an argument of the case is named for"


@dataclass(frozen=True)
class Match:
    """How an answer serves a task. `kernel`: the kernel's name; `model`: it defines ModelNew; `host`: the host function that launches
    its kernel; `why`: the reason why all are missing; `broken`: the reason where no task could be served."""

    kernel: str = ""
    model: bool = False
    host: Host | None = None
    why: str = ""
    broken: str = ""


def plain(name: str) -> str:
    """Returns a parameter's name without what says that it is a pointer: x_ptr and X are x."""
    name = name.lower()
    for end in ("_pointer", "_ptrs", "_ptr", "ptr"):
        if name.endswith(end) and name != end:
            name = name.removesuffix(end)
            break
    return name.strip("_").replace("_", "")


def match_answer(code: str, kernel: str, case: Case, launcher: Host | None) -> Match:
    """Matches an answer with a case of the kernel of a task: a kernel of that name with the case's parameters; else the only kernel with
    exactly these parameters. The own call of an answer is ModelNew, or else the host function that is named as the task's launcher, or
    the only one."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Match(broken="it does not parse")
    kernels = {each.name: each for each in _functions(tree.body) if _is_kernel(each)}
    if not kernels:
        return Match(broken="it has no kernel")
    arguments = [str(each["name"]) for each in case.row["arguments"]]
    name = kernel.rpartition(".")[2]
    model = has_model(tree)
    found = name if name in kernels and _takes(kernels[name], arguments) else ""
    if not found and not model:  # a kernel that ModelNew launches may mean something else by the same parameters
        same = [each for each in kernels if _parameters(kernels[each]) == arguments]
        found = same[0] if len(same) == 1 else ""
    if model:
        return Match(kernel=found, model=True)
    why = "" if found else _why_not(kernels, name, arguments)
    host = _host_of(tree, code, launcher, set(kernels) if found else None)
    if host is None:
        return Match(kernel=found, why=why)
    given = host.arguments(case)
    if isinstance(given, dict):
        return Match(kernel=found, host=host)
    return Match(kernel=found, why=f"{why}; {given}" if why else "")


def has_model(tree: ast.Module) -> bool:
    """Returns whether a module binds ModelNew: as a class, or as another name of one."""
    return any(isinstance(each, ast.ClassDef) and each.name == MODEL or
               isinstance(each, ast.Assign) and isinstance(each.value, ast.Name) and
               any(isinstance(target, ast.Name) and target.id == MODEL for target in each.targets) for each in _statements(tree.body))


def find_host(module: str, name: str) -> Host | None:
    """Returns a host function of a module by its name."""
    try:
        tree = ast.parse(module)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return next((_host(module, each) for each in _functions(tree.body) if each.name == name and not _is_kernel(each)), None)


def _why_not(kernels: dict[str, ast.FunctionDef], name: str, arguments: list[str]) -> str:
    if name not in kernels:
        return f"no kernel is named {name} or has the parameters {', '.join(arguments)}"
    missing = [each for each in arguments if each not in _parameters(kernels[name])]
    if missing:
        return f"{name} lacks the parameter {missing[0]}"
    return f"{name} needs {next(each for each in _required(kernels[name]) if each not in arguments)}, which the task does not give"


def _host_of(tree: ast.Module, code: str, launcher: Host | None, kernels: set[str] | None) -> Host | None:
    """`kernels`: a host function that is not named as the task's launcher must launch one of them, or call what does."""
    hosts = [each for each in _functions(tree.body) if not _is_kernel(each)]
    if launcher is not None:
        named = [each for each in hosts if each.name == launcher.name.rpartition(".")[2]]
        if named:
            return _host(code, named[-1])
    used = {name for function in hosts for name in _names(function) if name != function.name}
    entries = [each for each in hosts if each.name not in used and not each.name.startswith(("test", "bench", "main", "ref"))]
    if kernels is not None:
        entries = [each for each in entries if _reaches(each, hosts, kernels)]
    return _host(code, entries[0]) if len(entries) == 1 else None


def _names(function: ast.FunctionDef) -> set[str]:
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}


def _reaches(function: ast.FunctionDef, hosts: list[ast.FunctionDef], kernels: set[str]) -> bool:
    """Returns whether a function, or one that it names, names a kernel."""
    by_name = {each.name: each for each in hosts}
    seen, waiting = {function.name}, [function]
    while waiting:
        names = _names(waiting.pop())
        if names & kernels:
            return True
        waiting += [by_name[name] for name in names - seen if name in by_name]
        seen |= names
    return False


def _host(code: str, function: ast.FunctionDef) -> Host:
    return Host(code, function.name, tuple(_parameters(function)), frozenset(_required(function)))


def _functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    """Yields the functions that a module binds, the last of each name."""
    yield from {each.name: each for each in _statements(body) if isinstance(each, ast.FunctionDef)}.values()


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields the statements of a module, also those in its branches, and none in its functions and classes."""
    waiting = list(body)
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, (ast.If, ast.Try, ast.With)):
            waiting[:0] = [child for child in ast.iter_child_nodes(each) if isinstance(child, ast.stmt)]
        else:
            yield each


def _is_kernel(function: ast.FunctionDef) -> bool:
    """Returns whether a decorator is Triton's jit, under any name of its module."""
    for each in function.decorator_list:
        called = each.func if isinstance(each, ast.Call) else each
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name == "jit":
            return True
    return False


def _parameters(function: ast.FunctionDef) -> list[str]:
    return [each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def _required(function: ast.FunctionDef) -> list[str]:
    """Returns the parameters without a default."""
    plain_ones = [*function.args.posonlyargs, *function.args.args]
    required = [each.arg for each in plain_ones[:len(plain_ones) - len(function.args.defaults)]]
    return required + [each.arg for each, default in zip(function.args.kwonlyargs, function.args.kw_defaults) if default is None]


def _takes(function: ast.FunctionDef, arguments: list[str]) -> bool:
    parameters = _parameters(function)
    return set(arguments) <= set(parameters) and set(_required(function)) <= set(arguments)
