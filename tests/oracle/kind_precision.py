#!/usr/bin/env python3
"""How often the kinds and targets of a dataset are right, and whether its scores rank as a reader does, by labels made by hand.

    tests/oracle/kind_precision.py DATASET

`labels/kinds.csv` has 100 kernels of a crawl of 34 repositories, drawn at random from all that were kept (seed 3900), each with the
kind and the target that it has to a reader of its source, and in `verdict` what the program said where that was something else.
It was drawn after the rules were made, and what it showed was 99 kinds and 98 targets right. For `labels/kinds_development.csv`,
two samples before it (seeds 1300 and 2600), rules were mended.

`labels/scores.csv` has the 100 kernels of the highest and of the lowest score: `rank` is `best` or `worst`, `verdict` whether a
reader agrees (`right`), or why not.

Kernels are found by repository, path and qualified name: ids change with every commit.
"""

import argparse
import csv
import json
import pathlib

LABELS = pathlib.Path(__file__).parent / "labels"
TIER = {"best": 1, "worst": 3}


def place(repository, path, name):
    return repository, path, name


def read(name):
    with open(LABELS / name, newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def compare(name, kernels):
    found = [(label, kernels[key]) for label in read(name)
             if (key := place(label["repository"], label["path"], label["name"])) in kernels]
    for field in ("kind", "target"):
        wrong = [(label, row) for label, row in found if row[field] != label[field]]
        print(f"{name}: {field} right for {len(found) - len(wrong)} of {len(found)}")
        for label, row in wrong:
            print(f"    {label['path']} {label['name']}: {row[field]} ({row[field + '_rule']}), to a reader {label[field]}")


def compare_scores(kernels):
    labels = read("scores.csv")
    for rank, tier in TIER.items():
        chosen = [label for label in labels if label["rank"] == rank]
        right = [label for label in chosen if label["verdict"] == "right"]
        rows = [kernels[key] for label in right if (key := place(label["repository"], label["path"], label["name"])) in kernels]
        there = sum(row["quality"]["tier"] == tier for row in rows)
        print(f"scores.csv: {rank}: a reader agreed with {len(right)} of {len(chosen)}; {there} of {len(rows)} are of tier {tier}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", type=pathlib.Path)
    dataset = parser.parse_args().dataset
    kernels = {}
    with open(dataset / "kernels.jsonl", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            kernels.setdefault(place(row["repository"], row["path"], row["qualname"]), row)
    compare("kinds.csv", kernels)
    compare("kinds_development.csv", kernels)
    compare_scores(kernels)


if __name__ == "__main__":
    main()
