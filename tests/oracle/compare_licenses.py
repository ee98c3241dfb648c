#!/usr/bin/env python3
"""Compares the validator's reading of licences with scancode-toolkit's, file by file, over real repositories.

usage: compare_licenses.py --ours bin/license_scan --peer bin/scancode --work DIR [--sources 1000] [--explained FILE]
                           REPOSITORY.git...

Reads from each repository's HEAD all LICENSE, LICENCE, COPYING, UNLICENSE and NOTICE files, and a share of --sources
source files, those whose repository and path have the smallest SHA-256. DIR keeps scancode's answers. Both are asked
about the one file: for a source file its tags and its header, not the licence files above it.

Prints a table by repository, then each disagreement. FILE has a line "REPOSITORY PATH REASON" for each that was
looked at, the reason beginning with "peer:" or "ours:"; exit 1 if fewer than 98 % agree.
The peer: pip install --require-hashes --requirement tests/oracle/scancode.txt, in an environment of its own.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

LICENSE_NAME = re.compile(r"^(licen[sc]e|copying|unlicense|notice)", re.IGNORECASE)
CODE_NAME = re.compile(r"\.(py|pyi|json|ya?ml|toml|js|ts|tsx|sh|cfg|cc|cpp|c|h|html|ipynb)$", re.IGNORECASE)
SOURCE_NAME = re.compile(r"\.(py|cu|cuh|hip|h|hpp|cpp)$")
GOAL = 0.98
# One licence under two names, or names for the same uncertainty.
SAME = [(re.compile(r"LicenseRef-scancode-unknown[\w.-]*|LicenseRef-scancode-(free-unknown|other-[\w-]+)"), "unknown"),
        (re.compile(r"LicenseRef-unclear"), "unknown"),
        (re.compile(r"LicenseRef-scancode-(proprietary-license|commercial-license)"), "LicenseRef-Proprietary")]


def git(repository, *args):
    return subprocess.run(["git", "-C", repository, *args], check=True, capture_output=True).stdout


def name_of(repository):
    path = pathlib.Path(repository)
    return path.parent.name if path.name == "repo" else path.name.removesuffix(".git")


def chosen_files(repository, share):
    """Paths of the licence files and of the sampled source files."""
    listing = git(repository, "ls-tree", "-r", "-z", "HEAD").decode("utf-8", "surrogateescape")
    paths = [entry.split("\t", 1)[1] for entry in listing.split("\0") if entry.startswith("100")]
    licenses = [path for path in paths
                if LICENSE_NAME.match(path.rsplit("/", 1)[-1]) and not CODE_NAME.search(path)]
    sources = [path for path in paths if SOURCE_NAME.search(path)]
    key = lambda path: hashlib.sha256(f"{name_of(repository)} {path}".encode("utf-8", "surrogateescape")).digest()
    return licenses, sorted(sources, key=key)[:share]


def export(repository, work, share):
    """Writes the chosen files below DIR/files/NAME; their paths from there, licence files first."""
    licenses, sources = chosen_files(repository, share)
    name = name_of(repository)
    for path in licenses + sources:
        target = work / "files" / name / path
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(git(repository, "cat-file", "blob", f"HEAD:{path}"))
    return [f"{name}/{path}" for path in licenses], [f"{name}/{path}" for path in sources]


def ask_peer(program, work, processes):
    """scancode's expression of each file."""
    answers = work / "peer.json"
    if not answers.exists():
        subprocess.run([program, "--license", "--quiet", "--strip-root", "-n", str(processes), "--json", str(answers),
                        str(work / "files")], check=True)
    return {entry["path"]: entry["detected_license_expression_spdx"] or ""
            for entry in json.loads(answers.read_text())["files"] if entry["type"] == "file"}


def ask_us(program, work, paths):
    done = subprocess.run([program, str(work / "files")], input="\n".join(paths) + "\n", text=True, check=True,
                          capture_output=True)
    return {entry["path"]: entry for entry in map(json.loads, done.stdout.splitlines())}


def terms(expression):
    """An expression's terms with its operators, so that order and repetition do not matter."""
    for pattern, same in SAME:
        expression = pattern.sub(same, expression)
    words = set(re.findall(r"[\w.+:-]+(?: WITH [\w.-]+)?", expression)) - {"AND", "OR"}
    return frozenset(words), " OR " in expression


def read_explained(path):
    if not path:
        return {}
    lines = [line.split(None, 2) for line in pathlib.Path(path).read_text().splitlines() if line[:1] not in ("", "#")]
    return {f"{repository}/{file}": reason for repository, file, reason in lines}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--sources", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--explained")
    parser.add_argument("repositories", nargs="+")
    args = parser.parse_args()

    files = []
    share = -(-args.sources // len(args.repositories))
    for repository in args.repositories:
        licenses, sources = export(repository, args.work, share)
        files.append((name_of(repository), licenses, sources))
    peer = ask_peer(args.peer, args.work, args.processes)
    ours = ask_us(args.ours, args.work, [path for _, licenses, sources in files for path in licenses + sources])
    explained = read_explained(args.explained)

    total = agreed = 0
    differences = []
    print(f"{'repository':40} {'licence files':>13} {'agree':>6} {'sources':>8} {'agree':>6}")
    for name, licenses, sources in files:
        row = []
        for paths in (licenses, sources):
            same = [path for path in paths if terms(ours[path]["expression"]) == terms(peer[path])]
            differences += sorted(set(paths) - set(same))
            row += [len(paths), len(same)]
            total, agreed = total + len(paths), agreed + len(same)
        print(f"{name:40} {row[0]:13} {row[1]:6} {row[2]:8} {row[3]:6}")
    print(f"{agreed} of {total} agree: {100 * agreed / total:.2f} %")
    for path in differences:
        print(f"\n{path}\n  ours: {ours[path]['expression'] or '-'}  ({ours[path]['evidence']})"
              f"\n  peer: {peer[path] or '-'}")
        if path in explained:
            print(f"  {explained[path]}")
    return 0 if agreed >= GOAL * total else 1


if __name__ == "__main__":
    sys.exit(main())
