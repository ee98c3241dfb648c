#!/usr/bin/env python3
"""Draws source files with several licence signals from repositories, and asks kernelmill for the licence of each.

usage: license_sample.py draw --seed SEED [--count 50] [--without SAMPLE.jsonl]... REPOSITORY.git... > SAMPLE.jsonl
       license_sample.py job SAMPLE.jsonl MIRRORS > job.yaml
       license_sample.py read SAMPLE.jsonl OUT > ANSWERS.jsonl
       license_sample.py judge LABELS.jsonl OUT...
       license_sample.py show SAMPLE.jsonl MIRRORS NUMBER

`draw` reads the files of each repository's HEAD with a few patterns of its own, apart from the validator. The signals of
a file together are its kind. A file is drawn of each kind in turn, the kinds and the files within a kind in the order
of a hash of the seed and their names; a repository gives at most a tenth of the files and no head twice. `--without`
leaves out the files of earlier samples, and the files whose heads are theirs.
`job` writes the job that keeps the drawn files whole under any licence; `kernelmill crawl job.yaml --out OUT` runs it.
`read` prints what its records say of each. `judge` compares the records with labels by hand (labels/licences.jsonl: `right`
is an expression, or LicenseRef for terms that have no identifier; empty: not read), prints each that differs, and the
share that is right of each sample. `show` prints a drawn file's head and the files that may speak of it.
labels/licences.jsonl has three samples read by hand.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import re
import subprocess
import sys

SOURCE = re.compile(r"\.(py|cu|cuh|hip|h|hpp|cpp|cc)$")
LICENSE_FILE = re.compile(r"^(licen[sc]e|copying|unlicense)", re.IGNORECASE)
NO_LICENSE_FILE = re.compile(r"\.(py|pyi|json|ya?ml|toml|js|ts|sh|cfg|cc|cpp|c|h|html|ipynb|xml)$", re.IGNORECASE)
THIRD_PARTY = re.compile(r"(^|/)_?(third[-_]?part(y|ies)|3rd[-_]?part(y|ies)|vendor(ed)?|external|extern|deps)/",
                         re.IGNORECASE)
METADATA = re.compile(r"^(pyproject\.toml|setup\.cfg|setup\.py)$")
DECLARES = re.compile(r"^\s*license\s*=|License ::", re.MULTILINE)
TAG = re.compile(r"SPDX-License-Identifier:\s*(.*)", re.IGNORECASE)
TEXT = re.compile(r"permission is hereby granted|redistribution and use in source|in compliance with the license|"
                  r"free software; you can redistribute|permission to use, copy", re.IGNORECASE)
NAMED = re.compile(r"licen[sc]|\bGPL|\bEULA\b|proprietary|confidential", re.IGNORECASE)
COPYRIGHT = re.compile(r"copyright\s+(?:\(c\)|\u00a9|&copy;)?[\s\d,\-\u2013]*(?:by\s+)?([^\n]*)", re.IGNORECASE)
ORIGIN = re.compile(r"\b(adapted|copied|taken|borrowed|ported|modified|derived|forked|based)\s+(from|on)\b", re.IGNORECASE)
HEAD_LINES = 100


def git(repository, *args):
    return subprocess.run(["git", "-C", str(repository), *args], check=True, capture_output=True).stdout


def name_of(repository):
    path = pathlib.Path(repository)
    return (path.parent if path.name == "repo" else path).name.removesuffix(".git").replace("+", "/", 1)


def order(*names):
    return hashlib.sha256("\n".join(names).encode("utf-8", "surrogateescape")).digest()


def folders_of(path):
    """The folders of a path from its own to the root, which is empty."""
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


def read_blobs(repository, hashes):
    """Yields the beginning of each blob, in order."""
    with subprocess.Popen(["git", "-C", str(repository), "cat-file", "--batch"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as git_batch:
        for blob in hashes:
            git_batch.stdin.write(blob.encode() + b"\n")
            git_batch.stdin.flush()
            header = git_batch.stdout.readline().split()
            if header[-1] == b"missing":
                yield ""
                continue
            content = git_batch.stdout.read(int(header[2]))
            git_batch.stdout.read(1)
            yield content[:1 << 20].decode("utf-8", "replace")
        git_batch.stdin.close()


class Tree:
    """The names of a repository that say something of the licences of its files."""

    def __init__(self, repository):
        self.repository = repository
        self.blobs = {}
        for entry in git(repository, "ls-tree", "-r", "-z", "HEAD").decode("utf-8", "surrogateescape").split("\0"):
            if entry.startswith(("100", "120")):
                facts, path = entry.split("\t", 1)
                self.blobs[path] = facts.split()[2]
        self.folders = collections.defaultdict(set)
        for path in self.blobs:
            self.note(path)
        declared = [path for path in self.blobs if METADATA.match(path.rpartition("/")[2])]
        for path, text in zip(declared, read_blobs(repository, [self.blobs[path] for path in declared])):
            if DECLARES.search(text):
                self.folders[path.rpartition("/")[0]].add("metadata")

    def note(self, path):
        folder, _, name = path.rpartition("/")
        if LICENSE_FILE.match(name) and not NO_LICENSE_FILE.search(name):
            self.folders[folder].add("several licence files" if "licence file" in self.folders[folder] else "licence file")
        if name.lower().startswith("notice"):
            self.folders[folder].add("notice")
        if name == "REUSE.toml" or path.endswith(".reuse/dep5"):
            self.folders[folder.removesuffix(".reuse").rstrip("/")].add("REUSE")

    def signals_above(self, path):
        """The signals of the names at or above a path."""
        signals = set()
        for folder in folders_of(path):
            for signal in self.folders.get(folder, ()):
                signals.add("root licence" if signal == "licence file" and not folder else
                            "folder's licence" if signal == "licence file" else signal)
        if THIRD_PARTY.search(path):
            signals.add("third-party folder")
        if path + ".license" in self.blobs:
            signals.add("REUSE")
        return signals


def head_of(text):
    return "\n".join(text.split("\n", HEAD_LINES)[:HEAD_LINES])


def holders(head):
    """The holders that a head names, by their first word."""
    found = set()
    for match in COPYRIGHT.finditer(head):
        words = re.findall(r"[a-z]{2,}", match.group(1).lower())
        words = [word for word in words if word not in ("the", "notice", "holder", "holders", "owner", "and", "this",
                                                        "license", "licensed", "law", "permission", "information")]
        if words and match.group(0)[:1] == "C":
            found.add(words[0])
    return found


def signals_in(head):
    signals = set()
    tags = {tag.strip() for tag in TAG.findall(head)}
    if tags:
        signals.add("SPDX line" if len(tags) == 1 else "several SPDX lines")
    rest = TAG.sub("", head)
    if TEXT.search(rest):
        signals.add("text in the head")
    elif NAMED.search(rest):
        signals.add("words in the head")
    if len(holders(head)) > 1:
        signals.add("second holder")
    if ORIGIN.search(rest):
        signals.add("origin")
    return signals


def key_of(head):
    """A hash that two heads share if only their years and numbers differ."""
    lines = [line for line in head.split("\n")[:40] if re.search(r"^\s*(#|//|\*|/\*|\"\"\"|''')", line)]
    return hashlib.sha256(re.sub(r"[\W\d]+", " ", " ".join(lines)).lower().encode()).hexdigest()


def candidates_of(repository):
    tree = Tree(repository)
    commit = git(repository, "rev-parse", "HEAD").decode().strip()
    paths = sorted(path for path in tree.blobs if SOURCE.search(path))
    for path, text in zip(paths, read_blobs(repository, [tree.blobs[path] for path in paths])):
        head = head_of(text)
        own = signals_in(head)
        signals = own | tree.signals_above(path)
        if len(signals) > 1:
            yield {"repository": name_of(repository), "commit": commit, "path": path, "signals": sorted(signals),
                   "head": key_of(head) if own else ""}


def draw(args):
    left_out = [json.loads(line) for file in args.without for line in pathlib.Path(file).read_text().splitlines()]
    seen = {(one["repository"], one["path"]) for one in left_out}
    heads = {(one["repository"], one["head"]) for one in left_out if one["head"]}
    kinds = collections.defaultdict(list)
    for repository in sorted(args.repositories, key=name_of):
        for one in candidates_of(repository):
            kinds[tuple(one["signals"])].append(one)
    for kind in kinds.values():
        kind.sort(key=lambda one: order(args.seed, one["repository"], one["path"]))
    turns = sorted(kinds, key=lambda kind: order(args.seed, *kind))
    most = max(1, args.count // 10)
    drawn = []
    by_repository = collections.Counter()
    while len(drawn) < args.count and turns:
        for kind in list(turns):
            fit = next((one for one in kinds[kind] if (one["repository"], one["path"]) not in seen and
                        (one["repository"], one["head"]) not in heads and by_repository[one["repository"]] < most), None)
            if fit is None:
                turns.remove(kind)
                continue
            seen.add((fit["repository"], fit["path"]))
            if fit["head"]:
                heads.add((fit["repository"], fit["head"]))
            by_repository[fit["repository"]] += 1
            drawn.append(fit)
            if len(drawn) == args.count:
                break
    for one in drawn:
        print(json.dumps(one))
    print(f"{len(drawn)} files of {len(by_repository)} repositories, {len({tuple(one['signals']) for one in drawn})} of "
          f"{len(kinds)} kinds, out of {sum(map(len, kinds.values()))} files", file=sys.stderr)


def load(sample):
    return [json.loads(line) for line in pathlib.Path(sample).read_text().splitlines()]


def mirror_of(mirrors, repository):
    return pathlib.Path(mirrors) / repository.replace("/", "+") / "repo"


def glob_of(path):
    return re.sub(r"([*?\[\]{}\\])", r"[\1]", path)


def job(args):
    by_source = collections.defaultdict(list)
    for one in load(args.sample):
        by_source[one["repository"], one["commit"]].append(one["path"])
    print("name: licences-read\nlicenses: {allow: [\"*\"]}\nsources:")
    for (repository, commit), paths in sorted(by_source.items()):
        print(f"  - git: {mirror_of(args.mirrors, repository).resolve()}\n    name: {repository}\n    ref: {commit}\n"
              f"    keep: files\n    include: {json.dumps([glob_of(path) for path in sorted(paths)])}")


def rows_in(out):
    rows = map(json.loads, (pathlib.Path(out) / "files.jsonl").read_text().splitlines())
    return {(row["repository"], row["path"]): row for row in rows}


def terms_of(expression):
    """An expression's terms, and whether it is a choice, so that order does not matter."""
    terms = set(re.findall(r"[\w.+-]+(?: WITH [\w.-]+)?", expression)) - {"AND", "OR"}
    return terms, " OR " in expression


