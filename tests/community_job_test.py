#!/usr/bin/env python3
"""Checks the form of deploy/jobs/community.yaml, without a network: kernelmill reads it; it has at least 80 repositories,
none twice; each says its languages; tiers and weights go together; and the benchmarks that must not be trained on are
holdouts. tests/oracle/unselected.py checks its globs, in copies of the repositories."""

import os
import pathlib
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
JOB = ROOT / "deploy/jobs/community.yaml"
KERNELMILL = pathlib.Path(os.environ.get("KERNELMILL_BIN", ROOT / "build/release/bin")) / "kernelmill"
HOLDOUTS = {"ScalingIntelligence/KernelBench", "thunlp/TritonBench", "meta-pytorch/tritonbench", "gpu-mode/reference-kernels"}
WEIGHTS = {1: (10, 5, 2), 2: (5, 2), 3: (2,)}


def problems_of(source):
    """Returns the problems of a source."""
    if source["git"] != "https://github.com/" + source["name"]:
        yield f"its URL is {source['git']}"
    if not source.get("include"):
        yield "no include"
    if not source.get("languages"):
        yield "no languages"
    if source.get("role") == "holdout":
        return
    if not source.get("category"):
        yield "no category"
    if source.get("weight") not in WEIGHTS.get(source.get("tier"), ()):
        yield f"tier {source.get('tier')} with weight {source.get('weight')}"


def main():
    sources = [{**source, "name": "/".join(source["git"].split("/")[-2:])} for source in yaml.safe_load(JOB.read_text())["sources"]]
    problems = [f"{source['name']}: {problem}" for source in sources for problem in problems_of(source)]
    names = [source["name"].lower() for source in sources]
    problems += [f"{name}: listed twice" for name in set(names) if names.count(name) > 1]
    holdouts = {source["name"] for source in sources if source.get("role") == "holdout"}
    problems += [f"{name}: no holdout" for name in sorted(HOLDOUTS - holdouts)]
    if len(sources) < 80:
        problems.append(f"{len(sources)} repositories: at least 80 are wanted")
    read = subprocess.run([KERNELMILL, "check", JOB], capture_output=True, text=True, check=False)
    if read.returncode:
        problems.append(read.stderr)
    print("\n".join(problems) or f"{len(sources)} repositories, {len(holdouts)} of them holdouts")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
