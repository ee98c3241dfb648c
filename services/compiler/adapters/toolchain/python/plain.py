"""Values of a module as plain data, which crosses from the process that ran the module to one that did not.

describe() makes a value lists, strings and numbers, and Builder.build() makes a value of them. Only values that Triton's frontend
can use cross: numbers, strings, types and functions of Triton, functions of the module's text. Everything else becomes an Opaque,
which compiles nothing. Builder runs none of the module's code, whatever the data says: it takes functions from the module's text,
and all else from Triton.
"""
import ast
import dataclasses
import importlib
import sys
import types

import triton
import triton.language as tl
from triton.runtime.jit import ConstexprFunction, JITFunction

from kernelmill_harness import absent
from kernelmill_harness.loading import FILE, MODULE

DEPTH = 12
NAME_BYTES = 400
# Modules whose members a kernel may use, with those below them, and modules that lead there.
LANGUAGES = ("triton.language", "triton.experimental.gluon.language")
ON_THE_WAY = ("triton", "triton.experimental", "triton.experimental.gluon", "math")


def is_language(name):
    return isinstance(name, str) and any(name == each or name.startswith(each + ".") for each in LANGUAGES)


def is_module(name):
    return is_language(name) or name in ON_THE_WAY


class Unusable(Exception):
    """The data is not of describe(), or names something that a kernel may not use."""


class Touched(Exception):
    """An Opaque was used."""


class Opaque:
    """The place of a value that did not cross. `log` gets a line when code uses it."""
    __module__ = MODULE

    def __init__(self, said, log, builtin=False):
        self.__dict__.update(_said=said, _log=log, __triton_builtin__=builtin)

    def _refuse(self, *_, **__):
        self._log.append(f"{self._said} is a value of the module's own Python, which the compiler does not run")
        raise Touched(self._log[-1])

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._refuse()

    def __repr__(self):
        return self._said

    def __deepcopy__(self, _):
        return self

    __call__ = __getitem__ = __iter__ = __len__ = __contains__ = __index__ = __int__ = __float__ = __bool__ = _refuse
    __add__ = __sub__ = __mul__ = __lt__ = __le__ = __gt__ = __ge__ = __radd__ = __rsub__ = __rmul__ = _refuse


# ---------------------------------------------------------------- values to data

class Describer:
    """Describes values. `functions` has those of the module's text that it met, by their places in the data."""

    def __init__(self, places=None):
        self.functions, self.rows, self._places = [], [], dict(places or {})
        self.lossy = False  # True if a value did not cross

    def describe(self, value, depth=0):
        value = _plain_number(value)
        kind = type(value)
        if value is None or kind in (bool, int):
            return ["value", value]
        if kind is float:
            return ["float", value.hex()]
        if kind is str:
            return ["value", value]
        if depth > DEPTH:
            return self._opaque(value)
        if kind in (tuple, list):
            return [kind.__name__, [self.describe(each, depth + 1) for each in value]]
        if kind is tl.constexpr:
            return ["constexpr", self.describe(value.value, depth + 1)]
        if kind is tl.dtype:
            return ["dtype", value.name]
        if kind is tl.pointer_type:
            return ["pointer", self.describe(value.element_ty, depth + 1), bool(getattr(value, "const", False))]
        if isinstance(value, RemoteFunction) or _code(value) is not None:
            return ["function", self._place(value, depth)]
        return self._of_others(value, depth)

    def _of_others(self, value, depth):
        if isinstance(value, types.ModuleType):
            if absent.is_absent(value):
                return ["absent_module", value.__name__]
            return ["module", value.__name__] if is_module(value.__name__) else self._opaque(value)
        if absent.is_absent(value):
            return ["absent", value._path]
        named = absent.find_name(value)
        if named is not None:
            return ["named", *named]
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if isinstance(module, str) and isinstance(name, str) and _find(module, name) is value:
            return ["path", module, name]
        kind = type(value)
        if dataclasses.is_dataclass(kind) and is_language(kind.__module__):
            fields = [[field.name, self.describe(getattr(value, field.name), depth + 1)] for field in dataclasses.fields(kind) if field.init]
            return ["object", kind.__module__, kind.__qualname__, fields]
        return self._opaque(value)

    def _opaque(self, value):
        self.lossy = True
        try:
            said = repr(value)
        except BaseException:  # pylint: disable=broad-except
            said = "a value"
        return ["opaque", str(said)[:NAME_BYTES], bool(getattr(value, "__triton_builtin__", False))]

    def _place(self, value, depth):
        if id(value) in self._places:
            return self._places[id(value)]
        place = self._places[id(value)] = len(self.rows)
        self.functions.append(value)
        self.rows.append(None)
        function, code = _python(value), _code(value)
        cells = {}
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):
            try:
                cells[name] = self.describe(cell.cell_contents, depth + 1)
            except ValueError:  # not set yet
                continue
        defaults = {name: self.describe(default, depth + 1) for name, default in (function.__kwdefaults__ or {}).items()}
        kind = "python" if function is value else "constexpr" if isinstance(value, ConstexprFunction) else \
            "gluon" if value.is_gluon() else "triton"
        self.rows[place] = {"kind": kind, "name": code.co_name, "line": code.co_firstlineno, "cells": cells,
                            "defaults": [self.describe(each, depth + 1) for each in function.__defaults__ or ()],
                            "kwdefaults": defaults, "noinline": getattr(value, "noinline", None) is True}
        return place


