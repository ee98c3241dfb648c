#!/usr/bin/env python3
"""usage: static_checks.py GENERATIONS.jsonl...

The write-up's checks by text of what a model wrote, a JSON line a file: how many samples parse, are Triton kernels, load
and store, mask their stores, and how many words they share with the reference (Jaccard, the mean). Standard library only."""

import ast
import json
import re
import sys

CHECKS = {"triton_jit": re.compile(r"@(?:triton\.)?jit\b"), "load": re.compile(r"\btl\.load\("), "store": re.compile(r"\btl\.store\("),
          "masked_store": re.compile(r"\btl\.store\([^\n]*(?:\n[^\n]*){0,3}?\bmask\s*="), "program_id": re.compile(r"\btl\.program_id\(")}


def parses(code):
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def words(text):
    return set(re.findall(r"\w+", text))


def overlap(one, other):
    first, second = words(one), words(other)
    return len(first & second) / len(first | second) if first | second else 1.0


def check(sample):
    """Checks one sample: the whole kernel parses and has Triton's decorator; the other checks read the completion alone."""
    whole = sample["prompt"] + sample["completion"]
    found = {name: bool(pattern.search(whole if name == "triton_jit" else sample["completion"])) for name, pattern in CHECKS.items()}
    found["parses"] = bool(sample["completion"].strip()) and parses(whole)
    return found


def summary(samples):
    checked = [check(sample) for sample in samples]
    shares = {name: round(sum(c[name] for c in checked) / len(checked), 4) for name in ("parses", *CHECKS)}
    referred = [overlap(s["completion"], s["reference"]) for s in samples if s.get("reference") is not None]
    return {"samples": len(samples), **shares, "word_overlap": round(sum(referred) / len(referred), 4) if referred else None}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.splitlines()[0])
    for file in sys.argv[1:]:
        with open(file, encoding="utf-8") as lines:
            samples = [json.loads(line) for line in lines]
        if not samples:
            sys.exit(f"static_checks.py: {file} has no samples")
        print(json.dumps({"file": file, **summary(samples)}))


if __name__ == "__main__":
    main()
