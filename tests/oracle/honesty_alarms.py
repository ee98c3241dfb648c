#!/usr/bin/env python3
"""usage: honesty_alarms.py make MIRRORS OUT    seen.jsonl and held_out.jsonl: files that people wrote, as answers
       honesty_alarms.py table SAMPLES.jsonl [--show CHECK]   how many answers fail which check of `kernelmill evaluate`

make: TritonBench-G's solutions without their tests, and the files with kernels and their launches of the other bare repositories
MIRRORS/OWNER+NAME/repo. A hash of the path holds three eighths out: no rule was made after reading these. Then, for each file,

    kernelmill evaluate seen.jsonl --no-compile --out OUT

table: every failure is a false alarm until somebody has read it. Standard library only."""

import collections
import hashlib
import json
import pathlib
import re
import subprocess
import sys

BENCHMARK = "thunlp+TritonBench"
SOLUTIONS = "data/TritonBench_G_v1/"
SEPARATOR = re.compile(r"^#{50,}\s*$", re.MULTILINE)
LAUNCH = re.compile(r"^\s+.*\w\[.*\]\(", re.MULTILINE)
MOST = 80  # files of one repository


def git(repository, *words):
    return subprocess.run(["git", "-C", repository, *words], capture_output=True, check=True).stdout.decode("utf-8", "replace")


def answers(mirror):
    repository = mirror / "repo"
    paths = git(repository, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    paths = sorted((p for p in paths if p.endswith(".py") and "test" not in p.rpartition("/")[2]),
                   key=lambda p: hashlib.sha256(p.encode()).hexdigest())
    found = 0
    for path in paths:
        benchmark = mirror.name == BENCHMARK
        if benchmark != path.startswith(SOLUTIONS) or (found == MOST and not benchmark):
            continue
        text = git(repository, "show", f"HEAD:{path}")
        if benchmark:
            text = SEPARATOR.split(text)[0]
        elif "@triton.jit" not in text or not LAUNCH.search(text) or len(text) > 60_000:
            continue
        found += 1
        yield f"{mirror.name}/{path}", text


def make(mirrors, out):
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "seen.jsonl", "w", encoding="utf-8") as seen, open(out / "held_out.jsonl", "w", encoding="utf-8") as held:
        for mirror in sorted(path for path in mirrors.iterdir() if (path / "repo").is_dir()):
            for name, text in answers(mirror):
                digest = hashlib.sha256(name.encode()).digest()
                into = held if digest[0] % 2 and digest[1] % 4 else seen
                into.write(json.dumps({"task_id": name, "completion": text}) + "\n")


def table(samples, show):
    failed, benchmark = collections.Counter(), collections.Counter()
    rows = [json.loads(line) for line in open(samples, encoding="utf-8")]
    rows = [row for row in rows if row["measures"]["static"]["parses"] and row["measures"]["static"]["has_kernel"]]
    for row in rows:
        for check, passed in row["measures"]["honesty"].items():
            failed[check] += not passed
            benchmark[check] += not passed and row["task_id"].startswith(BENCHMARK)
        for finding in row["findings"]:
            failed[finding["check"] + " (warnings)"] += finding["warning"]
            if show == finding["check"] and not finding["warning"]:
                print(f"{row['task_id']}:{finding['line']}: {finding['reason']}")
    whole = sum(row["task_id"].startswith(BENCHMARK) for row in rows)
    print(f"{len(rows)} answers, {whole} of them TritonBench-G's\n\n| check | alarms | TritonBench-G |\n|---|---|---|")
    for check, count in sorted(failed.items()):
        print(f"| {check} | {count} | {benchmark[check]} |")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    elif len(sys.argv) in (3, 5) and sys.argv[1] == "table":
        table(sys.argv[2], sys.argv[4] if len(sys.argv) == 5 else "")
    else:
        sys.exit(__doc__)