def _plain_number(value):
    """Returns a value of numpy, or of a class that derives from a number or a string, as Python's own."""
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return value.item()
    if type(value) in (bool, int, float, str):
        return value
    for kind, convert in ((int, int.__int__), (float, float.__float__), (str, str.__str__)):
        if isinstance(value, kind):
            return convert(value)
    return value


def _python(value):
    """Returns the function of Python under a function of the module, or None."""
    if isinstance(value, (JITFunction, ConstexprFunction)):
        return value.fn
    plain = isinstance(value, types.FunctionType) and not getattr(value, "__triton_builtin__", False)
    return value if plain else None


def _code(value):
    code = getattr(_python(value), "__code__", None)
    return code if getattr(code, "co_filename", None) == FILE else None


def _find(module, name):
    """Returns the function or class that a module of Triton's languages, or Triton itself, defines under a name, or None."""
    if not is_module(module):
        return None
    value = sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    return value if (getattr(value, "__module__", None), getattr(value, "__qualname__", None)) == (module, name) else None


# ---------------------------------------------------------------- data to values

class Builder:
    """Builds values of data. `text` is the module's, `globals` becomes the functions' namespace, `call` runs a constexpr function of
    the module in the process that loaded it, and `log` gets a line for each Opaque that code used."""

    def __init__(self, text, data, call, log):
        self.globals, self._call, self._log = {"__name__": MODULE}, call, log
        self._codes, self._rows, self._functions = {}, data["functions"], {}
        tree, self._lines = ast.parse(text), text.split("\n")
        _collect(compile(tree, FILE, "exec", dont_inherit=True), self._codes)
        self._nodes, self._bound = definitions(tree), only_functions(tree)
        for name, value in data["globals"].items():
            if not name.startswith("__"):
                self.globals[name] = self.bind(name, value)

    def bind(self, name, data):
        """Builds the value of a name of the module. A name that the text binds to one function alone has no other function, whatever
        the data says."""
        value = self.build(data)
        if name in self._bound and data[0] in ("function", "path"):
            row = self._rows[data[1]] if data[0] == "function" else {}
            if (row.get("name"), row.get("line")) != (name, self._bound[name]):
                raise Unusable(f"{name} means a function with another name")
        return value

    def kernel(self, name, source, data):
        """Builds the kernel `name`: if the text has functions of that name, it is one of them, and the one with the text `source`
        if there is such a one."""
        value = self.bind(name, data)
        if not isinstance(value, JITFunction):
            raise Unusable(f"{name} is no kernel of the module")
        named = [row for row in self._nodes if row[0] == name]
        same = [row for row in named if len(named) > 1 and _squeeze(source).startswith(self._text_of(row))]
        code = value.fn.__code__
        if named and (code.co_name, code.co_firstlineno) not in (same or named):
            raise Unusable(f"{name} means a function with another text")
        return value

    def _text_of(self, row):
        return _squeeze("\n".join(self._lines[row[1] - 1:self._nodes[row].end_lineno]))

    def build(self, data, depth=0):
        if depth > 2 * DEPTH or not isinstance(data, list) or not data or not isinstance(data[0], str):
            raise Unusable("data that is not a value")
        make = getattr(self, f"_make_{data[0]}", None)
        if make is None:
            raise Unusable("data of an unknown kind")
        try:
            return make(depth + 1, *data[1:])
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            raise Unusable(f"data that makes no value: {error}") from error

    def places(self):
        """Returns {id of a built function: its place}, to describe it again."""
        return {id(value): place for place, value in self._functions.items()}

    def functions(self):
        return [value for value in self._functions.values() if isinstance(value, JITFunction)]

    def _make_value(self, _, value):
        if value is None or type(value) in (bool, int, str):
            return value
        raise Unusable("data that is not a number")

    def _make_float(self, _, value):
        return float.fromhex(value)

    def _make_tuple(self, depth, values):
        return tuple(self.build(each, depth) for each in values)

    def _make_list(self, depth, values):
        return [self.build(each, depth) for each in values]

    def _make_constexpr(self, depth, value):
        return tl.constexpr(self.build(value, depth))

    def _make_dtype(self, _, name):
        return tl.dtype(name)

    def _make_pointer(self, depth, element, const):
        element = self.build(element, depth)
        return tl.pointer_type(element, const=True) if const else tl.pointer_type(element)

    def _make_module(self, _, name):
        if not is_module(name):
            raise Unusable(f"the module {name}")
        return importlib.import_module(name)

    def _make_absent_module(self, _, name):
        if not absent.would_be_absent(name):
            raise Unusable(f"the module {name}")
        return importlib.import_module(name)

    def _make_absent(self, _, path):
        return absent.Absent(str(path)[:NAME_BYTES])

    def _make_named(self, _, module, name):
        return absent.named(module, name)

    def _make_path(self, _, module, name):
        value = _find(module, name)
        if value is None:
            raise Unusable(f"{module}.{name}")
        return value

    def _make_object(self, depth, module, name, fields):
        kind = _find(module, name)
        if not (isinstance(kind, type) and is_language(module) and dataclasses.is_dataclass(kind)):
            raise Unusable(f"{module}.{name}")
        return kind(**{field: self.build(value, depth) for field, value in fields})

    def _make_opaque(self, _, said, builtin):
        return Opaque(str(said), self._log, builtin is True)

    def _make_function(self, depth, place):
        if place not in self._functions:
            row = self._rows[place]
            code = self._codes[(row["name"], row["line"])]
            function = types.FunctionType(code, self.globals, code.co_name, None, tuple(types.CellType() for _ in code.co_freevars))
            function.__qualname__, function.__module__ = code.co_qualname, MODULE
            function.__defaults__ = tuple(self.build(each, depth) for each in row["defaults"]) or None
            function.__kwdefaults__ = {name: self.build(each, depth) for name, each in row["kwdefaults"].items()} or None
            function.__annotations__ = _annotations(self._nodes[(row["name"], row["line"])])
            self._functions[place] = value = _KINDS[row["kind"]](function)
            value._place, value._remote = place, self._call
            if row["noinline"] is True and isinstance(value, JITFunction):
                value.noinline = True
            # After the function is known by its place, since its closure may name it.
            for name, cell in zip(code.co_freevars, function.__closure__ or ()):
                if name in row["cells"]:
                    cell.cell_contents = self.build(row["cells"][name], depth)
        return self._functions[place]


