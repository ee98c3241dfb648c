#!/usr/bin/env python3
"""Times a cold `kernelmill crawl` by workers, each run on as many processors as workers. Not a test.

usage: crawl.py JOB.yaml [--program kernelmill] [--workers 1,4,16] [--runs 3] [--beside 16]

Prints the median wall time, its ratio to one worker, the processor time and its ratio, and the most memory; every run has to give the
same dataset. --beside N runs N crawls of one worker at once, each on its own processor: the ratio of their processor time to that of
one crawl alone is what the machine itself costs (caches, memory, clock), which no program can win back.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def start(program, job, workers, folder, cpus):
    """A crawl with an empty data folder, held to these processors."""
    log = open(folder / "log", "w")
    command = [program, "crawl", job, "--data", folder / "data", "--out", folder / "out", "--workers", str(workers)]
    return subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=lambda: os.sched_setaffinity(0, cpus))


def end(process, folder):
    """Waits for a crawl: its processor seconds, those of its children included, and its most memory in MiB."""
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"crawl.py: the crawl ended with {status}:\n{(folder / 'log').read_text()[-2000:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def crawl(program, job, workers, cpus):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        begin = time.monotonic()
        seconds, memory = end(start(program, job, workers, folder, cpus[:workers]), folder)
        wall = time.monotonic() - begin
        manifest = (folder / "out" / "MANIFEST.json").read_bytes()
    return wall, seconds, memory, manifest


def beside(program, job, count, cpus):
    """The median processor seconds of `count` crawls of one worker that run at once."""
    with tempfile.TemporaryDirectory() as name:
        folders = [pathlib.Path(name) / str(i) for i in range(count)]
        for folder in folders:
            folder.mkdir()
        processes = [start(program, job, 1, folder, [cpu]) for folder, cpu in zip(folders, cpus)]
        return statistics.median(end(process, folder)[0] for process, folder in zip(processes, folders))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job")
    parser.add_argument("--program", default="build/release/bin/kernelmill")
    parser.add_argument("--workers", default="1,4,16")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--beside", type=int, default=0)
    options = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))
    counts = [int(n) for n in options.workers.split(",")]
    if max(*counts, options.beside, 1) > len(cpus):
        sys.exit(f"crawl.py: this machine has {len(cpus)} processors")
    runs = {n: [] for n in counts}
    for _ in range(options.runs):
        for n in counts:
            runs[n].append(crawl(options.program, options.job, n, cpus))
    if len({run[3] for each in runs.values() for run in each}) != 1:
        sys.exit("crawl.py: the runs gave different datasets")
    medians = {n: [statistics.median(run[i] for run in each) for i in range(3)] for n, each in runs.items()}
    first = medians[counts[0]]
    print(f"workers   wall s  times {counts[0]:2}   processor s   ratio   MiB")
    for n, (wall, seconds, memory) in medians.items():
        print(f"{n:7} {wall:8.2f} {first[0] / wall:9.2f} {seconds:13.2f} {seconds / first[1]:7.2f} {memory:5.0f}")
    if options.beside:
        seconds = beside(options.program, options.job, options.beside, cpus)
        print(f"{options.beside} crawls of one worker at once: {seconds:.2f} processor s each, {seconds / first[1]:.2f} times {counts[0]} alone")


if __name__ == "__main__":
    main()
