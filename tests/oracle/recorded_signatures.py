"""A pytest plugin that writes down which signatures Triton compiles while a repository's own tests run on a GPU.

usage: RECORD=FOLDER pytest -p recorded_signatures TESTS      (this file's folder on PYTHONPATH; Triton 3.6)

Each process appends to FOLDER/PID.jsonl a row a kernel and signature: function, module, path, line, signature (name to type), constexprs (name
to repr), attrs, options. Inferred signatures are compared with these. It takes the first configuration of each autotuner, five
parameter sets of each test, and twelve signatures of each kernel a process: the purpose is types, not speed.
"""

import collections
import json
import os

from triton import knobs
from triton.runtime import autotuner

SETS_OF_A_TEST = 5
SIGNATURES_OF_A_KERNEL = 12

_rows = set()
_signatures = collections.Counter()


def _name(params, path):
    """A parameter's name by Triton's path to it, an index or a tuple of indices."""
    index, *rest = path if isinstance(path, tuple) else (path,)
    name = params[index].name if isinstance(index, int) else str(index)
    return name + (str(rest) if rest else "")


def _text(value):
    return value.__name__ if callable(value) and hasattr(value, "__name__") else repr(value)


def _row(jit, module, compiled):
    attrs = compiled["configs"][0] or {}
    return {
        "function": jit.fn.__name__,
        "module": module,
        "path": jit.fn.__code__.co_filename,
        "line": jit.fn.__code__.co_firstlineno,
        "signature": {name: str(type_) for name, type_ in compiled["signature"].items()},
        "constexprs": {_name(jit.params, path): _text(value) for path, value in compiled["constants"].items()},
        "attrs": {_name(jit.params, path): str(value) for path, value in attrs.items()},
        "options": {key: compiled[key] for key in ("num_warps", "num_ctas", "num_stages")},
    }


def _record(*, fn, compile, **_):  # pylint: disable=redefined-builtin
    row = _row(fn.jit_function, fn.module, compile)
    line = json.dumps(row, sort_keys=True, default=str)
    kernel = (row["path"], row["function"])
    if line in _rows or _signatures[kernel] >= SIGNATURES_OF_A_KERNEL:
        return False
    _rows.add(line)
    _signatures[kernel] += 1
    with open(os.path.join(os.environ["RECORD"], f"{os.getpid()}.jsonl"), "a", encoding="utf-8") as out:
        out.write(line + "\n")
    return False  # Triton goes on


_make_autotuner = autotuner.Autotuner.__init__


def _first_configuration(self, fn, arg_names, configs, *args, **kwargs):
    _make_autotuner(self, fn, arg_names, configs[:1] if configs else configs, *args, **kwargs)


knobs.runtime.jit_post_compile_hook = _record
autotuner.Autotuner.__init__ = _first_configuration


def pytest_collection_modifyitems(items):
    sets = collections.Counter()
    kept = []
    for item in items:
        test = item.nodeid.split("[")[0]
        sets[test] += 1
        if sets[test] <= SETS_OF_A_TEST:
            kept.append(item)
    items[:] = kept
