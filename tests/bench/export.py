#!/usr/bin/env python3
"""Times the export of a dataset by threads, on as many processors as threads. Not a test.

usage: export.py JOB.yaml DATA_DIR [--program kernelmill] [--threads 1,2,4] [--runs 5]

The job is crawled once, so that its results are cached; then each run crawls it again, with all stages answered from the cache.
The export's time is the run's, less the job's own and less the start of a job without an export: it reads, checks, renders,
writes and syncs every file. Prints the median and the range, the ratio to one thread, and the most memory.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def crawl(program, job, data, out, cpus):
    """One warm crawl on these processors: its seconds of export, and the process's most memory in MiB."""
    with tempfile.TemporaryFile("w+") as text:
        begin = time.monotonic()
        process = subprocess.Popen([program, "crawl", job, "--data", data, "--out", out, "--json"], stdout=text, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        # An event reports the job's end; the export follows it.
        ended = None
        for line in process.stderr:
            event = json.loads(line)
            if event.get("state") == "done":
                ended = time.monotonic()
        _, status, usage = os.wait4(process.pid, 0)
        end = time.monotonic()
        text.seek(0)
        summary = json.loads(text.read())
    if status != 0:
        sys.exit(f"export.py: the crawl ended with {status}")
    if ended is None:
        ended = begin + (int(summary["ended_unix_ms"]) - int(summary["submitted_unix_ms"])) / 1000
    return end - ended, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("job")
    parser.add_argument("data")
    parser.add_argument("--program", default="build/release/bin/kernelmill")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    program = shutil.which(options.program) or sys.exit(f"export.py: no {options.program}")
    folder = pathlib.Path(tempfile.mkdtemp())
    everyone = os.sched_getaffinity(0)
    crawl(program, options.job, options.data, folder / "out", everyone)
    out = folder / "out"
    kernels = sum(1 for _ in open(out / "kernels.jsonl", "rb"))
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{kernels} kernels, {size / 1e6:.0f} MB of files, {len(everyone)} processors")
    first = None
    for threads in map(int, options.threads.split(",")):
        if threads > len(everyone):
            continue
        cpus = set(sorted(everyone)[:threads])
        runs = [crawl(program, options.job, options.data, out, cpus) for _ in range(options.runs)]
        seconds = [run[0] for run in runs]
        median = statistics.median(seconds)
        first = first or median
        print(f"{threads:3} threads: {median:6.2f} s ({min(seconds):.2f} to {max(seconds):.2f}), {first / median:5.2f} times one, "
              f"{max(run[1] for run in runs):.0f} MiB", flush=True)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
