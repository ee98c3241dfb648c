#!/usr/bin/env python3
"""How often the operation tags of a dataset are right, by labels that were made by hand.

    tests/oracle/tag_precision.py DATASET [--labels tests/oracle/labels/tags.csv]

A line of the labels is a tag that a kernel had, and whether it is right: `id,repository,path,name,tag,verdict`, the verdict
`right` or `wrong`; a kernel that had none has one line with neither. Each tag was judged by reading the kernel's source: right is an
operation that the kernel does, alone or fused with others, or is a step of; setting up arguments for it is not. Two samples of 200
were drawn by `draw` from all kernels of the role `kernel` of a crawl of 34 repositories:

    labels/tags_development.csv   seed 13: rules were mended for what it showed; 0.955 as drawn
    labels/tags.csv               seed 29: drawn afterwards, and no rule was changed for it

Kernels are found by repository, path and qualified name: ids change with every commit. Prints, and with --check fails below 0.95:

    precision    of those labelled tags that the dataset gives, how many are right
    unlabelled   tags that it gives to labelled kernels, without a verdict in the labels
    coverage     of all launched kernels, how many have an operation
"""

import argparse
import csv
import json
import pathlib
import random
import sys

LABELS = pathlib.Path(__file__).parent / "labels" / "tags.csv"
DIRECTIONS = {"backward"}


def kernels(dataset):
    with open(pathlib.Path(dataset) / "kernels.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def draw(rows, count, seed):
    """The kernels to label: of those that are launched, in the order of the draw."""
    launched = sorted((r for r in rows if r["role"] == "kernel"), key=lambda r: r["id"])
    return random.Random(seed).sample(launched, count)


def key(row, name="qualname"):
    return row["repository"], row["path"], row[name]


def coverage(rows):
    launched = [r for r in rows if r["role"] == "kernel"]
    return sum(bool(set(r["tags"]) - DIRECTIONS) for r in launched) / max(len(launched), 1)


def precision(rows, labels=LABELS):
    """Returns (right, wrong, tags of labelled kernels without a verdict, labelled kernels that the dataset has)."""
    tags = {}
    for row in rows:
        tags.setdefault(key(row), set()).update(row["tags"])
    verdicts = {}
    with open(labels, newline="", encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            verdicts.setdefault(key(line, "name"), {})[line["tag"]] = line["verdict"]
    right = wrong = unlabelled = found = 0
    for kernel, judged in verdicts.items():
        if kernel not in tags:
            continue
        found += 1
        for tag in tags[kernel]:
            verdict = judged.get(tag)
            right += verdict == "right"
            wrong += verdict == "wrong"
            unlabelled += verdict is None
    return right, wrong, unlabelled, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--labels", default=LABELS)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    rows = kernels(arguments.dataset)
    right, wrong, unlabelled, found = precision(rows, arguments.labels)
    share = right / max(right + wrong, 1)
    print(f"precision   {share:.3f}  ({right} of {right + wrong} labelled tags, of {found} kernels)")
    print(f"unlabelled  {unlabelled}")
    print(f"coverage    {coverage(rows):.3f}")
    return 1 if arguments.check and (share < 0.95 or found == 0) else 0


if __name__ == "__main__":
    sys.exit(main())
