"""Holds every row of an export to docs/schema, more strictly than JSON Schema does: a number has its point, and "" is
no absence. Standard library only."""

import json
import pathlib

import harness

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs/schema"
TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "object": dict, "array": list,
         "null": type(None)}
SHOWN = 20


def load(name):
    """The schema of the rows of NAME.jsonl."""
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text())


def names():
    return sorted(path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.schema.json"))


def check(value, schema, where=""):
    """Yields a line for each place where the value breaks the schema."""
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(type(value) is TYPES[kind] for kind in allowed):  # a bool is an int to isinstance
        yield f"{where}: {value!r:.80} is none of {allowed}"
    elif value == "" and "null" in allowed and not where.endswith("/json_pointer"):  # which is "" of a file's one string
        yield f"{where}: empty where null says so"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r:.80} is none of {schema['enum']}"
    elif isinstance(value, list):
        for entry in value:
            yield from check(entry, schema["items"], f"{where}[]")
    elif isinstance(value, dict):
        for key in value.keys() ^ set(schema["required"]):
            yield f"{where}/{key}: {'not in the schema' if key in value else 'missing'}"
        for key in value.keys() & schema["properties"].keys():
            yield from check(value[key], schema["properties"][key], f"{where}/{key}")


def problems(out):
    """Returns the first lines of check() over all rows of an export, empty if every row keeps its schema."""
    found = []
    for name in names():
        schema = load(name)
        for number, row in enumerate(harness.rows_of(out, name), 1):
            found += [f"{name}.jsonl:{number}{problem}" for problem in check(row, schema)]
            if len(found) > SHOWN:
                return found
    return found
