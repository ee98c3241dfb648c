#!/usr/bin/env python3
"""Prints how many kernels of a dataset are self-contained, by repository, before and after linking.

usage: self_contained.py DATASET [OTHER_DATASET] [--why N]
DATASET is the folder that an export wrote. A module is taken to be self-contained by its own text: no free name is
left and the import statements that run load only triton, torch, packaging and Python's own modules. If the record disagrees,
the last column counts the kernel. "before" counts those whose parts are all in the kernel's own file.
OTHER_DATASET, of the same job by another version, adds its share. --why N lists the N names and modules that most
others lack, by repository.
"""
import argparse
import ast
import collections
import json
import pathlib

from needed_imports import installed, loads_files, modules_of


def lacking(record):
    """Returns what the record's module lacks; an empty list if it is self-contained."""
    names = list(record["free_names"])
    try:
        tree = ast.parse(record["module"])
    except (SyntaxError, ValueError):
        return names + ["(does not parse)"]
    return names + [m for m in modules_of(tree) if not installed(m)] + ["."] * loads_files(tree)


def read(folder):
    """Per repository: a Counter of kernels, before, after and disagree; and a Counter of what is lacking."""
    sums, why = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    with open(folder / "kernels.jsonl", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record["dsl"] == "cuda":  # the headers that a CUDA function includes are not available
                continue
            counts, missing = sums[record["repository"]], lacking(record)
            counts["kernels"] += 1
            counts["disagree"] += record["self_contained"] == bool(missing)
            why[record["repository"]].update(set(missing))
            if not missing:
                counts["after"] += 1
                counts["before"] += all(p["path"] == record["path"] for p in record["pieces"])
    return sums, why


def percent(counts, key):
    return f"{100 * counts[key] / counts['kernels']:5.1f} %" if counts["kernels"] else "    - "


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+", type=pathlib.Path)
    parser.add_argument("--why", type=int, default=0, metavar="N")
    options = parser.parse_args()
    sums, why = read(options.datasets[0])
    others = [read(folder)[0] for folder in options.datasets[1:]]
    totals = [collections.Counter() for _ in range(1 + len(others))]
    print(f"{'repository':32} kernels   before    after" + "    other" * len(others) + "  disagree")
    for name in sorted(sums) + ["all"]:
        rows = [group[name] for group in [sums, *others]] if name != "all" else totals
        print(f"{name:32} {rows[0]['kernels']:7}  {percent(rows[0], 'before')}  {percent(rows[0], 'after')}"
              + "".join(f"  {percent(row, 'after')}" for row in rows[1:]) + f"  {rows[0]['disagree']:8}")
        for key, count in why[name].most_common(options.why):
            print(f"    {count:5} {key}")
        if name != "all":
            for total, row in zip(totals, rows):
                total.update(row)


if __name__ == "__main__":
    main()
