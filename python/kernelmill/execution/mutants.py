"""Mutants of a kernel: its module with one thing wrong. Cases are worth what they catch.

A mutant changes a part of the text of the kernel, or of a jit function that it calls; all other text stays. Which mutants there are,
and in which order, is a function of the module: each kind in turn, by position, up to a limit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from kernelmill.execution.spread import spread

KINDS = ("no_op", "zeros", "constant_output", "copy", "store_dropped", "mask", "bound", "reduction", "operator", "constant")

_OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&")}
_BOUNDS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="), ast.NotEq: ("!=", "==")}
_REDUCTIONS = {"sum": "max", "max": "sum", "min": "max", "argmax": "argmin", "argmin": "argmax", "cumsum": "cumprod", "xor_sum": "sum"}
_FUNCTIONS = {"exp": "exp2", "exp2": "exp", "log": "log2", "log2": "log", "maximum": "minimum", "minimum": "maximum", "sin": "cos",
              "cos": "sin", "sqrt": "abs", "rsqrt": "sqrt"}
_STORES = ("store", "atomic_add", "atomic_max", "atomic_min", "atomic_xchg")
# Calls that say something to the compiler, or to a person, and compute nothing; and arguments of that kind.
_HINTS = ("multiple_of", "max_contiguous", "max_constancy", "assume", "static_assert", "static_print", "device_assert", "device_print",
          "debug_barrier")
_HINT_ARGUMENTS = ("num_stages", "num_warps", "order", "loop_unroll_factor", "eviction_policy", "cache_modifier", "sem", "scope", "volatile",
                   "padding_option", "input_precision", "allow_tf32", "max_num_imprecise_acc")
_LANGUAGES = ("tl", "triton.language", "tl.math", "language", "libdevice", "tl.libdevice")


@dataclass(frozen=True)
class Mutant:
    """A module with a fault. `change` says which, for a person."""

    kind: str
    line: int
    change: str
    module: str


@dataclass(frozen=True)
class _Edit:
    start: int
    end: int
    text: str


class _Text:
    """A module's bytes, by the lines and columns of its tree."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self._starts = [0]
        for line in self.data.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self.at(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        return self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def of(self, node: ast.expr | ast.stmt) -> str:
        return self.data[self.start(node):self.end(node)].decode()

    def edited(self, edits: list[_Edit]) -> str:
        data = self.data
        for each in sorted(edits, key=lambda edit: -edit.start):
            data = data[:each.start] + each.text.encode() + data[each.end:]
        return data.decode()


def _called_name(call: ast.Call) -> tuple[str, str]:
    """Returns what a call's function is an attribute of, and its name."""
    if isinstance(call.func, ast.Attribute):
        return ast.unparse(call.func.value), call.func.attr
    return "", call.func.id if isinstance(call.func, ast.Name) else ""


def reachable_functions(tree: ast.Module, kernel: str) -> list[ast.FunctionDef]:
    """Returns the kernel and the functions of the module that it calls, also through others. Empty: the module has no such kernel."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    found, waiting = [], [kernel.rpartition(".")[2]]
    seen = set(waiting)
    while waiting:
        node = functions.get(waiting.pop(0))
        if node is None:
            continue
        found.append(node)
        for name in (each.id for each in ast.walk(node) if isinstance(each, ast.Name)):
            if name in functions and name not in seen and functions[name].decorator_list:
                seen.add(name)
                waiting.append(name)
    return found


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes that compute something."""
    if isinstance(node, ast.Call) and _called_name(node)[1] in _HINTS and not isinstance(node.func, ast.Name):
        if node.args and _called_name(node)[1] in ("multiple_of", "max_contiguous", "max_constancy"):
            yield from _walk(node.args[0])
        return
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.keyword) and child.arg in _HINT_ARGUMENTS):
            yield from _walk(child)


