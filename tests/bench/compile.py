#!/usr/bin/env python3
"""Compiling two kernels for sm_90 on one core: a fork of a warm process, with and without the sandbox, and a new interpreter
for each kernel.

usage: compile.py [--toolchains DIR] [--kernels N] [--rounds N]

DIR: where deploy/install_toolchains.sh has installed them. The three take turns, each pinned to one core; what counts is
processor time, with all processes that are started, since others may use the machine. The table has medians."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/bin/compile_bench"
KINDS = ["confined", "unconfined", "anew"]
KERNELS = ["add", "product"]


def measure(toolchains, name, kind, kernel, kernels):
    core = str(min(os.sched_getaffinity(0)))
    command = ["taskset", "-c", core, PROGRAM, toolchains, name, kind, kernel, str(kernels)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def seconds_a_kernel(toolchains, name, kind, kernel, kernels):
    """Measures one kernel without the start of the program: many kernels minus one. `anew` includes a start for each."""
    if kind == "anew":
        count = max(2, kernels // 10)
        row = measure(toolchains, name, kind, kernel, count)
        return row["cpu"] / count, row
    one, many = (measure(toolchains, name, kind, kernel, count) for count in (1, kernels + 1))
    return (many["cpu"] - one["cpu"]) / kernels, many


def print_rows(options, name, kernel):
    rows = {kind: [] for kind in KINDS}
    for _ in range(options.rounds):
        for kind in KINDS:
            rows[kind].append(seconds_a_kernel(options.toolchains, name, kind, kernel, options.kernels))
    base = statistics.median(seconds for seconds, _ in rows["anew"])
    for kind in KINDS:
        seconds = statistics.median(seconds for seconds, _ in rows[kind])
        peak = statistics.median(row["peak_kib"] for _, row in rows[kind]) * 1.024 / 1e3
        print(f"{name:14}{kernel:10}{kind:12}{1 / seconds:10.2f}{base / seconds:8.1f}{peak:9.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--toolchains", default=os.environ.get("KERNELMILL_TOOLCHAINS", "/var/lib/kernelmill/toolchains"))
    parser.add_argument("--kernels", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    names = sorted(path.name for path in pathlib.Path(options.toolchains).glob("*") if (path / ".requirements").exists())
    if not names:
        sys.exit(f"no toolchain in {options.toolchains}")
    print(f"{'toolchain':14}{'kernel':10}{'':12}{'kernels/s':>10}{'TIMES':>8}{'peak MB':>9}")
    for name in names:
        for kernel in KERNELS:
            print_rows(options, name, kernel)
    print("kernels/s: of one core. TIMES: beside a new interpreter. peak MB: resident, of the largest process")


if __name__ == "__main__":
    main()
