"""Stand-ins for packages that are not installed beside the compiler.

A module imports what its launcher needs (torch, einops, its framework), and its kernels need none of it. The rule:

* Installed packages are real: triton, numpy, packaging, Python's own library. A name that this version of triton lacks is an
  ImportError, as everywhere.
* torch is an Absent with the values that modules read at import: data types, versions, the target's device (`torch_names`).
* Any other package is an Absent: its modules, attributes and results are Absents too, and a decorator returns its function.
  An import under `try` with a handler fails, as on a machine without the package. But a `try` that imports Triton as well
  succeeds, since its handler stands for a machine without Triton.
* A relative import means a file of the module's repository: a package that is not installed.
* An Absent re-exports Triton under its usual names: `triton`, `tl`, `gluon`, `gl`, `libdevice`.

An Absent has no value: it is false, empty, and not a number, so that it cannot slip into a kernel as a constant.
"""
import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types

REPOSITORY = "kernel_repository"
PACKAGE = REPOSITORY + ".a" * 12  # the module's own package: each dot of a relative import leaves one part

_names = {}  # {module: {name: value}} of absent modules that have some


class AbsentBase:
    """The base of a class that derives from an Absent."""

    def __init_subclass__(cls, **_):
        pass


class AbsentMeta(type):
    def __getattr__(cls, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Absent(f"{cls.__name__}.{name}")


class AbsentClass(AbsentBase, metaclass=AbsentMeta):
    pass


def _same(name):
    def operation(self, *_):
        return self
    operation.__name__ = name
    return operation


class Absent:
    """An object of a package that is not installed."""

    def __init__(self, path):
        self.__dict__["_path"] = path

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"{self._path} is not installed")
        value = Absent(f"{self._path}.{name}")
        self.__dict__[name] = value
        return value

    def __call__(self, *args, **kwargs):
        # A decorator without arguments, or one with arguments that is called with the function.
        if len(args) == 1 and not kwargs and callable(args[0]) and not isinstance(args[0], Absent):
            return args[0]
        return self

    def __mro_entries__(self, _):
        return (AbsentClass,)

    def __instancecheck__(self, _):
        return False

    def __subclasscheck__(self, _):
        return False

    def __repr__(self):
        return f"<{self._path}, which is not installed>"

    def __bool__(self):
        return False

    def __iter__(self):
        return iter(())

    def __contains__(self, _):
        return False

    def __len__(self):
        return 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    __getitem__ = _same("__getitem__")
    __setitem__ = _same("__setitem__")
    for _name in ("or", "and", "xor", "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift"):
        locals()[f"__{_name}__"] = _same(_name)
        locals()[f"__r{_name}__"] = _same(_name)
    for _name in ("neg", "pos", "abs", "invert"):
        locals()[f"__{_name}__"] = _same(_name)
    for _name in ("lt", "le", "gt", "ge"):
        locals()[f"__{_name}__"] = lambda self, _: False
    del _name


def is_absent(value):
    return type(value) is Absent or (isinstance(value, types.ModuleType) and value.__dict__.get("_absent") is True)


def absent_module(name):
    """Makes a real module, so that `import a.b as c` and `from a import *` work. It has no class of ours, since Triton checks
    a module's type."""
    module = types.ModuleType(name)
    module._absent = True
    module.__all__ = ()
    module.__path__ = ()

    def member(attribute):
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)
        path = f"{name}.{attribute}"
        value = importlib.import_module(path) if path in _names else reexport(attribute)
        if value is None:
            value = Absent(path)
        setattr(module, attribute, value)
        return value

    module.__getattr__ = member
    return module


def reexport(name):
    if importlib.util.find_spec("triton") is None:
        return None
    import triton
    import triton.language
    if name == "triton":
        return triton
    if name == "tl":
        return triton.language
    if name in ("libdevice", "tldevice"):
        from triton.language.extra import libdevice
        return libdevice
    if name in ("gluon", "gl"):
        from triton.experimental import gluon
        from triton.experimental.gluon import language
        return gluon if name == "gluon" else language
    return None


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder: it finds every package that no other finder has found. `guarded`: packages whose import must fail; `only`: the
    packages that it finds, None: all."""

    def __init__(self, guarded, only=None):
        self.guarded, self.only = guarded, only

    def find_spec(self, name, path=None, target=None):
        package = name.partition(".")[0]
        if package in sys.stdlib_module_names or package in self.guarded or (self.only is not None and package not in self.only):
            return None
        loaded = sys.modules.get(package)
        if loaded is not None and not is_absent(loaded):
            return None
        if loaded is None and package != name:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return absent_module(spec.name)

    def exec_module(self, module):
        for name, value in _names.get(module.__name__, {}).items():
            setattr(module, name, value)


def imported_packages(text):
    """Returns the packages that a module imports: those that it imports only under `try` with a handler that catches ImportError, and
    the others."""
    guarded, plain = set(), set()

    def catches(handler):
        if handler.type is None:
            return True
        types_ = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        names = {t.id if isinstance(t, ast.Name) else getattr(t, "attr", "") for t in types_}
        return bool(names & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})

    def packages(node):
        if isinstance(node, ast.Import):
            return {alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            return {REPOSITORY if node.level else node.module.partition(".")[0]}
        return set()

    def visit(node, under_try):
        (guarded if under_try else plain).update(packages(node))
        if isinstance(node, ast.Try) and any(catches(handler) for handler in node.handlers):
            needs_triton = any("triton" in packages(child) for child in node.body)
            for child in node.body:
                visit(child, under_try if needs_triton else True)
            for child in node.handlers + node.orelse + node.finalbody:
                visit(child, under_try)
        else:
            for child in ast.iter_child_nodes(node):
                visit(child, under_try)

    try:
        visit(ast.parse(text), False)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(), set()
    return guarded - plain - {"torch", "triton"}, plain


def would_be_absent(name):
    """Returns True if an import of the module gives a stand-in. Imports nothing."""
    package = str(name).partition(".")[0]
    loaded = sys.modules.get(package)
    if package in sys.stdlib_module_names or (loaded is not None and not is_absent(loaded)):
        return False
    spec = importlib.util.find_spec(package) if loaded is None else None
    return loaded is not None or (spec is not None and isinstance(spec.loader, Finder))


def find_name(value):
    """Returns (module, name) of a value that absent modules have, or None."""
    return next(((module, name) for module, table in _names.items() for name, each in table.items() if each is value), None)


def named(module, name):
    return _names[module][name]


def install(text, names, only_named=False):
    """Makes the imports of `text` work in this process. names: {module: {name: value}} of absent modules with values. only_named: only
    packages that the text names get stand-ins. An installed package that tries what else is installed must not find it."""
    _names.update(names)
    guarded, plain = imported_packages(text)
    sys.meta_path.append(Finder(guarded, plain if only_named else None))
