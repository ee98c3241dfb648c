#!/usr/bin/env python3
"""Prints what became of each kernel in two datasets of one job: how many kept kernels and tokens changed, and why.

usage: compare_fates.py BEFORE AFTER [--examples N]
Kernels are matched by their ids. A row is a fate before and a fate after, with the number of kernels and, of those that
were or are kept, their lexical tokens. --examples prints N kernels of each row that changed.
"""
import argparse
import collections
import json
import pathlib


def lines_of(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def fate(row):
    return row["fate"] if row["fate"] == "kept" else f"{row['fate']} {row['reason']}"


def read(folder):
    """By id: the fate, the place, and the tokens of a kept kernel."""
    tokens = {row["id"]: row["lexical_tokens"] for row in lines_of(folder / "kernels.jsonl")}
    return {row["id"]: (fate(row), f"{row['repository']} {row['path']}:{row['first_line']}", tokens.get(row["id"], 0))
            for row in lines_of(folder / "ledger.jsonl")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--examples", type=int, default=0, metavar="N")
    options = parser.parse_args()
    before, after = read(options.before), read(options.after)
    absent = ("not found", "", 0)
    counts, tokens, places = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key, absent), after.get(key, absent)
        change = (old[0], new[0])
        counts[change] += 1
        tokens[change] += max(old[2], new[2])
        places[change].append(new[1] or old[1])
    for name, rows in (("before", before), ("after", after)):
        kept = [row for row in rows.values() if row[0] == "kept"]
        print(f"{name:7} {len(rows):7} found {len(kept):7} kept {sum(row[2] for row in kept):10} tokens kept")
    print(f"{'kernels':>8} {'tokens':>10}  before -> after")
    for change, count in counts.most_common():
        print(f"{count:8} {tokens[change]:10}  {change[0]} -> {change[1]}")
        if change[0] != change[1]:
            for place in places[change][:options.examples]:
                print(f"{'':21}{place}")


if __name__ == "__main__":
    main()
