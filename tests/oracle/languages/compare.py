#!/usr/bin/env python3
"""Holds the kernels that kernelmill finds in a repository against the oracle of a language.

usage: compare.py [REPOSITORY...] --language X [--mirrors FOLDER] [--ledger LEDGER] [--program KERNELMILL] [--work FOLDER]
       compare.py [REPOSITORY...] --language X --truth
REPOSITORY is a bare git repository OWNER+NAME/repo, read at HEAD. Without one, the language's own are compared: those that its
rules were made with, then those that were held out; they lie below --mirrors. Each is crawled with `kernelmill crawl` for the
language, unless --ledger names a ledger.jsonl that has them. --truth prints the oracle's kernels and crawls nothing.

Prints for each repository: how many kernels both have, the missing, the extra, precision and recall; then each difference. Kernels that the
oracle does not decide count neither way: they are listed as such, like those in files that it cannot parse.
The languages of C++ need tree-sitter: tests/oracle/languages/install_tree_sitter.sh.
Exit status: 0 no difference, 1 differences, 2 wrong usage.
"""
import argparse
import collections
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)
sys.path.append(str(HERE.parents[2] / "build/peers/tree_sitter"))


def repository_name(path):
    """OWNER/NAME of OWNER+NAME/repo."""
    part = next((part for part in reversed(path.resolve().parts) if "+" in part), path.name)
    return part.replace("+", "/", 1)


def crawl(program, language, repositories, work):
    """The rows of the ledger of a crawl of the repositories for one language."""
    lines = ["name: oracle", "sources:"]
    for path in repositories:
        lines += [f"  - git: file://{path.resolve()}", f"    name: {repository_name(path)}", f"    languages: [{language.crawled}]",
                  f"    include: {json.dumps(language.include)}"]
    lines.append("licenses: {allow: [MIT]}")
    job = work / "job.yaml"
    job.write_text("\n".join(lines) + "\n", encoding="utf-8")
    subprocess.run([program, "crawl", job, "--out", work / "out", "--data", work / "data", "--workers", "1"], check=True,
                   stdout=subprocess.DEVNULL)
    return work / "out/ledger.jsonl"


def ledger_rows(path, language, name):
    """{key: row} of a repository's kernels of the language."""
    rows = {}
    if not path.exists():  # no kernel is found
        return rows
    with open(path, encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["repository"] == name and language.is_row(row):
                rows[row["path"], row["first_line"], row["last_line"]] = row
    return rows


def dialect_rows(path, language, name, truth):
    """The same of a dialect's kernels, which the kept kernels' rows have alone: the others are no longer decided."""
    rows, kept = {}, set()
    with open(path.with_name("kernels.jsonl"), encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["repository"] == name:
                kept.add((row["path"], row["first_line"], row["last_line"]))
                if (row["dialect"] or {}).get("name") == language.name:
                    rows[row["path"], row["first_line"], row["last_line"]] = row
    for key in truth.kernels.keys() - kept:
        truth.undecided[key] = f"{truth.kernels.pop(key)[0]}: not kept"
    return rows


def compare(truth, rows):
    """The keys of both, the missing, the extra, and those of kernelmill that are not decided."""
    undecided = {key for key in rows if key in truth.undecided or key[0] in truth.unparsed}
    decided = rows.keys() - undecided
    both = truth.kernels.keys() & decided
    return both, truth.kernels.keys() - both, decided - both, undecided


def report(name, truth, rows):
    both, missing, extra, undecided = compare(truth, rows)
    precision = len(both) / (len(both) + len(extra)) if both or extra else 1.0
    recall = len(both) / len(truth.kernels) if truth.kernels else 1.0
    print(f"{name}: oracle {len(truth.kernels)}, kernelmill {len(rows)}, both {len(both)}, missing {len(missing)}, extra {len(extra)}, "
          f"precision {precision:.4f}, recall {recall:.4f}, not decided {len(truth.undecided)} ({len(undecided)} found), "
          f"unparsed files {len(truth.unparsed)}", flush=True)
    for key in sorted(missing):
        print(f"  missing: {key[0]}:{key[1]}-{key[2]} {' '.join(truth.kernels[key])}")
    for key in sorted(extra):
        print(f"  extra: {key[0]}:{key[1]}-{key[2]} {rows[key]['form']} {rows[key].get('found_by', '')}")
    for key in sorted(truth.undecided):
        print(f"  not decided{', found' if key in undecided else ''}: {key[0]}:{key[1]}-{key[2]} {truth.undecided[key]}")
    return len(missing) + len(extra)


def show(name, truth):
    counts = collections.Counter(f"{maker} {how}" for _, maker, how in truth.kernels.values())
    print(f"{name}: {len(truth.kernels)} kernels, {len(truth.undecided)} not decided, {len(truth.unparsed)} unparsed files; "
          f"{dict(counts.most_common())}")
    for key, value in sorted(truth.kernels.items()):
        print(f"  {key[0]}:{key[1]}-{key[2]} {' '.join(value)}")
    for key, why in sorted(truth.undecided.items()):
        print(f"  not decided: {key[0]}:{key[1]}-{key[2]} {why}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="*", type=pathlib.Path)
    parser.add_argument("--language", required=True)
    parser.add_argument("--mirrors", type=pathlib.Path)
    parser.add_argument("--ledger", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, default=HERE.parents[2] / "build/release/bin/kernelmill")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--truth", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(10000)
    module = importlib.import_module(f"languages.{arguments.language}")
    language = module.LANGUAGE
    repositories = arguments.repositories or [
        arguments.mirrors / name.replace("/", "+") / "repo" for name in module.TUNED + module.HELD_OUT if arguments.mirrors]
    if not repositories:
        parser.error("no repository")
    different = 0
    for path in repositories:
        name, truth = repository_name(path), language.find(path)
        if arguments.truth:
            show(name, truth)
            continue
        with tempfile.TemporaryDirectory(dir=arguments.work) as work:
            ledger = arguments.ledger or crawl(arguments.program, language, [path], pathlib.Path(work))
            of_dialect = getattr(language, "dialect_of", "")
            rows = dialect_rows(ledger, language, name, truth) if of_dialect else ledger_rows(ledger, language, name)
        held_out = " (held out)" if name in module.HELD_OUT else ""
        different += report(f"{language.name} {name}{held_out}", truth, rows)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
