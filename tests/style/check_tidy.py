#!/usr/bin/env python3
"""Runs clang-tidy by .clang-tidy over as many sources as a budget of seconds allows. Exit 1: it found something. Exit 77: skipped.

usage: check_tidy.py [--seconds N] [--jobs N] [--build FOLDER] [--analyze] [FILE...]

Without files, it takes production sources: first those that changed since `main` (on `main`: in its last commits) or whose
header did, then those that include a changed header, then the others by a hash of their names and the commit, so that each
commit has another sample. A source that passed is not checked again until it, one of our headers that it includes, or
.clang-tidy changes: the build's folder tidy_passed has a file for each. --seconds 0 checks all that is left.

--analyze adds the checks clang-analyzer-*, which follow every path through a function: 5 to 10 times the time.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import house  # noqa: E402: production files are the same for both

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("KERNELMILL_CLANG_TIDY", ROOT / "build/peers/clang_tidy")) / "clang_tidy/data/bin/clang-tidy"
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
SKIPPED = 77
LAST_COMMITS = 10


class Hasher:
    """Hashes sources together with our headers that they include, and with how they are checked."""

    def __init__(self, how):
        self.known = {}
        self.settings = (ROOT / ".clang-tidy").read_bytes() + how.encode()

    def read(self, path):
        """Returns a file's text and our headers that it includes; None if it is not in the repository."""
        if path not in self.known:
            try:
                text = (ROOT / path).read_bytes()
                self.known[path] = (text, [name.decode() for name in INCLUDE.findall(text)])
            except OSError:
                self.known[path] = None
        return self.known[path]

    def key(self, source):
        seen, work = set(), [source]
        while work:
            path = work.pop()
            if path not in seen and self.read(path):
                seen.add(path)
                work += self.read(path)[1]
        total = hashlib.sha256(self.settings)
        for path in sorted(seen):
            total.update(path.encode() + b"\0" + hashlib.sha256(self.read(path)[0]).digest())
        return total.hexdigest()


def git(*words):
    """Returns the words that Git prints; empty without Git."""
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


def changed_files():
    """Returns the files that differ from where this branch left main; on main, from some commits ago."""
    base = git("merge-base", "HEAD", "origin/main") or git("merge-base", "HEAD", "main") or ["HEAD"]
    if base == git("rev-parse", "HEAD"):
        base = git("rev-parse", f"HEAD~{LAST_COMMITS}") or base
    return set(git("diff", "--name-only", base[0])) | set(git("ls-files", "--others", "--exclude-standard"))


def rank(source, changed, hasher):
    """Returns how soon a source is checked: 0 for changed ones, 1 for those that include a changed header, 2 for others."""
    if source in changed or source.removesuffix(".cc") + ".h" in changed:
        return 0
    return 1 if changed.intersection(hasher.read(source)[1]) else 2


def compile_commands(build):
    """Returns {source of ours: its compiler arguments}, without precompiled headers, which only the compiler that made them can read."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if not path.is_relative_to(ROOT) or path.is_relative_to(build) or ".cache" in path.parts or path.suffix != ".cc":
            continue
        words, kept = shlex.split(entry["command"]), []
        while words:
            if words[0] == "-Xclang":  # the four words of -include-pch FILE, and -fno-pch-timestamp
                words = words[2:]
            elif words[0] in ("-o", "-c"):
                words = words[2:]
            else:
                kept.append(words.pop(0))
        start = next(i for i, word in enumerate(kept) if "clang" in word)
        found[path.relative_to(ROOT).as_posix()] = kept[start + 1:]
    return found


def check(source, arguments, checks):
    """Runs clang-tidy on a source; returns its exit status and output."""
    # Warnings of the compiler are errors in the build already, by the compiler's version.
    command = [str(PROGRAM), "--quiet", f"--checks={checks}", "--warnings-as-errors=*", source, "--", *arguments, "-Wno-error"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + (done.stderr if "error" in done.stderr else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="start no source after this long; 0: no limit")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--analyze", action="store_true", help="follow every path as well")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if not PROGRAM.exists():
        print("check_tidy.py: skipped: clang-tidy is not installed; run tests/style/install_clang_tidy.sh")
        return SKIPPED
    build = args.build.resolve()
    commands = compile_commands(build)
    checks = "" if args.analyze else "-clang-analyzer-*"
    hasher, passed = Hasher(checks), build / "tidy_passed"
    passed.mkdir(exist_ok=True)
    wanted = args.files or [source for source in commands if not house.NOT_PRODUCTION.search(source)]
    keys = {source: hasher.key(source) for source in wanted if source in commands}
    changed, commit = changed_files(), "".join(git("rev-parse", "HEAD"))
    due = sorted((source for source in keys if not (passed / keys[source]).exists()),
                 key=lambda source: (rank(source, changed, hasher), hashlib.sha256((commit + source).encode()).digest()))
    begin, failed, checked = time.monotonic(), 0, 0

    def run(source):
        if args.seconds and time.monotonic() - begin > args.seconds:
            return source, None, ""
        return source, *check(source, commands[source], checks)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for source, status, words in pool.map(run, due):
            checked += status is not None
            if status == 0:
                (passed / keys[source]).touch()
            elif status is not None:
                failed += 1
                print(f"{source}: {words.strip()}", flush=True)
    print(f"check_tidy.py: checked {checked} of {len(keys)} files in {time.monotonic() - begin:.0f} s, {failed} failed; "
          f"{len(keys) - len(due)} passed before, {len(due) - checked} left for later runs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
