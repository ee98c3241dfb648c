#!/usr/bin/env python3
"""The parameters' roles and the inferred signatures of all kernels of real repositories, as text that two builds can be compared by.

usage: infer_signatures.py MIRRORS OUT [--program FILE] [--only OWNER+NAME]...
       infer_signatures.py --compare BEFORE AFTER

MIRRORS: bare repositories as MIRRORS/OWNER+NAME/repo. Writes OUT/OWNER+NAME.txt; infer_signatures.cc describes its lines. --program:
another build's infer_signatures. --compare: prints the kernels whose lines differ in two such folders, and exits 1 if there are any.
A kernel whose inferred signatures are the same compiles the same, so that only those kernels need a compiler."""

import argparse
import difflib
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/bin/infer_signatures"
sys.path.insert(0, str(ROOT / "tests/bench"))

from extract import python_files, write_pack  # noqa: E402


def git_dir(folder):
    """The one Git directory below a mirror's folder."""
    found = [head.parent for head in folder.rglob("HEAD") if (head.parent / "objects").is_dir()]
    return min(found, key=lambda path: len(path.parts), default=None)


def dump(mirrors, out, program, only):
    out.mkdir(parents=True, exist_ok=True)
    for folder in sorted(mirrors.iterdir()):
        if "+" not in folder.name or (only and folder.name not in only):
            continue
        repository = git_dir(folder)
        files = [] if repository is None else [(path, text) for path, text in python_files(repository) if is_marked(text)]
        if not files:
            continue
        with tempfile.NamedTemporaryFile() as pack, open(out / f"{folder.name}.txt", "wb") as text:
            write_pack(files, pack.name)
            done = subprocess.run([program, pack.name], stdout=text)
        print(f"{folder.name}: {len(files)} files, exit code {done.returncode}", flush=True)


def is_marked(text):
    return b"triton" in text or b"gluon" in text or b"pallas" in text


def kernels(path):
    """A file's kernels: their first line to all lines; a kernel of the same name and line gets a number."""
    found = {}
    lines = []
    for line in path.read_text(errors="replace").splitlines():
        if line.startswith("kernel "):
            name = line
            while name in found:
                name += " again"
            lines = found[name] = []
        else:
            lines.append(line)
    return found


def compare(before, after):
    total = differing = 0
    for path in sorted({p.name for folder in (before, after) for p in folder.glob("*.txt")}):
        sides = [kernels(folder / path) if (folder / path).exists() else {} for folder in (before, after)]
        total += len(sides[0])
        for name in sorted(sides[0].keys() | sides[1].keys()):
            old, new = (side.get(name, ["absent"]) for side in sides)
            if old != new:
                differing += 1
                print(path, name)
                print("\n".join(line for line in difflib.unified_diff(old, new, "before", "after", lineterm="", n=1)))
    print(f"{differing} of {total} kernels differ")
    return 1 if differing else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs=2, type=pathlib.Path)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--program", default=PROGRAM)
    parser.add_argument("--only", action="append", default=[])
    args = parser.parse_args()
    if args.compare:
        return compare(*args.folders)
    return dump(*args.folders, args.program, set(args.only))


if __name__ == "__main__":
    sys.exit(main())
