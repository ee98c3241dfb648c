#!/usr/bin/env python3
"""How often the kinds and claims of a history are right, by labels made by hand.

    tests/oracle/change_precision.py DATASET... [--check]
    tests/oracle/change_precision.py draw DATASET --count 12 [--seed 35]

`labels/changes.csv` has changes of kernels, drawn by a seed, one a commit: `kind` is what a reader of the message and the difference
says, by the definition in docs/dataset.md, without having seen the program's answer; `also` names other kinds that the message or the
difference gives as well, and that a reader would not call wrong. `labels/claims.csv` has the numbers that were read from messages: the
verdict is `wrong` if the number is no measure of what the commit changes, and `hardware` if the device is wrong.

The set is `tuned` if rules were mended for what that repository showed. `held_out` and `held_out_2` were read before their repositories
had any rule mended, and measured once; later rules were mended for what they showed. `held_out_3` was read before the rules on
differences were made, and `held_out_4` after them. The points of kinds.cc come from all of these sets; `held_out_5` was read after them,
and measured once.

Prints for each set how many kinds are the label's, how many are one of `also`, how many are unknown, and how many claims of the labelled
messages are right, wrong, of other hardware, or unlabelled since the rules read another number now. With --check it fails if less than
0.95 of the tuned kinds that are said are either, or less than 0.9 of the labelled claims are right.
"""

import argparse
import collections
import csv
import json
import pathlib
import random
import sys

LABELS = pathlib.Path(__file__).parent / "labels"


def read_labels(name):
    with open(LABELS / name, newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def read_rows(datasets):
    for dataset in datasets:
        with open(pathlib.Path(dataset) / "history.jsonl", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def place(row):
    return row["commit"], row["after"]["path"], row["after"]["qualname"]


def draw(rows, count, seed):
    """Changes in the order of the draw, one a commit."""
    rows = sorted(rows, key=place)
    random.Random(seed).shuffle(rows)
    return list({row["commit"]: row for row in reversed(rows)}.values())[::-1][:count]


def compare_kinds(rows):
    by_place = {place(row): row["kind"] for row in rows}
    counts = collections.defaultdict(collections.Counter)
    for label in read_labels("changes.csv"):
        kind = by_place.get((label["commit"], label["path"], label["name"]))
        if kind is None:
            continue
        said = "also" if kind in label["also"].split() else "wrong"
        fate = "unknown" if kind == "unknown" else "right" if kind == label["kind"] else said
        counts[label["set"]][fate] += 1
        if fate in ("also", "wrong"):
            print(f"    {label['set']} {label['repository']} {label['commit'][:12]} {label['name']}: {kind}, "
                  f"to a reader {label['kind']}" + (f" or {label['also']}" if label["also"] else ""))
    return counts


def name_claim(claim):
    return claim["text"], " ".join(claim["hardware"])


def compare_claims(rows):
    """Verdicts are of a text in a message, and of the hardware beside it."""
    read = {row["commit"]: row["claims"] for row in rows}
    verdicts, sets = collections.defaultdict(dict), {}
    for label in read_labels("claims.csv"):
        verdicts[label["commit"]][label["text"], label["hardware"]] = label["verdict"]
        sets[label["commit"]] = label["set"]
    counts = collections.defaultdict(collections.Counter)
    for commit in verdicts.keys() & read.keys():
        for claim in read[commit]:
            counts[sets[commit]][verdicts[commit].get(name_claim(claim), "unlabelled")] += 1
    return counts


def share(counts, *good):
    known = sum(count for fate, count in counts.items() if fate not in ("unlabelled", "unknown"))
    return sum(counts[fate] for fate in good) / known if known else 0


def main():
    if sys.argv[1:2] == ["draw"]:
        parser = argparse.ArgumentParser()
        parser.add_argument("dataset")
        parser.add_argument("--count", type=int, required=True)
        parser.add_argument("--seed", type=int, default=35)
        arguments = parser.parse_args(sys.argv[2:])
        for row in draw(read_rows([arguments.dataset]), arguments.count, arguments.seed):
            print(json.dumps(row))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", metavar="DATASET")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    rows = list(read_rows(arguments.datasets))
    kinds, claims = compare_kinds(rows), compare_claims(rows)
    for title, found in (("kinds", kinds), ("claims", claims)):
        for name, counts in sorted(found.items()):
            print(f"{title} {name}: " + ", ".join(f"{fate} {count}" for fate, count in sorted(counts.items())))
    enough = share(kinds["tuned"], "right", "also") >= 0.95
    enough &= all(share(counts, "right") >= 0.9 for counts in claims.values())
    return 1 if arguments.check and not enough else 0


if __name__ == "__main__":
    sys.exit(main())
