#!/usr/bin/env python3
"""Extraction on one core: kernelmill against the parse that an oracle in Python begins with.

usage: extract.py MIRRORS [--only OWNER/NAME,...] [--rounds N] [--json FILE]

MIRRORS: bare repositories as DIR/OWNER+NAME/repo; the Python files of each one's HEAD are read into memory first.

Two kinds of files, each measured on its own:
  marked    those that an oracle looks into, because they contain `triton` or `gluon`. Ours does all of its work,
            from the bytes to a KernelShard (definitions, free names, tags, launchers, ... of each kernel, hashes);
            CPython's is ast.parse alone, before its import maps and walks. So the ratio says too little, never too
            much, of what an extractor on CPython would take.
  unmarked  the others, which ours tells by the fetcher's search for some twenty words.
Also, for the marked files: tree-sitter's parse alone, the upper bound for any extractor that uses it.

The programs take turns, each pinned to one core; what counts is processor time, since others may use the machine,
and the table has medians. MB: 1,000,000 bytes."""

import argparse
import ast
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/bin/extract_bench"
REPOSITORIES = ["fla-org/flash-linear-attention", "FlagOpen/FlagGems", "PaliC/triton-data"]
WORDS = (b"triton", b"gluon")  # as tools that look for Triton's functions choose their files


def python_files(git_dir):
    """[(path, bytes)] of HEAD, links left out."""
    git = ["git", "--git-dir", str(git_dir)]
    listed = subprocess.run([*git, "ls-tree", "-r", "-z", "HEAD"], check=True, capture_output=True).stdout
    rows = [record.split(b"\t", 1) for record in listed.split(b"\0") if record.endswith(b".py")]
    rows = [(path, meta.split()[2]) for meta, path in rows if meta.split()[0] != b"120000"]
    reader = subprocess.Popen([*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    files = []
    for path, digest in rows:
        reader.stdin.write(digest + b"\n")
        reader.stdin.flush()
        size = int(reader.stdout.readline().split()[2])
        files.append((path, reader.stdout.read(size)))
        reader.stdout.read(1)
    reader.stdin.close()
    reader.wait()
    return files


def write_pack(files, path):
    """As extract_bench.cc reads it."""
    with open(path, "wb") as pack:
        for name, content in files:
            pack.write(name.replace(b"\n", b"?") + b"\n%d\n" % len(content) + content)


def run_ours(work, pack):
    return json.loads(subprocess.run([PROGRAM, work, pack], check=True, capture_output=True, text=True).stdout)


def run_cpython(contents):
    """Seconds of ast.parse over the contents, in a process of its own, so that one's memory is not another's."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        warnings.simplefilter("ignore")
        start = time.process_time()
        for content in contents:
            try:
                ast.parse(content)
            except (SyntaxError, ValueError, RecursionError):
                pass
        os.write(writer, repr(time.process_time() - start).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        seconds = float(answer.read())
    os.waitpid(child, 0)
    return {"seconds": seconds}


def measure(files, rounds, folder):
    """{row: [measurement]} of one repository."""
    marked = [(p, c) for p, c in files if any(word in c for word in WORDS)]
    unmarked = [(p, c) for p, c in files if not any(word in c for word in WORDS)]
    write_pack(marked, folder / "marked")
    write_pack(unmarked, folder / "unmarked")
    sizes = {"marked": sum(len(c) for _, c in marked), "unmarked": sum(len(c) for _, c in unmarked)}
    turns = {"extract": lambda: run_ours("extract", folder / "marked"),
             "cpython": lambda: run_cpython([c for _, c in marked]),
             "tree-sitter": lambda: run_ours("parse", folder / "marked"),
             "scan": lambda: run_ours("scan", folder / "unmarked")}
    rows = {name: [] for name in turns}
    for _ in range(rounds):
        for name, turn in turns.items():
            rows[name].append(turn())
    return sizes, rows


def rate(size, rows):
    return size / 1e6 / statistics.median(row["seconds"] for row in rows)


def table_row(name, sizes, rows, largest):
    rates = {work: rate(sizes["unmarked" if work == "scan" else "marked"], r) for work, r in rows.items()}
    return [name, f"{sizes['marked'] / 1e6:.1f}", f"{rates['extract']:.1f}", f"{rates['cpython']:.1f}",
            f"{rates['extract'] / rates['cpython']:.1f}", f"{rates['tree-sitter']:.1f}",
            f"{sizes['unmarked'] / 1e6:.1f}", f"{rates['scan']:.0f}", f"{largest / 1e3:.0f}",
            f"{statistics.median(r['peak_kib'] for r in rows['extract']) * 1.024 / 1e3:.0f}"]


def print_table(rows):
    head = ["repository", "marked MB", "ours MB/s", "ast.parse", "TIMES", "tree-sitter", "unmarked MB", "scan MB/s",
            "largest kB", "peak MB"]
    table = [head, *rows]
    widths = [max(len(line[i]) for line in table) for i in range(len(head))]
    for line in table:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))))
    print("peak MB: of the process that extracts, which holds the marked files twice")


def options_of(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mirrors", type=pathlib.Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=REPOSITORIES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, help="where to leave every measurement")
    return parser.parse_args(argv)


def main():
    options = options_of(sys.argv[1:])
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    table, left = [], {}
    for name in options.only:
        git_dir = options.mirrors / name.replace("/", "+") / "repo"
        if not git_dir.is_dir():
            print(f"{name}: not in {options.mirrors}, left out", file=sys.stderr)
            continue
        files = python_files(git_dir)
        with tempfile.TemporaryDirectory() as folder:
            sizes, rows = measure(files, options.rounds, pathlib.Path(folder))
        table.append(table_row(name, sizes, rows, max(len(c) for _, c in files)))
        left[name] = {"bytes": sizes, "rounds": rows}
    print(f"CPython {sys.version.split()[0]}, medians of {options.rounds} rounds, load {os.getloadavg()[0]:.1f}")
    print_table(table)
    if options.json:
        options.json.write_text(json.dumps(left, indent=1))


if __name__ == "__main__":
    main()
