#!/usr/bin/env python3
"""Holds every text that a dataset exports against the texts of benchmarks, by brute force.

usage: exported_overlap.py DATASET HOLDOUT=GIT_DIR[:FOLDER]...
DATASET is an export's folder; HOLDOUT a repository that the job held out, GIT_DIR a copy of it, FOLDER what of it the job
read. CPython finds the holdouts' jit functions and the smallest functions around their launches; the tokens are those of
duplicate_labels.py. Source, module and launcher of each kept kernel, and each text of the training views, must have less than
half of any of these (its runs of 13 tokens), and must itself be less than half made of them; docs/dataset.md says
from which length on. Prints the highest shares that are left, and what reaches a half. Exit status: 0 nothing does, 1 something
does, 2 wrong usage.
"""

import ast
import collections
import csv
import json
import pathlib
import sys

import duplicate_labels
import holdout_overlap
import jit_functions

LIMIT = 0.5
LEAST_RUNS = 64


def runs_of(text, is_c=False):
    words = [word for _, word in duplicate_labels.tokens_of(text, is_c)]
    return {tuple(words[i:i + 13]) for i in range(len(words) - 12)}


def launched(node):
    """Names that a function launches: name[grid](...)."""
    return {call.func.value.id for call in ast.walk(node)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Subscript) and isinstance(call.func.value, ast.Name)}


def holdout_texts(git_dir, folder):
    """(name, is a launcher, text) of each jit function and of the smallest function that launches it."""
    for path, data in holdout_overlap.python_files(git_dir, folder):
        if b"jit" not in data:
            continue
        try:
            kernels = list(jit_functions.found(data))
            functions = [node for node in ast.walk(ast.parse(data)) if isinstance(node, ast.FunctionDef)]
        except (SyntaxError, ValueError):
            continue
        lines = data.decode("utf-8", "replace").split("\n")
        names = {node.name for node, *_ in kernels}
        for node, _, text, _ in kernels:
            yield f"{path}:{node.name}", False, text.decode("utf-8", "replace")
        for name in names:
            around = [node for node in functions if node.name not in names and name in launched(node)]
            for node in sorted(around, key=lambda node: (node.end_lineno - node.lineno, node.lineno))[:1]:
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                yield f"{path}:{node.name}", True, "\n".join(lines[first - 1:node.end_lineno]) + "\n"


class Holdouts:
    def __init__(self):
        self.items, self.by_run = [], collections.defaultdict(list)

    def add(self, name, is_launcher, text):
        runs = runs_of(text)
        if not runs or (is_launcher and len(runs) < LEAST_RUNS):
            return
        for run in runs:
            self.by_run[run].append(len(self.items))
        self.items.append((name, len(runs)))

    def shares(self, text, is_c, is_source):
        """(the greatest share of a holdout in the text, that holdout), the share of the text that holdouts have."""
        runs = runs_of(text, is_c)
        common = collections.Counter(item for run in runs for item in self.by_run.get(run, ()))
        best = max(((count / self.items[item][1], self.items[item][0]) for item, count in common.items()
                    if is_source or self.items[item][1] >= LEAST_RUNS), default=(0, ""))
        covered = sum(run in self.by_run for run in runs)
        return best, covered / len(runs) if len(runs) >= LEAST_RUNS else 0


def exported_texts(dataset):
    """(which text, of what, text, is C, is a kernel's source)."""
    with open(dataset / "kernels.jsonl", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            place, is_c = f"{row['repository']} {row['path']}:{row['first_line']}", row["dsl"] == "cuda"
            yield "source", place, row["source"], is_c, True
            yield "module", place, row["module"] or "", is_c, False
            yield "launcher", place, (row["launcher"] or {}).get("text") or "", is_c, False
    csv.field_size_limit(1 << 24)
    for name in ("fim_sft.csv", "cu2triton_sft.csv"):
        with open(dataset / name, encoding="utf-8", newline="") as rows:
            for number, row in enumerate(csv.DictReader(rows)):
                text = row["prompt"] + "\n" + row["completion"]
                yield name, f"row {number}", text, False, False


def main():
    if len(sys.argv) < 3 or not all("=" in argument for argument in sys.argv[2:]):
        print(__doc__, file=sys.stderr)
        return 2
    holdouts = Holdouts()
    for argument in sys.argv[2:]:
        git_dir, _, folder = argument.split("=", 1)[1].partition(":")
        for text in holdout_texts(git_dir, folder):
            holdouts.add(*text)
    print(f"{len(holdouts.items)} texts of holdouts")
    highest, problems = collections.Counter(), []
    for kind, place, text, is_c, is_source in exported_texts(pathlib.Path(sys.argv[1])):
        (overlap, item), contained = holdouts.shares(text, is_c, is_source)
        for rule, share in (("overlap", overlap), ("contained", contained)):
            highest[kind, rule] = max(highest[kind, rule], share)
            if share >= LIMIT:
                problems.append(f"{rule} {share:.3f} {kind} of {place} {item}")
    for (kind, rule), share in sorted(highest.items()):
        print(f"{kind:18} {rule:10} at most {share:.3f}")
    print("\n".join([f"{len(problems)} texts reach the limit", *problems]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
