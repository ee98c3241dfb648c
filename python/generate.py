#!/usr/bin/env python3
"""usage: generate.py [--check]

Writes the types of python/kernelmill: records.py from docs/schema, and messages.py from the answers in
proto/kernelmill/v1/crawl.proto. records.py is not committed: deploy/packages/make_wheel.py makes it for the wheel, and a
checkout that imports the module needs one run of this program. With --check writes nothing, and exits 1 if messages.py is out of
step. messages.py needs protoc and the protobuf package; without them it is left as it is."""

import json
import keyword
import pathlib
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python/kernelmill"
PROTO = "kernelmill/v1/crawl.proto"

# Names of the row classes, by file; any other file's class is its name in camel case and `Row`.
ROW_NAMES = {"kernels": "Kernel", "ledger": "LedgerRow", "notices": "Notice", "cuda_triton_pairs": "Pair",
             "parallel": "Parallel", "fim": "Fim", "instruct": "Instruct", "files": "SourceFile", "ir": "IrText", "references": "Reference",
             "pytorch_triton": "Graph", "history": "Change", "tasks": "Task"}
# Names of the tables, by file; any other file's table has the file's name.
PROPERTIES = {"cuda_triton_pairs": "pairs", "pytorch_triton": "graphs"}
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
WIDTH = 120

HEAD = '''"""{doc}

Made by python/generate.py of {origin}: change that, and run it."""

from __future__ import annotations

{imports}
'''


TABLES = '''

class Tables:
    """A table for each file of rows."""

    def _table(self, file: str, row: type[R]) -> Table[R]:
        raise NotImplementedError
'''

PROPERTY = '''
    @property
    def {name}(self) -> Table[{row}]:
        {doc}
        return self._table("{stem}.jsonl", {row})
'''


def camel(name):
    return "".join(word.capitalize() for word in name.split("_"))


def attribute(name):
    return f"{name}_" if keyword.iskeyword(name) else name


def comment(text, indent):
    return textwrap.wrap(text, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")


def dataclass_text(name, doc, fields):
    """Returns the text of a dataclass. `fields`: (attribute, annotation, description)."""
    lines = ["", "", "@dataclass(frozen=True)", f"class {name}:"]
    wrapped = textwrap.wrap(f'"""{doc}"""', WIDTH, initial_indent="    ", subsequent_indent="    ")
    lines += [*wrapped, ""]
    for field, annotation, description in fields:
        lines += comment(description, "    ") if description else []
        # A line may end within brackets, but not before "| None".
        wrapped = textwrap.wrap(f"{field}: {annotation}".replace(" | ", "~|~"), WIDTH, initial_indent="    ", subsequent_indent="        ")
        lines += [line.replace("~|~", " | ") for line in wrapped]
    return "\n".join(lines)


# ---------------------------------------------------------------- records.py

class Records:
    """The dataclasses of all schemas; objects of the same form and name are one class."""

    def __init__(self):
        self.classes = {}  # name: text, those that others need first
        self.shapes = {}   # (name, shape): class name

    def annotation(self, name, schema, within):
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        [kind] = [k for k in kinds if k != "null"]
        if kind == "array":
            text = f"tuple[{self.annotation(name, schema['items'], within)}, ...]"
        elif kind == "object":
            text = self.record(camel(name), schema, within)
        elif "enum" in schema:
            text = f"Literal[{', '.join(json.dumps(word) for word in schema['enum'] if word is not None)}]"
        else:
            text = SCALARS[kind]
        return f"{text} | None" if "null" in kinds else text

    def record(self, name, schema, within=""):
        properties = schema["properties"]
        if set(schema["required"]) != set(properties):
            raise SystemExit(f"generate.py: {name} has fields that rows may lack")
        shape = json.dumps(properties, sort_keys=True)
        if (name, shape) in self.shapes:
            return self.shapes[name, shape]
        taken = set(self.shapes.values())
        unique = next(n for n in (name, within + name, *(f"{within}{name}{i}" for i in range(2, 99))) if n not in taken)
        self.shapes[name, shape] = unique
        fields = [(attribute(field), self.annotation(field, properties[field], unique), properties[field].get("description", ""))
                  for field in schema["required"]]
        doc = schema.get("description", "An object of a row.")
        self.classes[unique] = dataclass_text(unique, doc[0].upper() + doc[1:] + ("" if doc.endswith(".") else "."), fields)
        return unique


def records():
    """Returns the text of records.py: a dataclass for the rows of each file, and the tables of a dataset."""
    made = Records()
    rows = {}
    for path in sorted((ROOT / "docs/schema").glob("*.schema.json")):
        stem = path.name.removesuffix(".schema.json")
        rows[stem] = made.record(ROW_NAMES.get(stem, f"{camel(stem)}Row"), json.loads(path.read_text()))
    text = HEAD.format(doc="The rows of a dataset, as docs/schema has them.", origin="docs/schema",
                       imports="from dataclasses import dataclass\nfrom typing import Literal, TypeVar\n\n"
                               "from kernelmill.tables import Table\n\nR = TypeVar(\"R\")")
    text += "\n".join(made.classes.values()).lstrip("\n").join(["\n\n", "\n"]) + TABLES
    for stem, name in rows.items():
        text += PROPERTY.format(name=PROPERTIES.get(stem, stem), row=name, stem=stem,
                                doc=textwrap.fill(f'"""{stem}.jsonl."""', WIDTH))
    return text


# ---------------------------------------------------------------- messages.py

def descriptors():
    """Returns the FileDescriptorSet of crawl.proto, with comments; None without the protobuf package."""
    try:
        from google.protobuf import descriptor_pb2
    except ImportError:
        return None
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["protoc", f"--proto_path={ROOT / 'proto'}", "--include_imports", "--include_source_info",
                        f"--descriptor_set_out={out.name}", PROTO], check=True)
        return descriptor_pb2.FileDescriptorSet.FromString(out.read())


