#!/usr/bin/env python3
"""Holds a ledger's kernels of JSON and JSONL files against what CPython's own json and ast find.

usage: compare_json.py LEDGER.jsonl FOLDER
FOLDER is the tree that the ledger's job read. Rows of form "decorated" must match in both directions: path, JSON
pointer, first and last line, SHA-256 and dsl. A string that is no Python is read between its ```python, ```triton and unnamed
fences, with blanks for all else; where that is no Python either, CPython says nothing of it, and what a regular expression sees
there is counted beside. Shares no code with kernelmill's extractor, on purpose.
Exit status: 0 they match, 1 they differ, 2 wrong usage.
"""
import collections
import json
import pathlib
import re
import sys

import jit_functions

DECORATED = re.compile(r"^[ \t]*@(?:triton\.)?jit\b[^\n]*\n(?:[ \t]*@[^\n]*\n)*[ \t]*def (\w+)", re.M)
FENCED = re.compile(r"^[ \t]*```[ \t]*(?:python|py|triton|)(?:[^\w\n`][^\n`]*)?\n(.*?)(?:^[ \t]*```+[ \t\r]*$|\Z)", re.M | re.S | re.I)


def strings(value, pointer=""):
    """Yields (pointer, text) of every string, and both strings of a repeated key."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, Members):
        for key, member in value.pairs:
            yield from strings(member, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from strings(member, f"{pointer}/{index}")


class Members:
    def __init__(self, pairs):
        self.pairs = pairs


def load(text):
    return json.loads(text, object_pairs_hook=Members)


def values(path):
    """(pointer, value) of every JSON value of the file, and how many cannot be read."""
    text = path.read_bytes().decode("utf-8-sig", "surrogateescape")
    lines = [(f"/{number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    broken = 0
    found = []
    # TritonBench has one of the other kind.
    whole = path.suffix == ".json" or text.startswith("[\n")
    for pointer, part in [("", text)] if whole else lines:
        try:
            found.append((pointer, load(part)))
        except ValueError:
            broken += 1
    return found, broken


def between_fences(text):
    inside = re.sub(r"[^\r\n]", " ", text)
    for block in FENCED.finditer(text):
        inside = inside[:block.start(1)] + block[1] + inside[block.end(1):]
    return inside if "jit" in inside else None


def functions_of(text):
    """The functions; None where the text is no Python."""
    for code in (text, between_fences(text)):
        if code is None:
            continue
        try:
            return list(jit_functions.jit_functions(code.encode("utf-8", "surrogateescape")))
        except (SyntaxError, ValueError):
            pass
    return None


def key(row):
    return row["path"], row["json_pointer"], row["first_line"], row["last_line"], row["sha256"]


def oracle(root):
    """{key: dsl} of all functions; {(path, pointer): lines of functions} of strings that CPython cannot read."""
    truth, unread, broken = {}, {}, 0
    for path in sorted(p for p in root.rglob("*.json*") if p.is_file() and p.suffix in (".json", ".jsonl")):
        name = path.relative_to(root).as_posix()
        found, broken_here = values(path)
        broken += broken_here
        for pointer, text in (string for at, value in found for string in strings(value, at)):
            if "jit" not in text or ("triton" not in text and "gluon" not in text):
                continue
            functions = functions_of(text)
            if functions is None:
                unread[name, pointer] = [text.count("\n", 0, found.start(1)) + 1 for found in DECORATED.finditer(text)]
                continue
            for function in functions:
                row = {"path": name, "json_pointer": pointer, **function}
                truth[key(row)] = "gluon" if function["gluon"] else "triton"
    print(f"{broken} values that are no JSON")
    return truth, unread


def compare_lines(unread, rows):
    """Counts the functions in strings that CPython cannot read: those that both see, the regular expression alone, and
    the ledger alone."""
    spans = collections.defaultdict(list)
    for row in rows:
        spans[row["path"], row["json_pointer"]].append((row["first_line"], row["last_line"]))
    both = sum(any(first <= line <= last for first, last in spans[at]) for at, lines in unread.items() for line in lines)
    alone = sum(not any(first <= line <= last for line in lines) for at, lines in unread.items()
                for first, last in spans[at])
    return both, sum(map(len, unread.values())) - both, alone


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["json_pointer"] is not None and row["form"] == "decorated"]
    truth, unread = oracle(pathlib.Path(sys.argv[2]))
    read = {key(row): row["dsl"] for row in rows if (row["path"], row["json_pointer"]) not in unread}
    problems = [f"missing: {k}" for k in sorted(truth.keys() - read.keys())]
    problems += [f"extra: {k}" for k in sorted(read.keys() - truth.keys())]
    problems += [f"dsl {read[k]}, not {dsl}: {k}" for k, dsl in truth.items() if read.get(k, dsl) != dsl]
    print(f"{len(truth)} functions that CPython sees, {len(problems)} differences")
    for problem in problems[:50]:
        print(f"  {problem}")
    both, only_regex, only_ledger = compare_lines(unread, rows)
    print(f"{len(unread)} strings that are no Python: {both} functions seen by both, {only_regex} by the regular "
          f"expression alone, {only_ledger} by the ledger alone")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
