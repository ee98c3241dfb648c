#!/usr/bin/env python3
"""Holds a ledger's Triton and Gluon functions against an independent oracle's.

usage: compare_with_oracle.py LEDGER.jsonl [NAME=]ORACLE.json...
NAME is the ledger's `repository` that the oracle's file is of; without it, all of the ledger is.
Both directions must match: path, first and last line, SHA-256 and dsl. The oracle sees a decorator that the
file's imports resolve and nothing else, so that of the ledger the rows of form "decorated" are held against
it; the others are counted. Files that the oracle could not parse are left out: it says nothing of them.
Exit status: 0 they match, 1 they differ, 2 wrong usage.
"""
import collections
import json
import sys


ORACLE_DSLS = ("triton", "gluon")


def key(row):
    return row["path"], row["first_line"], row["last_line"]


def ledger_rows(path, repository):
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    return [r for r in rows if repository is None or r["repository"] == repository]


def gluon_by_decorator(function):
    return any(d and d.startswith("triton.experimental.gluon.") for d in function["decorators"])


def by_key(rows, where, problems):
    found = {}
    for row in rows:
        if key(row) in found:
            problems.append(f"twice in {where}: {key(row)}")
        found[key(row)] = row
    return found


def compare(ledger, oracle_path, repository):
    """The differences, one line each, how many functions were compared, and the ledger's rows by form."""
    with open(oracle_path, encoding="utf-8") as file:
        oracle = json.load(file)
    unparsed = {path for path, _ in oracle["unparsed"]}
    problems = []
    truth = by_key(oracle["functions"], "the oracle", problems)
    rows = ledger_rows(ledger, repository)
    forms = collections.Counter(f"{row['dsl']} {row['form']}" for row in rows)
    rows = [r for r in rows if r["path"] not in unparsed and r["form"] == "decorated" and r["dsl"] in ORACLE_DSLS]
    found = by_key(rows, "the ledger", problems)
    problems += [f"missing: {k}" for k in sorted(truth.keys() - found.keys())]
    problems += [f"extra: {k}" for k in sorted(found.keys() - truth.keys())]
    for k in sorted(truth.keys() & found.keys()):
        if truth[k]["sha256"] != found[k]["sha256"]:
            problems.append(f"other bytes: {k}")
        dsl = "gluon" if gluon_by_decorator(truth[k]) else "triton"
        if not found[k]["dsl"].lower().endswith(dsl):
            problems.append(f"dsl {found[k]['dsl']}, not {dsl}: {k}")
    return problems, len(truth), forms


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    failed = False
    for argument in sys.argv[2:]:
        repository, _, path = argument.rpartition("=")
        problems, count, forms = compare(sys.argv[1], path, repository or None)
        print(f"{argument}: {count} functions, {len(problems)} differences; the ledger's: {dict(sorted(forms.items()))}")
        for problem in problems[:50]:
            print(f"  {problem}")
        failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
