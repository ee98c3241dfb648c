#!/usr/bin/env python3
"""usage: make.py [--check]

Writes the pages of this folder from the tree: fields.md from docs/schema, keys.md from the comments of job.proto, flags.md from
the --help of the built programs (KERNELMILL_BIN, or build/release/bin). With --check writes nothing, prints which page is out of step, and
exits 1 if one is."""

import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BIN = pathlib.Path(os.environ.get("KERNELMILL_BIN", ROOT / "build/release/bin"))
JOB_PROTO = ROOT / "proto/kernelmill/v1/job.proto"
MADE = "Made by `docs/reference/make.py` from {origin}: change that, and run it.\n"
FILES = ["kernels", "ledger", "tasks", "files", "ir", "references", "history", "fim", "instruct", "cuda_triton_pairs", "parallel",
         "pytorch_triton", "notices"]
SERVERS = ["coordinator", "store", "fetcher", "extractor", "compiler", "runner", "validator", "deduplicator"]


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


# ---------------------------------------------------------------- fields

def type_name(schema):
    """Returns the type of a field in a word or two; [] for lists, ? if it may be null."""
    types = schema.get("type", "object")
    types = [types] if isinstance(types, str) else types
    name = next(kind for kind in types if kind != "null")
    if name == "array":
        name = type_name(schema["items"]).rstrip("?") + "[]"
    return name + ("?" if "null" in types else "")


def inner(schema):
    """Returns the object that a field or the items of a list have; None for a plain value."""
    while "items" in schema:
        schema = schema["items"]
    return schema if "properties" in schema else None


def words_of(schema):
    while "items" in schema:
        schema = schema["items"]
    return [word for word in schema.get("enum", []) if word]


class Fields:
    """Writes the fields of each file. An object that an earlier field had is not repeated."""

    def __init__(self):
        self.known = {}

    def rows(self, schema, prefix, where):
        for name, field in schema["properties"].items():
            path = f"{prefix}{name}"
            text = field.get("description", "")
            words = words_of(field)
            if words:
                text += (": " if text else "") + ", ".join(f"`{word}`" for word in words)
            below = inner(field)
            key = json.dumps(below, sort_keys=True)
            repeats = below is not None and key in self.known
            if repeats:
                text += f"; fields as of {self.known[key]}"
            yield f"`{path}`", type_name(field), cell(text)
            if below is not None and not repeats:
                self.known[key] = f"`{path}` of {where}" if where != "kernels.jsonl" else f"`{path}`"
                yield from self.rows(below, f"{path}.", where)


def fields_page():
    text = ["# Fields\n", MADE.format(origin="docs/schema, which follows `proto/kernelmill/v1/rows.proto`"),
            "A name with points is a field within a field; `[]` is a list, `?` a field that may be null. [The dataset](../dataset.md) explains what they mean.\n"]
    fields = Fields()
    schemas = {path.name.removesuffix(".schema.json"): path for path in (ROOT / "docs/schema").glob("*.schema.json")}
    for name in FILES + sorted(set(schemas) - set(FILES)):
        schema = json.loads(schemas[name].read_text(encoding="utf-8"))
        rows = list(fields.rows(schema, "", schema["title"]))
        text += [f"## {schema['title']}\n", schema["description"] + "\n", table(["field", "type", "content"], rows)]
    return "\n".join(text)


# ---------------------------------------------------------------- keys

FIELD = re.compile(r"^\s*(?P<label>repeated |optional )?(?P<type>[\w.]+) (?P<name>\w+) = \d+(?: \[.*?\])?;\s*(?://\s*(?P<after>.*))?$")
OPEN = re.compile(r"^\s*(?P<kind>message|enum|oneof) (?P<name>\w+) \{")
WORD = re.compile(r"^\s*(?P<name>[A-Z][A-Z_0-9]+) = \d+;\s*(?://\s*(?P<after>.*))?$")


def read_proto(text):
    """Returns {message: (comment, [(field, label, type, comment)])} and {enum: [(word, comment)]}."""
    messages, enums, comment, stack = {}, {}, [], []
    for line in text.splitlines():
        if match := re.match(r"^\s*// ?(.*)$", line):
            comment.append(match[1])
            continue
        said, opened = " ".join(comment), OPEN.match(line)
        field, word = FIELD.match(line), WORD.match(line)
        if opened:
            stack.append((opened["kind"], opened["name"]))
            if opened["kind"] == "message":
                messages[opened["name"]] = (said, [])
            elif opened["kind"] == "enum":
                enums[opened["name"]] = []
        elif stack and line.strip() == "}":
            stack.pop()
        elif field and stack:
            owner = next(name for kind, name in reversed(stack) if kind == "message")
            messages[owner][1].append((field["name"], (field["label"] or "").strip(), field["type"], said or field["after"] or ""))
        elif word and stack and stack[-1][0] == "enum":
            enums[stack[-1][1]].append((word["name"], said or word["after"] or ""))
        comment = []
    return messages, enums