class Messages:
    """The dataclasses of messages that the coordinator answers with."""

    def __init__(self, files):
        self.messages = {}  # full name: (descriptor, comments of fields, of itself)
        self.enums = {}
        for file in files.file:
            comments = {tuple(location.path): location.leading_comments.strip() or location.trailing_comments.strip()
                        for location in file.source_code_info.location}
            for index, message in enumerate(file.message_type):
                fields = [comments.get((4, index, 2, i), "") for i in range(len(message.field))]
                self.messages[f".{file.package}.{message.name}"] = (message, fields, comments.get((4, index), ""))
            for index, enum in enumerate(file.enum_type):
                values = [comments.get((5, index, 2, i), "") for i in range(len(enum.value))]
                self.enums[f".{file.package}.{enum.name}"] = (enum, values)
        self.made = {}  # class name: text

    def words(self, enum):
        prefix = "".join(f"_{c}" if c.isupper() else c.upper() for c in enum.name).lstrip("_") + "_"
        return [(value.name.removeprefix(prefix).lower(), value.number) for value in enum.value]

    def enum(self, full_name):
        enum, comments = self.enums[full_name]
        lines = ["", "", f"class {enum.name}(enum.Enum):", f'    """{enum.name} of the coordinator; its value is the word for it."""', ""]
        for (word, _), text in zip(self.words(enum), comments):
            lines += comment(" ".join(text.split()), "    ") if text else []
            lines.append(f'    {word.upper()} = "{word}"')
        self.made[enum.name] = "\n".join(lines)
        return enum.name

    def annotation(self, field):
        kind = field.Type.Name(field.type)
        if kind == "TYPE_MESSAGE":
            text = self.message(field.type_name)
        elif kind == "TYPE_ENUM":
            text = self.enum(field.type_name)
        elif kind in ("TYPE_STRING", "TYPE_BYTES", "TYPE_BOOL"):
            text = {"TYPE_STRING": "str", "TYPE_BYTES": "bytes", "TYPE_BOOL": "bool"}[kind]
        else:
            text = "float" if kind in ("TYPE_DOUBLE", "TYPE_FLOAT") else "int"
        if field.label == field.LABEL_REPEATED:
            return f"tuple[{text}, ...]"
        return f"{text} | None" if kind == "TYPE_MESSAGE" else text

    def message(self, full_name):
        message, comments, doc = self.messages[full_name]
        if message.name not in self.made:
            self.made[message.name] = ""  # its place
            fields = [(attribute(field.name), self.annotation(field), " ".join(text.split()))
                      for field, text in zip(message.field, comments) if (message.name, field.name) != ("JobStatus", "lock")]
            text = dataclass_text(message.name, " ".join(doc.split()) or f"{message.name} of the coordinator.", fields)
            self.made.pop(message.name)
            self.made[message.name] = text
        return message.name


def messages(files):
    made = Messages(files)
    for name in ("JobStatus", "WorkerInfo", "TaskSpan"):
        made.message(f".kernelmill.v1.{name}")
    text = HEAD.format(doc="The answers of a coordinator.", origin=f"proto/{PROTO}",
                       imports="import enum\nfrom dataclasses import dataclass")
    return text + "\n".join(made.made.values()).lstrip("\n").join(["\n\n", "\n"])


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__.splitlines()[0])
    files = descriptors()
    if not check:
        (PACKAGE / "records.py").write_text(records())
    if files is None:
        print("generate.py: messages.py needs the protobuf package (pip install protobuf); it is left as it is", file=sys.stderr)
        return 0
    text = messages(files)
    stale = (PACKAGE / "messages.py").read_text() != text
    if stale and check:
        print("python/kernelmill/messages.py is out of step: python/generate.py writes it")
        return 1
    if stale:
        (PACKAGE / "messages.py").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
