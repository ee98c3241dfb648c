#!/usr/bin/env python3
"""Checks the form of the list of pairs that deploy/jobs/cuda-triton-pairs.yaml names, without a network: at least 100
pairs, none twice, each with both sides, what they compute and what differs; each file that a pair names is taken by its
repository's source, which is pinned by a commit; and no source takes more than the pairs need."""

import json
import pathlib
import re
import sys

import yaml

JOBS = pathlib.Path(__file__).resolve().parent.parent / "deploy/jobs"
SIDES = ("cuda", "triton")


def main():
    job = yaml.safe_load((JOBS / "cuda-triton-pairs.yaml").read_text())
    pairs = [json.loads(line) for line in (JOBS / job["pairs"]).read_text().splitlines()]
    problems = []
    seen = set()
    files = {}
    for number, pair in enumerate(pairs, 1):
        key = json.dumps([pair[side] for side in SIDES], sort_keys=True)
        if key in seen:
            problems.append(f"line {number}: the pair is listed before")
        seen.add(key)
        for side in SIDES:
            for field in ("repository", "path", "name"):
                if not pair[side].get(field):
                    problems.append(f"line {number}: {side} has no {field}")
            files.setdefault(pair[side]["repository"], set()).add(pair[side]["path"])
        for note in ("computes", "differs"):
            if len(pair.get(note, "")) < 10:
                problems.append(f"line {number}: {note} says nothing")
    if len(pairs) < 100:
        problems.append(f"{len(pairs)} pairs: at least 100 are wanted")
    for source in job["sources"]:
        if not re.fullmatch(r"[0-9a-f]{40}", source["ref"]):
            problems.append(f"{source['name']}: {source['ref']} is no commit")
        if source["git"] != "https://github.com/" + source["name"]:
            problems.append(f"{source['name']}: its URL is {source['git']}")
        if set(source["include"]) != files.pop(source["name"], None):
            problems.append(f"{source['name']}: takes other files than the pairs name")
    problems += [f"{repository}: no source" for repository in files]
    print("\n".join(problems) or f"{len(pairs)} pairs of {len(job['sources'])} repositories")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