def short_words(name, words):
    """The words of an enum as a job file writes them, each with its meaning; not the one that stands for none."""
    prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper() + "_"
    named = [(word.removeprefix(prefix).lower(), text) for word, text in words]
    return [f"`{word}`" + (f" ({text})" if text else "") for word, text in named if word != "unspecified"]


TYPES = {"string": "text", "int32": "number", "int64": "number", "uint64": "number", "double": "number", "bool": "true or false", "bytes": "bytes"}


def keys_page():
    messages, enums = read_proto(JOB_PROTO.read_text(encoding="utf-8"))
    text = ["# Keys of a job file\n", MADE.format(origin="the comments of `proto/kernelmill/v1/job.proto`"),
            "[Job files](../jobs.md) explains them with examples. A key that is not listed here is refused.\n"]

    def add(name, heading):
        said, fields = messages[name]
        rows = []
        for field, label, kind, comment in fields:
            of_list = "list of " if label == "repeated" else ""
            if kind in messages:
                shown = f"{of_list}[{kind}](#{kind.lower()})"
            elif kind in enums:
                shown = of_list + "word"
                comment += (" " if comment else "") + "One of " + ", ".join(short_words(kind, enums[kind])) + "."
            else:
                shown = of_list + TYPES[kind]
            rows.append((f"`{field}`", shown, cell(comment)))
        text.extend([f"## {heading}\n", *([said + "\n"] if said else []), table(["key", "value", "meaning"], rows)])

    add("JobSpec", "The job")
    for name in messages:
        if name != "JobSpec":
            add(name, name)
    return "\n".join(text)


# ---------------------------------------------------------------- flags

ENTRY = re.compile(r"^ {2,4}(?P<names>-[\w,-]+)(?P<about>(?: \S+)*)(?: {2,}(?P<said>.*))?$")
COLUMN = 30  # a meaning on the same line begins here
COMMAND = re.compile(r"^  (?P<name>[a-z]+(?:-[a-z]+)*) {2,}(?P<text>\S.*)$")
# Defaults that depend on the machine, by flag or by its meaning: `--workers` means something else in other commands.
OF_THE_MACHINE = {"number of tasks that run at once": "the number of cores", "--compilers": "the number of cores", "--toolchains": "/var/lib/kernelmill/toolchains for root, else ~/.cache/kernelmill/toolchains"}
LEFT_OUT = {"--help", "--version"}
# Commands with the same addresses share flags.
CALLERS = {"Commands that call a cluster": {"--coordinator", "--store"}, "Commands that call a store alone": {"--store"},
           "Commands that call a coordinator alone": {"--coordinator"}}


def help_of(*argv):
    """The help of a program or command, a paragraph to a line."""
    return subprocess.run([*map(str, argv), "--help"], capture_output=True, text=True, check=True,
                          env={"PATH": os.environ["PATH"], "HOME": "/home/user"}).stdout


def default_of(about):
    """Returns the default of a flag from what its help says between its name and its meaning; bytes with a unit."""
    if " REQUIRED" in about:
        return "required"
    found = re.findall(r"=([^\s()=]+)(?= |$)", about)
    size = int(found[-1]) if found and ":SIZE" in about else 0
    for unit in ("GiB", "MiB"):
        if size and size % (1 << (30 if unit == "GiB" else 20)) == 0:
            return f"{size >> (30 if unit == 'GiB' else 20)} {unit}"
    return found[-1] if found else ""


def flags_of(text):
    """Returns {flag: (default, variable, meaning)} of a program's help, and {command: its description}."""
    flags, commands, last, part = {}, {}, None, ""
    for line in text.splitlines():
        if re.match(r"^\[?[A-Z][\w ]*:|^\[Option Group", line):
            part, last = line, None
        elif part.startswith("Subcommands") and (match := COMMAND.match(line)):
            last = commands.setdefault(match["name"], [match["text"]])
        elif (match := ENTRY.match(line)) and not part.startswith("Positionals"):
            name, about, said = match["names"].split(",")[-1], match["about"], [match["said"] or ""]
            if not said[0] and line[COLUMN - 1:COLUMN] == " " and line[COLUMN:COLUMN + 1].islower() and "(Env:" not in line:
                about, said = line[:COLUMN], [line[COLUMN:]]
            variable = re.search(r"\(Env:(\w+)\)", about)
            # The words that the value is one of; "value in {" also lists the numbers behind them.
            words = re.search(r"(?<!value in )\{([^}]*)\}", about)
            flags[name] = (default_of(about), variable[1] if variable else "", said,
                           ": " + ", ".join(f"`{word}`" for word in words[1].split(",")) if words else "")
            last = said
        elif last is not None and line.startswith(" " * 20):
            last.append(line.strip())
    for name, (default, env, said, words) in flags.items():
        said = " ".join(filter(None, said))
        flags[name] = (OF_THE_MACHINE.get(name) or OF_THE_MACHINE.get(said) or default, env, said + words)
    return ({name: flag for name, flag in flags.items() if name not in LEFT_OUT},
            {name: " ".join(said) for name, said in commands.items()})


