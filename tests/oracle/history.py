#!/usr/bin/env python3
"""Changes of Triton and Gluon jit functions in a repository's commits, by git and CPython's own parser: ground truth.

usage: history.py REPOSITORY COMMIT DEPTH > truth.json
       history.py --compare truth.json history.jsonl
       history.py --needed REPOSITORY COMMIT DEPTH

A full clone is read: every Python file that a commit changes beside its first parent, on both sides, with git's own
rename detection. A change is a function of one name on both sides of a file with another text, or a name that one
commit takes out of one file and puts into another. Shares no code and no parser with kernelmill, on purpose.
--compare says which changes were found, missed and mismatched (another text on the other side). --needed prints what a
history needs beside the pinned commit, as bytes of packs that git makes: the commits, the folders that differ and both
sides of the files that hold such a function on one of them ("needed"), or that name a kernel language ("named", which is
as much as can be known of a text before it is parsed); the pinned commit with its Python files; and a clone.
"""

import argparse
import ast
import collections
import hashlib
import json
import subprocess
import sys

import jit_functions


class Repository:
    def __init__(self, path):
        self.path = path
        self.batch = subprocess.Popen(["git", "-C", path, "cat-file", "--batch"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)
        self.functions, self.named = {}, {}

    def git(self, *argv, **kwargs):
        return subprocess.run(["git", "-C", self.path, *argv], check=True, capture_output=True, **kwargs).stdout

    def read(self, oid):
        self.batch.stdin.write(f"{oid}\n".encode())
        self.batch.stdin.flush()
        head = self.batch.stdout.readline().split()
        if head[1] == b"missing":
            return b""
        data = self.batch.stdout.read(int(head[2]))
        self.batch.stdout.read(1)
        return data

    def found(self, oid):
        """{key: SHA-256 of the lines} of the jit functions of a blob; the second of a name is name#1."""
        if set(oid) == {"0"}:
            return {}
        if oid not in self.functions:
            self.functions[oid] = self.parse(self.read(oid))
        return self.functions[oid]

    def names_a_language(self, oid):
        if set(oid) == {"0"}:
            return False
        if oid not in self.named:
            data = self.read(oid)
            self.named[oid] = any(word in data for word in (b"triton", b"gluon", b"pallas"))
        return self.named[oid]

    def pack(self, oids):
        listed = "".join(f"{oid}\n" for oid in sorted(oids - {"0" * 40})).encode()
        return len(self.git("pack-objects", "--stdout", "-q", input=listed))

    @staticmethod
    def parse(data):
        if b"triton" not in data and b"gluon" not in data:
            return {}
        try:
            spans = sorted((first, node, span) for node, first, span, _ in jit_functions.found(data))
            names = qualified_names(ast.parse(data))
        except (SyntaxError, ValueError, RecursionError):
            return {}
        keys, seen = {}, collections.Counter()
        for first, node, span in sorted(spans, key=lambda each: each[0]):
            name = names[node.lineno, node.col_offset]
            key = name if not seen[name] else f"{name}#{seen[name]}"
            seen[name] += 1
            keys[key] = hashlib.sha256(span).hexdigest()
        return keys

    def steps(self, commit, depth):
        """(commit, parent, [(old id, new id, old path, new path)]) of each commit, the newest first."""
        for line in self.git("log", "--first-parent", f"-n{depth}", "--format=%H %P", commit).decode().splitlines():
            this, *parents = line.split()
            base = parents[0] if parents else self.git("hash-object", "-t", "tree", "/dev/null").decode().strip()
            raw = self.git("diff-tree", "-r", "-M", "-l4000", "--no-commit-id", "--raw", "-z", base, this).split(b"\0")
            files, at = [], 0
            while at < len(raw) - 1:
                old_mode, new_mode, old, new, status = raw[at][1:].decode().split()
                renamed = status[0] in "RC"
                paths = [each.decode("utf-8", "surrogateescape") for each in raw[at + 1:at + 2 + renamed]]
                at += 2 + renamed
                if not paths[-1].endswith(".py") and not paths[0].endswith(".py"):
                    continue
                files.append((old if old_mode[:2] == "10" and paths[0].endswith(".py") else "0" * 40,
                              new if new_mode[:2] == "10" and paths[-1].endswith(".py") else "0" * 40,
                              paths[0], paths[-1]))
            yield this, parents[0] if parents else "", files


def qualified_names(tree):
    names = {}

    def visit(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names[child.lineno, child.col_offset] = prefix + child.name
                visit(child, prefix + child.name + ".")
            else:
                visit(child, prefix)

    visit(tree, "")
    return names


def changes(repository, commit, depth):
    for this, _, files in repository.steps(commit, depth):
        gone, new = collections.defaultdict(list), collections.defaultdict(list)
        for old, after, old_path, path in files:
            left, right = repository.found(old), repository.found(after)
            for key in left.keys() & right.keys():
                if left[key] != right[key]:
                    yield {"commit": this, "path": path, "name": key, "before": left[key], "after": right[key], "how": "same"}
            for key in left.keys() - right.keys():
                gone[key.split("#")[0].split(".")[-1]].append((old_path, left[key]))
            for key in right.keys() - left.keys():
                new[key.split("#")[0].split(".")[-1]].append((path, key, right[key]))
        for name in gone.keys() & new.keys():
            if len(gone[name]) == len(new[name]) == 1 and gone[name][0][1] != new[name][0][2]:
                (_, before), (path, key, after) = gone[name][0], new[name][0]
                yield {"commit": this, "path": path, "name": key, "before": before, "after": after, "how": "moved"}


def needed(repository, commit, depth):
    """Bytes of packs: what a history needs, that by the words of files, the pinned commit's own, and a clone."""
    root = repository.git("rev-parse", f"{commit}^{{tree}}").decode().strip()
    head, objects, parsed, named = {root, repository.git("rev-parse", commit).decode().strip()}, set(), set(), set()
    for line in repository.git("ls-tree", "-r", "-t", "-z", commit).split(b"\0")[:-1]:
        kind, oid = line.split(b"\t")[0].decode().split()[1:]
        if kind == "tree" or line.endswith(b".py"):
            head.add(oid)
    for this, parent, files in repository.steps(commit, depth):
        objects |= {each for each in (this, parent) if each}
        base = parent or repository.git("hash-object", "-t", "tree", "/dev/null").decode().strip()
        objects |= {repository.git("rev-parse", f"{each}^{{tree}}").decode().strip() for each in (this, parent) if each}
        raw = repository.git("diff-tree", "-r", "-t", "--no-commit-id", "--raw", "-z", base, this).split(b"\0")
        for line in raw[:-1:2]:
            old_mode, new_mode, old, new, _ = line[1:].decode().split()
            objects |= {oid for mode, oid in ((old_mode, old), (new_mode, new)) if mode == "040000"}
        for old, new, _, _ in files:
            if repository.found(old) or repository.found(new):
                parsed |= {old, new}
            if repository.names_a_language(old) or repository.names_a_language(new):
                named |= {old, new}
    everything = repository.git("rev-list", "--objects", commit).decode(errors="replace").splitlines()
    packs = {"needed": (objects | parsed) - head, "named": (objects | parsed | named) - head, "head": head,
             "clone": {line.split()[0] for line in everything}}
    return {name: repository.pack(oids) for name, oids in packs.items()}


def compare(truth, rows):
    want = {(c["commit"], c["path"], c["name"].split("#")[0], c["after"]): c for c in truth["changes"]}
    got = collections.Counter()
    seen = set()
    for row in rows:
        key = row["commit"], row["after"]["path"], row["after"]["qualname"], row["after"]["sha256"]
        if key not in want:
            other = row["match"] in ("renamed", "split") or row["before"]["sha256"] not in truth["spans"] or \
                row["after"]["sha256"] not in truth["spans"]
            got["beyond"] += other
            got["mismatched"] += not other
            if not other:
                print("not in the truth:", *key[:3], row["match"], file=sys.stderr)
            continue
        seen.add(key)
        same = want[key]["before"] == row["before"]["sha256"]
        got["found" if same else "mismatched"] += 1
        if not same:
            print("another side before:", *key[:3], row["match"], want[key]["how"], file=sys.stderr)
    for key in want.keys() - seen:
        got["missed"] += 1
        print("missed:", *key[:3], want[key]["how"], file=sys.stderr)
    return {"truth": len(want), **{name: got[name] for name in ("found", "missed", "mismatched", "beyond")}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--needed", action="store_true")
    parser.add_argument("arguments", nargs="+")
    args = parser.parse_args()
    if args.compare:
        truth, rows = args.arguments
        with open(truth, encoding="utf-8") as a, open(rows, encoding="utf-8") as b:
            print(json.dumps(compare(json.load(a), map(json.loads, b))))
        return
    path, commit, depth = args.arguments
    repository = Repository(path)
    if args.needed:
        print(json.dumps(needed(repository, commit, int(depth))))
        return
    found = list(changes(repository, commit, int(depth)))
    spans = sorted({span for keys in repository.functions.values() for span in keys.values()})
    json.dump({"changes": found, "spans": spans}, sys.stdout)


if __name__ == "__main__":
    main()
