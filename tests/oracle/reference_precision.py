#!/usr/bin/env python3
"""How often the references of a dataset are right, by verdicts that were made by hand.

    tests/oracle/reference_precision.py DATASET... [--verdicts tests/oracle/labels/references.csv] [--check]
    tests/oracle/reference_precision.py draw DATASET --count 60 [--seed 34] [--per-repository 12]

A line of the verdicts is a kernel whose first row of references.jsonl had a reference: the SHA-256 of the reference's `text`, the set
that it is of, the verdict and why. It was read beside the kernel, the chain to the test and the expressions that the test compares; the
bodies of tests were not opened.

    right     the reference computes what the test compares with the result of the function that the kernel is in
    in_part   it gives some of the outputs, or does so for one of several ways that the function takes
    wrong     it computes something else, or says nothing of the kernel

The set is `tuned` if rules were mended for what that repository showed, `held_out` if none was.

Prints for each set how many references are the same still, by verdict; how many have `changed`, so that somebody has to read them; how
many kernels have no reference any more, `none`; and how many kernels the dataset lacks, `unknown`. With --check it fails if less than nine tenths of the same ones are right, or if no reference is the same.
"""

import argparse
import collections
import csv
import hashlib
import json
import pathlib
import random
import sys

VERDICTS = pathlib.Path(__file__).parent / "labels" / "references.csv"
LEAST = 0.9


def first_rows(dataset):
    """The first row of each kernel, by its place: tests with a reference come first."""
    rows = {}
    with open(pathlib.Path(dataset) / "references.jsonl", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            rows.setdefault((row["repository"], row["path"], row["name"], row["first_line"]), row)
    return rows


def digest(row):
    return hashlib.sha256(row["reference"]["text"].encode()).hexdigest()


def draw(rows, count, seed, per_repository):
    """Kernels with a reference in the order of the draw; a repository gives no more than its share."""
    kernels = sorted(key for key, row in rows.items() if row["reference"])
    random.Random(seed).shuffle(kernels)
    taken, drawn = collections.Counter(), []
    for key in kernels:
        if len(drawn) < count and taken[key[0]] < per_repository:
            taken[key[0]] += 1
            drawn.append(rows[key])
    return drawn


def read_verdicts(path):
    with open(path, newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def compare(rows, verdicts):
    """By set: the references that are the same, by verdict, and the others by what became of them."""
    counts = collections.defaultdict(collections.Counter)
    for verdict in verdicts:
        row = rows.get((verdict["repository"], verdict["path"], verdict["name"], int(verdict["first_line"])))
        if row is None:
            fate = "unknown"
        elif not row["reference"]:
            fate = "none"
        else:
            fate = verdict["verdict"] if digest(row) == verdict["reference_sha256"] else "changed"
        counts[verdict["set"]][fate] += 1
    return counts


def main():
    if sys.argv[1:2] == ["draw"]:
        parser = argparse.ArgumentParser()
        parser.add_argument("dataset")
        parser.add_argument("--count", type=int, required=True)
        parser.add_argument("--seed", type=int, default=34)
        parser.add_argument("--per-repository", type=int, default=12)
        arguments = parser.parse_args(sys.argv[2:])
        for row in draw(first_rows(arguments.dataset), arguments.count, arguments.seed, arguments.per_repository):
            print(json.dumps(row))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", metavar="DATASET")
    parser.add_argument("--verdicts", default=VERDICTS)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    rows = {}
    for dataset in arguments.datasets:
        rows.update(first_rows(dataset))
    right = same = 0
    for name, counts in sorted(compare(rows, read_verdicts(arguments.verdicts)).items()):
        print(f"{name}: " + ", ".join(f"{fate} {count}" for fate, count in sorted(counts.items())))
        right += counts["right"]
        same += counts["right"] + counts["in_part"] + counts["wrong"]
    return 1 if arguments.check and (same == 0 or right < LEAST * same) else 0


if __name__ == "__main__":
    sys.exit(main())
