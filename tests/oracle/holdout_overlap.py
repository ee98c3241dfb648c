#!/usr/bin/env python3
"""Holds a ledger's contamination against what CPython's own parser finds of a benchmark in training repositories.

usage: holdout_overlap.py LEDGER.jsonl HOLDOUT=GIT_DIR[:FOLDER] NAME=GIT_DIR...
HOLDOUT and NAME are repositories as the ledger has them, GIT_DIR the copies that the job read, FOLDER what of the
holdout it read. A function of the holdout is unchanged elsewhere if both have the same syntax tree,
decorators apart: comments and blanks do not count. For each such function of a NAME the ledger must say that it
is contaminated by the holdout, or a duplicate of one that is. Prints a row for each repository, then the sums.
Exit status: 0 all were found, 1 some were not, 2 wrong usage.
"""

import ast
import collections
import json
import subprocess
import sys

import jit_functions


def python_files(git_dir, folder):
    """(path, bytes) of the .py files of HEAD below `folder`, without those that the copy lacks."""
    git = ["git", "--git-dir", git_dir]
    listed = subprocess.run([*git, "ls-tree", "-r", "-z", "HEAD"], check=True, capture_output=True).stdout
    entries = (entry.split(b"\t", 1) for entry in listed.split(b"\0") if entry)
    wanted = [(path, meta.split()[2]) for meta, path in entries
              if path.endswith(b".py") and path.startswith(folder.encode()) and meta.startswith(b"100")]
    with subprocess.Popen([*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as blobs:
        for path, blob in wanted:
            blobs.stdin.write(blob + b"\n")
            blobs.stdin.flush()
            head = blobs.stdout.readline().split()
            if head[1] != b"missing":
                yield path.decode(errors="replace"), blobs.stdout.read(int(head[2]))
                blobs.stdout.read(1)
        blobs.stdin.close()


def trees(git_dir, folder=""):
    """(path, first line, syntax tree as text) of every jit function."""
    for path, data in python_files(git_dir, folder):
        if b"jit" not in data:
            continue
        try:
            functions = list(jit_functions.found(data))
        except (SyntaxError, ValueError):
            continue  # nothing is claimed of them
        for node, first, _, _ in functions:
            node.decorator_list = []
            yield path, first, ast.dump(node)


def contaminated(row, rows, holdout):
    """Checks whether the row, or the row that it duplicates, matches a text of the holdout."""
    if row["fate"] == "duplicate":
        row = rows.get(row["of"], row)
    return any(match["holdout"]["repository"] == holdout for match in row["contamination"])


def main():
    if len(sys.argv) < 4 or not all("=" in argument for argument in sys.argv[2:]):
        print(__doc__, file=sys.stderr)
        return 2
    holdout, where = sys.argv[2].split("=", 1)
    git_dir, _, folder = where.partition(":")
    items = collections.defaultdict(list)
    for path, first, tree in trees(git_dir, folder):
        items[tree].append((path, first))
    with open(sys.argv[1], encoding="utf-8") as lines:
        ledger = [json.loads(line) for line in lines]
    rows = {row["id"]: row for row in ledger}
    places = {(row["repository"], row["path"], row["first_line"]): row for row in ledger}

    met, missed = set(), []
    for argument in sys.argv[3:]:
        name, git_dir = argument.split("=", 1)
        here = [(path, first, tree) for path, first, tree in trees(git_dir) if tree in items]
        for path, first, _ in here:
            row = places.get((name, path, first))
            if row is None or not contaminated(row, rows, holdout):
                missed.append(f"{name}/{path}:{first} {'is not in the ledger' if row is None else row['fate']}")
        met.update(at for _, _, tree in here for at in items[tree])
        print(f"{name}: {len(here)} functions of the holdout's, unchanged")
    print(f"{len(met)} of {sum(map(len, items.values()))} functions of {holdout} stand unchanged elsewhere; "
          f"{len(missed)} of the places were missed")
    print("\n".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
