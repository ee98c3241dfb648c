#!/usr/bin/env python3
"""Audits a dataset by script, with code that shares nothing with the programs that made it, and prints a table.

usage: audit.py DATASET [BEFORE] [--holdout GIT_DIR[:FOLDER]]... [--examples N] [--strict] [--json FILE]
DATASET is the folder that an export wrote; BEFORE is one of the same job by another version, for a column beside it.
--holdout names a copy of a benchmark's repository, against which all texts are held by brute force. --examples prints
N rows behind each count that is not 0. --strict exits with 1 if a check that a sound dataset passes counts anything;
those are marked with "!".
"""
import argparse
import json
import pathlib
import sys

from audit_checks import contamination, conversations, cuda, fields, fim, licences, modules, records, worth
from audit_checks.dataset import Dataset


def all_checks(folder, holdouts):
    dataset = Dataset(folder)
    made = []
    for part in (records, fields, modules, cuda, fim, conversations, licences, worth):
        made += part.checks(dataset)
    if holdouts:
        made += contamination.checks(folder, holdouts)
    return made


def cell(check):
    if check is None:
        return f"{'-':>16}"
    share = f"{100 * check.count / check.of:6.1f} %" if check.of else "       -"
    return f"{check.count:7} {share}"


def table(checks, before):
    earlier = {check.name: check for check in before}
    lines = [f"  {'check':68} {'of':>7} {'before':>16} {'count':>16}" if before else
             f"  {'check':68} {'of':>7} {'count':>16}"]
    for check in checks:
        mark = "!" if check.wrong and check.count else " "
        left = [cell(earlier.pop(check.name, None))] if before else []
        lines.append(" ".join([f"{mark} {check.name:68} {check.of:7}", *left, cell(check)]))
    for check in earlier.values():
        lines.append(" ".join([f"  {check.name:68} {'':7}", cell(check), cell(None)]))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", type=pathlib.Path)
    parser.add_argument("before", nargs="?", type=pathlib.Path)
    parser.add_argument("--holdout", action="append", default=[])
    parser.add_argument("--examples", type=int, default=0, metavar="N")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    checks = all_checks(options.dataset, options.holdout)
    before = all_checks(options.before, options.holdout) if options.before else []
    print("\n".join(table(checks, before)))
    for check in checks:
        if options.examples and check.examples:
            print(f"\n{check.name}")
            print("\n".join(f"  {example}" for example in check.examples[:options.examples]))
    if options.json:
        options.json.write_text(json.dumps({c.name: {"count": c.count, "of": c.of} for c in checks}, indent=1) + "\n")
    wrong = [check for check in checks if check.wrong and check.count]
    return 1 if options.strict and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
