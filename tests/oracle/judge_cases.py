#!/usr/bin/env python3
"""Judges small inputs that say themselves what is right.

usage: judge_cases.py CASES [--program kernelmill]

CASES has a folder for each kind of fault. Its expected.json says for each file or subfolder what is right:
  "kernels": the names of all kernels in it, or their qualified names
  "licence": an SPDX expression; "not:X": any answer but X; "not:perm": nothing that the default policy admits
A folder without expected.json is an entry itself, judged by the rules of WHOLE. Each entry is a source of one crawl that
admits every licence; licences are read by `kernelmill validate`, since a crawl drops copies. Prints a line for each
folder, and exits with 1 if an entry is wrong.
"""
import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

INCLUDE = ["**/*.{py,ipynb,md,qmd,rst,html,cu,cuh}"]


class Entry:
    """A file or folder with what is right of it, and the rows of it: of the ledger, of the dataset, of `validate`."""

    def __init__(self, folder, name, right):
        self.folder, self.name, self.right = folder, name, right
        self.found, self.kept, self.validated = [], [], []

    @property
    def path(self):
        return self.folder / self.name if self.name else self.folder

    def wrong(self):
        """Returns what is wrong; empty if nothing is."""
        if not self.name:
            return WHOLE[self.folder.name](self) if self.folder.name in WHOLE else "no rule"
        if "kernels" in self.right:
            right = sorted(set(self.right["kernels"]))
            names, qualified = (sorted({row[field] for row in self.found}) for field in ("name", "qualname"))
            if right not in (names, qualified):
                return f"{qualified}, not {right}"
        if "licence" in self.right:
            return wrong_licence(self.right["licence"], self.validated)
        return ""


def wrong_licence(right, rows):
    if not rows:
        return "no kernel"
    for row in rows:
        said = row["license"]["expression"]
        admitted = row["checks"]["license_permissive"] == "pass"
        if right == "not:perm":
            if admitted:
                return f"{said} is admitted"
        elif right == "perm":
            if not admitted:
                return f"{said} is not admitted"
        elif right.startswith("not:"):
            if said == right[4:]:
                return said
        elif said != right:
            return f"{said}, not {right}"
    return ""


def all_found(*names):
    def check(entry):
        found = sorted({row["name"] for row in entry.found})
        return "" if found == sorted(names) else f"{found}, not {sorted(names)}"
    return check


def all_kept(entry):
    lost = len(entry.found) - len(entry.kept)
    return f"{lost} of {len(entry.found)} are not kept" if lost else ""


def little_ballast(entry):
    whole = sum(path.stat().st_size for path in entry.path.glob("*.cuh"))
    text = sum(len(row["module"]) for row in entry.kept)
    return "" if entry.kept and text < 2 * whole else f"modules of {text} bytes of a text of {whole}"


def alone(entry):
    return ", ".join(row["name"] for row in entry.kept if not row["self_contained"]) or ("" if entry.kept else "no kernel")


def not_broken(entry):
    return ", ".join(row["name"] for row in entry.kept if row["kind"] == "broken") or ("" if entry.kept else "no kernel")


def unsure(entry):
    sure = [row for row in entry.kept if row["license"]["expression"] == "MIT" and row["license"]["confidence"] == 1]
    return "MIT without a doubt" if sure else ""


# The rules of folders that have no expected.json.
WHOLE = {"different-operations": all_kept, "cuda-class-modules": little_ballast, "cuda-namespace-alias": alone,
         "finished-code-with-todo": not_broken, "licence-second-header": unsure, "notebooks": all_found("add", "add_md", "add_qmd", "f"),
         "pallas": all_found("scale_kernel", "add_kernel", "inner")}


def entries_of(cases):
    for folder in sorted(path for path in cases.iterdir() if path.is_dir()):
        right = folder / "expected.json"
        if right.exists():
            for name, value in sorted(json.loads(right.read_text()).items()):
                yield Entry(folder, name, value)
        else:
            yield Entry(folder, "", {})


def crawl(program, entries, folder):
    """Crawls the entries, a source each, and returns the dataset's folder."""
    sources = []
    for number, entry in enumerate(entries):
        copy = folder / "sources" / str(number)
        copy.mkdir(parents=True)
        if entry.path.is_dir():
            shutil.copytree(entry.path, copy, dirs_exist_ok=True)
        else:
            shutil.copy(entry.path, copy)
        sources.append({"path": str(copy), "name": str(number), "include": INCLUDE})
    job = folder / "job.yaml"
    job.write_text(json.dumps({"name": "cases", "sources": sources, "licenses": {"allow": ["*"]}}))  # JSON is YAML
    done = subprocess.run([program, "crawl", job, "--out", folder / "out", "--data", folder / "data"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"judge_cases.py: the crawl ended with {done.returncode}: {done.stderr[-2000:]}")
    return folder / "out"


def validate(program, folder):
    done = subprocess.run([program, "validate", "--json", folder], capture_output=True, text=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=pathlib.Path)
    parser.add_argument("--program", default="build/release/bin/kernelmill")
    options = parser.parse_args()
    entries = list(entries_of(options.cases))
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        out = crawl(options.program, entries, folder)
        for row in rows_of(out / "ledger.jsonl"):
            entries[int(row["repository"])].found.append(row)
        for row in rows_of(out / "kernels.jsonl"):
            entries[int(row["repository"])].kept.append(row)
    for entry in entries:
        if "licence" in entry.right:
            entry.validated = validate(options.program, entry.path)
    count, wrong = collections.Counter(), collections.defaultdict(list)
    for entry in entries:
        count[entry.folder.name] += 1
        if why := entry.wrong():
            wrong[entry.folder.name].append((entry.name, why))
    for name, of in sorted(count.items()):
        print(f"{name:28} {of - len(wrong[name]):4} of {of} right")
        for entry, why in wrong[name]:
            print(f"    {entry}: {why}")
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
