#!/usr/bin/env python3
"""Precision and recall of duplicate search on pairs of kernels that a person has labelled.

usage: duplicate_labels.py LEDGER.jsonl [REPOSITORY=GIT_DIR...]
labels/duplicates.csv has the pairs: two ids, "duplicate" or "different" (would a person who trains a model want
both?), and what they were drawn from; half of them, "tuning", were looked at while the rules were made, the
other half, "final", were not. Prints how the dataset's decisions agree: two kernels are together if one was
kept for the other, or a third one for both. With repositories it also prints how variants of the rules would agree, each pair by
itself, with an implementation of its own. A pair is left out if the dataset lacks or rejected one of the two, or found it
contaminated.
"""

import collections
import csv
import json
import pathlib
import re
import subprocess
import sys

LABELS = pathlib.Path(__file__).parent / "labels" / "duplicates.csv"

PYTHON = re.compile(r"""(?P<comment>\#[^\n]*)|(?P<string>[rRbBuUfF]{0,2}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''
    |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))|(?P<name>[^\W\d]\w*)|(?P<number>\.?\d[\w.]*(?:(?<=[eE])[+-]\d+)?)
    |(?P<operator>\*\*=|//=|>>=|<<=|\.\.\.|->|:=|==|!=|<=|>=|[-+*/%&|^@]=|<<|>>|\*\*|//|[^\s])|(?P<line>\n)|(?P<blank>\s)""",
                    re.S | re.X)