class _Maker:
    """Makes the mutants of one function."""

    def __init__(self, text: _Text, function: ast.FunctionDef, is_kernel: bool) -> None:
        self._text, self._function, self._is_kernel = text, function, is_kernel
        nodes = [node for statement in function.body for node in _walk(statement) if isinstance(node, (ast.expr, ast.stmt))]
        self._nodes = sorted(nodes, key=lambda node: (node.lineno, node.col_offset, -(node.end_col_offset or 0)))
        self._calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        self._stores = [call for call in self._calls if _called_name(call)[1] in _STORES and _called_name(call)[0] in _LANGUAGES]

    def make(self, kind: str) -> Iterator[Mutant]:
        for line, change, edits in getattr(self, f"_{kind}")():
            yield Mutant(kind, line, change, self._text.edited(edits))

    def _value(self, call: ast.Call) -> ast.expr | None:
        """Returns the value that a call stores."""
        return next((each.value for each in call.keywords if each.arg in ("value", "val")), call.args[1] if len(call.args) > 1 else None)

    def _replaced(self, node: ast.expr | ast.stmt, text: str) -> _Edit:
        return _Edit(self._text.start(node), self._text.end(node), text)

    def _no_op(self) -> Iterator[tuple[int, str, list[_Edit]]]:
        body = [node for node in self._function.body
                if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str))]
        if self._is_kernel and body:
            at = self._text.start(body[0])
            yield body[0].lineno, "returns at once", [_Edit(at, at, "return\n" + " " * body[0].col_offset)]

    def _all_values(self, change: str, form: str) -> Iterator[tuple[int, str, list[_Edit]]]:
        values = [value for call in self._stores if (value := self._value(call)) is not None]
        if values:
            yield values[0].lineno, change, [self._replaced(value, form.format(self._text.of(value))) for value in values]

    def _zeros(self) -> Iterator[tuple[int, str, list[_Edit]]]:
        yield from self._all_values("stores zeros", "(({}) * 0)")

    def _constant_output(self) -> Iterator[tuple[int, str, list[_Edit]]]:
        yield from self._all_values("stores ones", "(({}) * 0 + 1)")

    def _copy(self) -> Iterator[tuple[int, str, list[_Edit]]]:
        loaded = [node.targets[0].id for node in self._nodes if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
                  and any(isinstance(each, ast.Call) and _called_name(each)[1] == "load" for each in ast.walk(node.value))]
        for name in dict.fromkeys(loaded):
            edits = [self._replaced(value, name) for call in self._stores
                     if (value := self._value(call)) is not None and self._text.of(value) != name]
            if edits:
                yield self._stores[0].lineno, f"stores {name}", edits

    def _store_dropped(self) -> Iterator[tuple[int, str, list[_Edit]]]:
        for node in self._nodes:
            if isinstance(node, ast.Expr) and node.value in self._stores:
                yield node.lineno, "drops a store", [self._replaced(node, "pass")]

    def _mask(self) -> Iterator[tuple[int, str, list[_Edit]]]:
        for call in self._calls:
            name = _called_name(call)[1]
            place = {"load": 1, "store": 2}.get(name, -1)
            mask = next((each.value for each in call.keywords if each.arg == "mask"), None)
            if mask is None and 0 < place < len(call.args):
                mask = call.args[place]
            if mask is not None and not isinstance(mask, ast.Constant):
                yield mask.lineno, f"ignores a mask of a {name}", [self._replaced(mask, f"(({self._text.of(mask)}) | True)")]

    def _swap(self, left: ast.expr, right: ast.expr, old: str, new: str) -> list[_Edit]:
        """Replaces the operator between two operands."""
        start, end = self._text.end(left), self._text.start(right)
        at = self._text.data[start:end].find(old.encode())
        return [] if at < 0 else [_Edit(start + at, start + at + len(old), new)]

    def _bound(self) -> Iterator[tuple[int, str, list[_Edit]]]:
        for node in self._nodes:
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _BOUNDS:
                old, new = _BOUNDS[type(node.ops[0])]
                if edits := self._swap(node.left, node.comparators[0], old, new):
                    yield node.lineno, f"{old} becomes {new}", edits

    def _operator(self) -> Iterator[tuple[int, str, list[_Edit]]]:
        for node in self._nodes:
            if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
                old, new = _OPERATORS[type(node.op)]
                if edits := self._swap(node.left, node.right, old, new):
                    yield node.lineno, f"{old} becomes {new}", edits
            elif isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
                old, new = _OPERATORS[type(node.op)]
                if edits := self._swap(node.target, node.value, old + "=", new + "="):
                    yield node.lineno, f"{old}= becomes {new}=", edits
        yield from self._renamed(_FUNCTIONS)

    def _reduction(self) -> Iterator[tuple[int, str, list[_Edit]]]:
        yield from self._renamed(_REDUCTIONS)

    def _renamed(self, names: dict[str, str]) -> Iterator[tuple[int, str, list[_Edit]]]:
        for call in self._calls:
            name = _called_name(call)[1]
            if name in names and isinstance(call.func, ast.Attribute):
                end = self._text.end(call.func)
                yield call.lineno, f"{name} becomes {names[name]}", [_Edit(end - len(name), end, names[name])]

    def _constant(self) -> Iterator[tuple[int, str, list[_Edit]]]:
        axes = {id(each.value) for call in self._calls for each in call.keywords if each.arg in ("axis", "other")}
        programs = {id(each) for call in self._calls if _called_name(call)[1] in ("program_id", "num_programs") for each in call.args}
        for node in self._nodes:
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, (int, float)) and not isinstance(value, bool) and id(node) not in axes | programs:
                new = repr(value + 1 if isinstance(value, int) else value * 2 if value else 1.0)
                if new not in ("inf", "nan"):
                    yield node.lineno, f"{value} becomes {new}", [self._replaced(node, new)]


def make_mutants(module: str, kernel: str, limit: int) -> list[Mutant]:
    """Returns at most `limit` mutants: each kind in turn, and of a kind those that lie far apart first."""
    try:
        tree = ast.parse(module)
    except (SyntaxError, ValueError, RecursionError):
        return []
    text = _Text(module)
    makers = [_Maker(text, function, place == 0) for place, function in enumerate(reachable_functions(tree, kernel))]
    by_kind = [spread([mutant for maker in makers for mutant in maker.make(kind)]) for kind in KINDS]
    chosen: list[Mutant] = []
    seen = {module}
    for mutant in (each for turn in zip_longest(*by_kind) for each in turn if each is not None):
        if mutant.module not in seen and len(chosen) < limit:
            seen.add(mutant.module)
            chosen.append(mutant)
    return chosen
