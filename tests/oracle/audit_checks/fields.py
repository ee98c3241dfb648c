"""Checks the shape of the rows: one type a field, one rule for absence. Arrow needs both to read a file whole."""
import collections

from .dataset import Check

_WORDS = {str: "string", bool: "bool", int: "number", float: "number", type(None): "null"}


class _Shape:
    """The types, keys and empty strings that a place of the schema has over all rows."""

    def __init__(self):
        self.types = collections.Counter()
        self.keys = collections.Counter()
        self.empty_strings = 0


def _walk(value, path, shapes):
    shape = shapes[path]
    if isinstance(value, dict):
        shape.types["struct"] += 1
        shape.keys.update(value.keys())
        for key, inner in value.items():
            _walk(inner, f"{path}.{key}" if path else key, shapes)
    elif isinstance(value, list):
        shape.types["list"] += 1
        for inner in value:
            _walk(inner, path + "[]", shapes)
    else:
        shape.types[_WORDS[type(value)]] += 1
        shape.empty_strings += value == ""


def shapes_of(rows):
    shapes = collections.defaultdict(_Shape)
    for row in rows:
        _walk(row, "", shapes)
    return shapes


def _paths(name, shapes, is_bad, wrong=True):
    made = Check(name, len(shapes), wrong)
    for path, shape in shapes.items():
        problem = is_bad(shape)
        if problem:
            made.add(f"{path or '(row)'}: {problem}")
    return made


def _mixed(shape):
    types = set(shape.types) - {"null"}
    return ", ".join(sorted(types)) if len(types) > 1 else None


def _lacking(shape):
    structs = shape.types["struct"]
    missing = sorted(key for key, count in shape.keys.items() if count != structs)
    return ("not always there: " + ", ".join(missing)) if missing else None


def _empty_and_null(shape):
    return shape.empty_strings and shape.types["null"] and f"{shape.empty_strings} empty, {shape.types['null']} null"


def checks(dataset):
    made = []
    for name, rows in (("kernels", dataset.kernels), ("ledger", dataset.ledger)):
        shapes = shapes_of(rows)
        made += [
            _paths(f"schema of {name}: mixed types", shapes, _mixed),
            _paths(f"schema of {name}: keys that some rows lack", shapes, _lacking),
            _paths(f"schema of {name}: absent is both empty and null", shapes, _empty_and_null),
        ]
    return made