C = re.compile(r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<name>[^\W\d]\w*)
    |(?P<number>\.?\d[\w.']*(?:(?<=[eE])[+-]\d+\w*)?)|(?P<operator><<<|>>>|<<=|>>=|->|::|\+\+|--|==|!=|<=|>=|&&|\|\|
    |[-+*/%&|^]=|<<|>>|\#\#|[^\s])|(?P<line>\n)|(?P<blank>\s)""", re.S | re.X)

KEYWORDS = set("if elif else for while in not and or is return assert yield await lambda switch sizeof def".split())
OPERATORS = set("+ - * / // % ** @ & | ^ ~ << >> not and or ! && || < > <= >= == !=".split())
TYPES = set("int float double char long short unsigned signed bool void auto const volatile".split())


def plumbing():
    """kPlumbing of operations.h."""
    header = LABELS.parents[3] / "services/deduplicator/core/sign/operations.h"
    return set(re.findall(r'"(\w+)"', header.read_text(encoding="utf-8").split("kPlumbing[]")[1]))


def tokens_of(text, is_c):
    """(kind, text) without comments and, of Python, without strings that are statements."""
    tokens, depth, statement, begins = [], 0, 0, True

    def end_statement():
        if not is_c and len(tokens) == statement + 1 and tokens[statement][0] == "string":
            tokens.pop()
        return len(tokens)

    for match in (C if is_c else PYTHON).finditer(text.replace("\\\n", " ")):
        kind, word = match.lastgroup, match.group()
        if kind == "line" and depth == 0:
            begins = True
        if kind in ("line", "blank", "comment"):
            continue
        if begins:
            statement, begins = end_statement(), False
        depth = max(0, depth + (word in "([{") - (word in ")]}"))
        tokens.append((kind, word))
    end_statement()
    return tokens


def python_locals(tokens):
    names, depth, in_signature, expected, keyword_depth = set(), 0, False, False, []
    for i, (kind, word) in enumerate(tokens):
        before = tokens[i - 1][1] if i else ""
        after = tokens[i + 1][1] if i + 1 < len(tokens) else ""
        if before in ("def", "class", "as"):
            names.add(word)
        if word == "def":
            in_signature, depth = True, 0
        if word in "([{":
            depth += 1
            expected = in_signature and depth == 1
            keyword_depth.append(word)
        elif word in ")]}":
            depth -= 1
            if keyword_depth:
                keyword_depth.pop()
            in_signature = in_signature and depth > 0
        elif in_signature and depth == 1:
            if expected and kind == "name":
                names.add(word)
            expected = word == ","
        elif kind == "name" and before != "." and not keyword_depth:
            is_target = after.endswith("=") and after not in ("==", "!=", "<=", ">=")
            if is_target or (before == "for") or (after == "," and "=" in [w for _, w in tokens[i:i + 12]]):
                names.add(word)
        elif kind == "name" and before == "for":
            names.add(word)
    return names - KEYWORDS


def c_locals(tokens):
    names = set()
    for i in range(1, len(tokens) - 1):
        (kind, word), (before_kind, before), (after_kind, after) = tokens[i], tokens[i - 1], tokens[i + 1]
        if kind != "name" or after_kind != "operator" or word in TYPES or before in (".", "->", "::"):
            continue
        assigned = after.endswith("=") and after not in ("==", "!=", "<=", ">=")
        declared = (before_kind == "name" and before not in ("return", "case", "else")) or before in ("*", "&", ">")
        if assigned or (declared and after in "=;,)[{:") or before in ("typename", "class"):
            names.add(word)
    return names


def windows(sequence, width):
    width = min(width, len(sequence))
    return {tuple(sequence[i:i + width]) for i in range(len(sequence) - width + 1)} if sequence else set()


def folded(window):
    """Replaces each local name in a window by the distance to its previous use there."""
    seen, words = {}, []
    for i, (is_local, word) in enumerate(window):
        words.append(("name", i - seen[word] if word in seen else 0) if is_local else word)
        if is_local:
            seen[word] = i
    return tuple(words)


class Kernel:
    """The properties of a kernel that the rules need; the deduplicator's headers define them."""

    def __init__(self, row, text, plumbing_words):
        self.row, is_c = row, row["dsl"] == "cuda"
        tokens = tokens_of(text, is_c)
        words = [word for _, word in tokens]
        self.name = row.get("name") or next((words[i + 1] for i, w in enumerate(words[:-1]) if w == "def"), "")
        local = (c_locals if is_c else python_locals)(tokens) | {self.name}
        marks = [kind == "name" and word in local and not (i and words[i - 1] in (".", "->"))
                 for i, (kind, word) in enumerate(tokens)]
        self.near = windows(words, 5)
        marked = [(mark, kind if kind in ("number", "string") else word)
                  for mark, (kind, word) in zip(marks, tokens)]
        self.structural = {folded(window) for window in windows(marked, 5)}
        numbers = {}
        self.renamed = tuple(numbers.setdefault(word, len(numbers)) if mark else word for mark, word in zip(marks, words))
        self.operations = self.find_operations(tokens, is_c, plumbing_words)

    def find_operations(self, tokens, is_c, plumbing_words):
        begin, depth = 0, 0
        words = [word for _, word in tokens]
        if not is_c and "def" in words:
            for i in range(words.index("def"), len(words)):
                depth += (words[i] in "([{") - (words[i] in ")]}")
                if words[i] == ":" and depth == 0:
                    begin = i + 1
                    break
        found = set()
        for i in range(begin, len(words)):
            kind, word = tokens[i]
            plain = word if word in OPERATORS else word[:-1] if word.endswith("=") else ""
            if plain in OPERATORS and plain:
                found.add(plain)
            if kind == "number" and re.fullmatch(r"[\d_']*\.?[\d_']*(?:[eE][+-]?\d+)?[fFlL]*", word):
                value = float(re.sub(r"[_'fFlL]", "", word) or 0)
                if value >= 0.001 and value != int(value):
                    found.add(value)
            called = kind == "name" and i + 1 < len(words) and words[i + 1] == "(" and word != self.name
            if called and word not in KEYWORDS | plumbing_words:
                found.add(word + "(")
        return found


def jaccard(a, b):
    return len(a & b) / max(1, len(a | b))


def same_operations(a, b):
    if a.name == b.name:
        return a.operations <= b.operations or b.operations <= a.operations
    return a.operations == b.operations


def same_kernel(a, b, near):
    if a.name == b.name and near >= 0.8:
        return True
    in_one_file = all(a.row[key] == b.row[key] for key in ("repository", "path"))
    return same_operations(a, b) and (a.name == b.name or not in_one_file or near >= 0.95)


def is_version(a, b, near):
    place = [tuple(kernel.row["path"].split("/")[-2:]) for kernel in (a, b)]
    return a.name == b.name and place[0] == place[1] and a.row["repository"] != b.row["repository"] and near >= 0.5


RULES = {
    "near": lambda a, b, near, structural: near >= 0.7,
    "near, structural from 0.9": lambda a, b, near, structural: near >= 0.7 or structural >= 0.9,
    "near, structural from 0.9; same operations": lambda a, b, near, structural: (
        (near >= 0.7 and same_operations(a, b)) or (structural >= 0.9 and a.operations == b.operations)),
    "near; same operations": lambda a, b, near, structural: near >= 0.7 and same_operations(a, b),
    "near; same operations, not named apart": lambda a, b, near, structural: near >= 0.7 and same_kernel(a, b, near),
    "the same, renamed": lambda a, b, near, structural: (
        (near >= 0.7 and same_kernel(a, b, near)) or a.renamed == b.renamed),
    "the same, renamed, version": lambda a, b, near, structural: (
        (near >= 0.7 and same_kernel(a, b, near)) or a.renamed == b.renamed or is_version(a, b, near)),
}


def read(row, git_dirs):
    command = ["git", "--git-dir", git_dirs[row["repository"]], "show", f"{row['commit']}:{row['path']}"]
    text = subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8", "replace")
    return "".join(text.splitlines(keepends=True)[row["first_line"] - 1:row["last_line"]])


def report(name, pairs, is_together):
    """A row: of all pairs that a rule puts together the share that a person does, and the other way round."""
    cells = []
    for half in ("tuning", "final"):
        counts = collections.Counter((is_together(pair), pair["verdict"] == "duplicate")
                                     for pair in pairs if pair["note"].endswith(half))
        right = counts[True, True]
        cells.append(f"{right / max(1, right + counts[True, False]):.3f} {right / max(1, right + counts[False, True]):.3f}")
    print(f"{name:45} {cells[0]:14} {cells[1]}")


def main():
    if len(sys.argv) < 2 or not all("=" in argument for argument in sys.argv[2:]):
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as lines:
        rows = {row["id"]: row for row in map(json.loads, lines)}
    with open(LABELS, encoding="utf-8", newline="") as labels:
        pairs = list(csv.DictReader(labels))
    leader = {row["id"]: row["of"] if row["fate"] == "duplicate" else row["id"]
              for row in rows.values() if row["fate"] in ("kept", "duplicate")}
    known = [pair for pair in pairs if pair["id_a"] in leader and pair["id_b"] in leader]
    print(f"{len(known)} of {len(pairs)} pairs are in the dataset\n{'':45} tuning         final\n"
          f"{'':45} prec. recall   prec. recall")
    report("this dataset", known, lambda pair: leader[pair["id_a"]] == leader[pair["id_b"]])
    git_dirs = dict(argument.split("=", 1) for argument in sys.argv[2:])
    words = plumbing()
    kernels = {id_: Kernel(rows[id_], read(rows[id_], git_dirs), words)
               for pair in known for id_ in (pair["id_a"], pair["id_b"])
               if rows[id_]["repository"] in git_dirs}
    read_pairs = [pair for pair in known if pair["id_a"] in kernels and pair["id_b"] in kernels]
    for name, rule in RULES.items() if git_dirs else ():
        def is_together(pair, rule=rule):
            a, b = kernels[pair["id_a"]], kernels[pair["id_b"]]
            return rule(a, b, jaccard(a.near, b.near), jaccard(a.structural, b.structural))
        report(name, read_pairs, is_together)
    return 0


if __name__ == "__main__":
    sys.exit(main())