def is_right(expression, right):
    if right == "LicenseRef":
        return expression == "NOASSERTION" or all(term.startswith("LicenseRef-") for term in terms_of(expression)[0])
    return terms_of(expression) == terms_of(right)


def judge(args):
    rows = {}
    for out in args.outs:
        rows.update(rows_in(out))
    counts = collections.defaultdict(collections.Counter)
    for one in load(args.sample):
        row = rows.get((one["repository"], one["path"]))
        if not row or not one["right"]:
            continue
        expression = row["license"]["expression"]
        right = is_right(expression, one["right"])
        counts[one["sample"]][right] += 1
        if not right:
            print(f"{one['sample']} {one['repository']} {one['path']}: {expression}, not {one['right']}: {one['note']}")
    for sample, count in sorted(counts.items()):
        print(f"sample {sample}: {count[True]} of {count.total()} right")


def read(args):
    rows = rows_in(args.out)
    for number, one in enumerate(load(args.sample), 1):
        row = rows.get((one["repository"], one["path"]))
        print(json.dumps({"number": number, **one, "license": row and row["license"]}))


def show(args):
    one = load(args.sample)[args.number - 1]
    repository = mirror_of(args.mirrors, one["repository"])
    tree = Tree(repository)
    print(f"{one['repository']} {one['path']}\n{', '.join(one['signals'])}\n")
    print(head_of(git(repository, "cat-file", "blob", tree.blobs[one["path"]]).decode("utf-8", "replace")))
    for folder in folders_of(one["path"]):
        for path in sorted(tree.blobs):
            if path.rpartition("/")[0] == folder and re.match(r"licen|copying|notice|unlicense|setup|pyproject|reuse",
                                                              path.rpartition("/")[2], re.IGNORECASE):
                print("above:", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("draw")
    command.add_argument("--seed", required=True)
    command.add_argument("--count", type=int, default=50)
    command.add_argument("--without", action="append", default=[])
    command.add_argument("repositories", nargs="+")
    command.set_defaults(run=draw)
    for name, run, more in (("job", job, ["mirrors"]), ("read", read, ["out"]), ("show", show, ["mirrors", "number"])):
        command = commands.add_parser(name)
        command.add_argument("sample")
        for one in more:
            command.add_argument(one, type=int if one == "number" else str)
        command.set_defaults(run=run)
    command = commands.add_parser("judge")
    command.add_argument("sample")
    command.add_argument("outs", nargs="+")
    command.set_defaults(run=judge)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
