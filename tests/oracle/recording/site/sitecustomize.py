"""Every Python that `record` starts runs this. Compiled files stay beside their sources: the recorder names another folder for each
process, which would compile torch anew. A module that RECORDING_STAND_INS names is a stand-in, so that what imports it can be imported."""

import importlib.abc
import importlib.machinery
import os
import sys
import types

sys.pycache_prefix = None


def _is_decorated(given, named):
    return len(given) == 1 and not named and isinstance(given[0], (types.FunctionType, type))


class _Names(type):
    """Gives a class every name."""

    def __getattr__(cls, name):
        return _make(name)

    def __iter__(cls):
        return iter(())


class _Anything(metaclass=_Names):
    """Stands for a class, a function, a decorator or a namespace of a package that is not installed."""

    def __new__(cls, *given, **named):
        return given[0] if cls.__bases__ == (_Anything,) and _is_decorated(given, named) else object.__new__(cls)

    def __init__(self, *given, **named):
        pass

    def __getattr__(self, name):
        return _make(name)

    def __call__(self, *given, **named):
        return given[0] if _is_decorated(given, named) else _make("result")


class _Module(types.ModuleType):
    __version__ = "9.9.9"

    def __getattr__(self, name):
        return _make(name)


def _make(name):
    if name.startswith("__"):  # a protocol that a stand-in does not follow
        raise AttributeError(name)
    return _Names(name, (_Anything,), {})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names):
        self._names = names

    def find_spec(self, name, path=None, target=None):
        if any(name == each or name.startswith(f"{each}.") for each in self._names):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Module(spec.name)

    def exec_module(self, module):
        module.__path__ = []


if os.environ.get("RECORDING_STAND_INS"):
    sys.meta_path.append(_Finder(os.environ["RECORDING_STAND_INS"].split(",")))