def flag_rows(flags, names):
    return [(f"`{name}`", cell(flags[name][0]), cell(flags[name][2])) for name in sorted(names)]


def common(groups):
    """Returns the flags that all groups have, with the same default and meaning."""
    first, *others = groups
    return {name for name in first if all(name in other and other[name][::2] == first[name][::2] for other in others)}


def commands_of(*words):
    """Yields (command, its flags, its description) of the client, those of `store` too."""
    _, commands = flags_of(help_of(BIN / "kernelmill", *words))
    for name, said in commands.items():
        flags, below = flags_of(help_of(BIN / "kernelmill", *words, name))
        if below:
            yield from commands_of(*words, name)
        else:
            yield " ".join((*words, name)), flags, said


def flags_page():
    head = ["flag", "default", "meaning"]
    text = ["# Flags\n", MADE.format(origin="the programs' --help"),
            "Each flag of a server has a variable, `KERNELMILL_` and the flag's name in capitals, and so have those of the client that are marked *. "
            "A file of `--config` has the same names. [Operations](../operations.md#flags) and [commands](../commands.md) say more.\n"]
    if not (BIN / "kernelmill").exists():
        sys.exit(f"make.py: {BIN} has no programs to ask for their flags: deploy/build.sh")
    servers = {name: flags_of(help_of(BIN / f"kernelmill-{name}"))[0] for name in SERVERS}
    workers = [flags for name, flags in servers.items() if name not in ("coordinator", "store")]
    of_all = common(list(servers.values())) | {"--listen", "--metrics"}
    of_workers = common(workers) - of_all
    ports = {name: (servers["store"][name][0].rpartition(":")[0] + ":PORT", "", servers["store"][name][2]) for name in ("--listen", "--metrics")}
    text += ["## All servers\n", table(head, flag_rows({**servers["store"], **ports}, of_all)),
             "## All workers\n", table(head, flag_rows(workers[0], of_workers))]
    for name, flags in servers.items():
        own = set(flags) - of_all - (of_workers if flags in workers else set())
        if own:
            text += [f"## kernelmill-{name}\n", table(head, flag_rows(flags, own))]
    commands = list(commands_of())
    starred = {name: {flag: (default, env, meaning + (" *" if env else "")) for flag, (default, env, meaning) in flags.items()}
               for name, flags, _ in commands}
    of_every = common(list(starred.values()))
    text += ["## Every command\n", table(head, flag_rows(next(iter(starred.values())), of_every))]
    shared = dict.fromkeys(starred, of_every)
    for heading, called in CALLERS.items():
        callers = [name for name, flags in starred.items() if {"--coordinator", "--store"} & set(flags) == called]
        of_callers = common([starred[name] for name in callers]) - of_every
        shared.update(dict.fromkeys(callers, of_every | of_callers))
        text += [f"## {heading}\n", ", ".join(f"`{name}`" for name in sorted(callers)) + ".\n",
                 table(head, flag_rows(starred[callers[0]], of_callers))]
    for name, _, said in commands:
        own = set(starred[name]) - shared[name]
        if own:
            text += [f"## kernelmill {name}\n", said[0].upper() + said[1:] + ".\n", table(head, flag_rows(starred[name], own))]
    return "\n".join(text)


PAGES = {"fields.md": fields_page, "keys.md": keys_page, "flags.md": flags_page}


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    stale = []
    for name, make in PAGES.items():
        page = HERE / name
        text = make()
        if sys.argv[1:] and (not page.exists() or page.read_text(encoding="utf-8") != text):
            stale.append(name)
        elif not sys.argv[1:]:
            page.write_text(text, encoding="utf-8")
    if stale:
        sys.exit(f"docs/reference: out of step: {', '.join(stale)}; run docs/reference/make.py")


if __name__ == "__main__":
    main()