class Local(Builder):
    """Builds values of data in the process that described its functions."""

    def __init__(self, functions):
        self._functions, self._rows, self._log, self._bound = dict(enumerate(functions)), {}, [], {}


class RemoteConstexprFunction(ConstexprFunction):
    """A constexpr function of the module: its Python runs where the module was loaded."""

    def __call__(self, *args, _semantic=None, **kwargs):
        result = self._remote(self._place, [_unwrap(each) for each in args], {name: _unwrap(each) for name, each in kwargs.items()})
        return result if _semantic is None else tl.constexpr(result)


class RemoteFunction:
    """A function of the module's Python, which runs where the module was loaded. Triton calls one that is a constexpr."""
    __module__ = MODULE

    def __init__(self, function):
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__

    def __call__(self, *args, **kwargs):
        return self._remote(self._place, list(args), kwargs)

    def __repr__(self):
        return f"<function {self.__qualname__} at 0x0000000000>"

    def __deepcopy__(self, _):
        return self


def _unwrap(value):
    return value.value if isinstance(value, tl.constexpr) else value


def _gluon(function):
    from triton.experimental import gluon
    return gluon.jit(function)


_KINDS = {"triton": triton.jit, "gluon": _gluon, "constexpr": RemoteConstexprFunction, "python": RemoteFunction}


def _collect(code, codes):
    """Collects the code of all functions, by name and first line."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            codes[(constant.co_name, constant.co_firstlineno)] = constant
            _collect(constant, codes)


# ---------------------------------------------------------------- the module's text

def definitions(tree):
    """Returns {(name, first line): node} of all functions of a module, where a function begins with its first decorator."""
    return {(node.name, min(each.lineno for each in [node, *node.decorator_list])): node
            for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def names_used(node):
    """Returns the names that a function uses outside of its decorators."""
    parts = [node.args, *node.body, *([node.returns] if node.returns else [])]
    return {each.id for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)}


def only_functions(tree):
    """Returns {name: first line} of the names that the module's own scope binds once, to a function."""
    bound, others = {}, set()

    def visit(node):
        if isinstance(node, ast.FunctionDef):
            if node.name in bound:
                others.add(node.name)
            bound[node.name] = min(each.lineno for each in [node, *node.decorator_list])
        elif isinstance(node, (ast.ClassDef, ast.AsyncFunctionDef)):
            others.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            others.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        else:
            for each in ast.iter_child_nodes(node):
                if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
                    others.add(each.id)
                visit(each)

    visit(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            others.update(node.names)
    return {name: line for name, line in bound.items() if name not in others and "*" not in others}


def _squeeze(text):
    """Returns a text without blanks and line ends, since a module's function may be indented otherwise than in its file."""
    return "".join(text.split())


def _annotations(node):
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return {each.arg: each.annotation.value if isinstance(each.annotation, ast.Constant) else ast.unparse(each.annotation)
            for each in arguments if each.annotation is not None}
