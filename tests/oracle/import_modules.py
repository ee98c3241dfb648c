#!/usr/bin/env python3
"""Imports every self-contained module of a dataset: each of them must import.

usage: import_modules.py KERNELS.jsonl [--jobs N] [--show N]
Needs triton, torch and packaging from PyPI beside it; no GPU. Prints by repository how many kernels there are, how many
call themselves self-contained, and how many of these import; then the failures by kind, most frequent first.
Exit status: 0 all import, 1 some do not, 2 wrong usage.

THIS RUNS CODE THAT STRANGERS WROTE. It is a developer's tool, for a machine that may be thrown away. Limits on
time, memory and files keep an accident small; they do not stop an attacker.

Each module is imported in a process of its own, forked from one that has loaded triton and torch and nothing of
the dataset: that saves seconds a module. The kernel must then be an attribute of its module.
"""
import argparse
import collections
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import re
import resource
import signal
import sys
import tempfile

import torch  # noqa: F401  here, so that it is loaded once
import triton  # noqa: F401

SECONDS, BYTES_OF_FILES, BYTES_OF_MEMORY = 60, 64 << 20, 16 << 30


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES_OF_FILES, BYTES_OF_FILES))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_OF_MEMORY, BYTES_OF_MEMORY))
    signal.alarm(2 * SECONDS)


def import_here(record, folder):
    """Returns why the module does not import, or lacks an attribute of the kernel's name; an empty text if it does neither."""
    path = folder / "kernel_module.py"  # a file: triton.jit reads the source of its function
    path.write_bytes(record["module"].encode("utf-8", "surrogateescape"))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:  # pylint: disable=broad-except  # sys.exit too is no import
        text = re.sub(r"0x[0-9a-f]+|/\S+/", "", str(error).split("\n", 1)[0])
        return f"{type(error).__name__}: {text}"
    return "" if hasattr(module, record["name"]) else "no attribute of the kernel's name"


def import_in_child(record):
    """The same in a process of its own, which takes what the module leaves behind with it."""
    with tempfile.TemporaryDirectory() as folder:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.chdir(folder)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(nowhere, fd)
            limit()
            os.write(writer, import_here(record, pathlib.Path(folder)).encode()[:4000] + b"\0")
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as answers:
            answer = answers.read()
        status = os.waitpid(child, 0)[1]
    if not answer.endswith(b"\0"):
        return f"ended early, wait status {status}"
    return answer[:-1].decode(errors="replace")


def run(records, jobs):
    """[(record, why it does not import)]"""
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        return list(zip(records, pool.map(import_in_child, records, chunksize=8)))


def report(records, results, show):
    counts = collections.defaultdict(collections.Counter)
    kinds = collections.defaultdict(list)
    for record in records:
        counts[record["repository"]]["kernels"] += 1
    for record, why in results:
        counts[record["repository"]]["alone"] += 1
        counts[record["repository"]]["imports"] += not why
        if why:
            kinds[why].append(f"{record['repository']}/{record['path']}:{record['first_line']}")
    counts["all"] = sum(counts.values(), collections.Counter())
    print(f"{'repository':32} {'kernels':>8} {'self-contained':>16} {'of them import':>16}")
    for name, row in counts.items():
        alone, imports = row["alone"], row["imports"]
        print(f"{name:32} {row['kernels']:8} {alone:8} {alone / row['kernels']:7.1%} "
              f"{imports:8} {imports / max(alone, 1):7.1%}")
    for why, where in sorted(kinds.items(), key=lambda kind: -len(kind[1]))[:show]:
        print(f"{len(where):5}  {why}\n       e.g. {where[0]}")
    return bool(kinds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--show", type=int, default=20)
    arguments = parser.parse_args()
    with open(arguments.kernels, encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    alone = [record for record in records if record["self_contained"]]
    return 1 if report(records, run(alone, arguments.jobs), arguments.show) else 0


if __name__ == "__main__":
    sys.exit(main())
