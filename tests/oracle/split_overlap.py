#!/usr/bin/env python3
"""Checks by brute force whether kernels of different splits are alike.

usage: split_overlap.py DATASET [THRESHOLD]
DATASET is an export's folder; THRESHOLD the Jaccard similarity of two sources' 5-token shingles from which they are alike,
by default the job's. The tokens are those of duplicate_labels.py, which owes nothing to ours. Every kept kernel of
validation and test is compared with every kept kernel of another split, each with its whole set: no index, no hash of
a shingle, no filter by size. And no module of another split of the same repository may contain word for word a source of
theirs of 13 tokens or more. Prints counts and the most similar pairs. Exit status: 0 no pair is alike and no module
contains such a source, 1 otherwise, 2 wrong usage.
"""

import heapq
import json
import pathlib
import sys

import duplicate_labels

WIDTH = 5
RUN = 13
SHOWN = 5


def shingles_of(text, is_c):
    """The text's shingles; of fewer tokens than one has, one of all of them."""
    words = [word for _, word in duplicate_labels.tokens_of(text, is_c)]
    width = min(WIDTH, len(words))
    return frozenset(tuple(words[i:i + width]) for i in range(len(words) - width + 1)) if words else frozenset()


def rows_of(dataset):
    with open(pathlib.Path(dataset) / "kernels.jsonl", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def job_threshold(dataset):
    return json.loads((pathlib.Path(dataset) / "report.json").read_text(encoding="utf-8"))["policies"]["dedup_threshold"]


def similarity(a, b):
    common = len(a & b)
    return common / (len(a) + len(b) - common) if common else 0.0


class Comparison:
    """The comparison of a dataset's held-out kernels with all kept kernels of other splits."""

    def __init__(self, rows, threshold):
        by_split = {}
        numbers = {}  # a shingle's number: sets of small integers are compared faster, with the same result
        for row in rows:
            shingles = shingles_of(row["source"], row["dsl"] == "cuda")
            named = frozenset(numbers.setdefault(shingle, len(numbers)) for shingle in shingles)
            by_split.setdefault(row["split"], []).append((f"{row['repository']} {row['path']}:{row['first_line']}", named))
        self.counts = {split: len(kernels) for split, kernels in sorted(by_split.items())}
        self.compared, self.alike, self.top = 0, [], []
        splits = [split for split in ("test", "validation", "train") if split in by_split]
        for i, one in enumerate(splits):
            for other in splits[i + 1:]:
                for name, kernel in by_split[one]:
                    self.compare(one, name, kernel, other, by_split[other], threshold)

    def compare(self, one, name, kernel, other, kernels, threshold):
        for other_name, other_kernel in kernels:
            score = similarity(kernel, other_kernel)
            self.compared += 1
            if score >= threshold:
                self.alike.append((score, f"{one} {name}", f"{other} {other_name}"))
            elif len(self.top) < SHOWN:
                heapq.heappush(self.top, (score, f"{one} {name}", f"{other} {other_name}"))
            elif score > self.top[0][0]:
                heapq.heapreplace(self.top, (score, f"{one} {name}", f"{other} {other_name}"))


def repeated_in_modules(rows):
    """Finds the held-out kernels that a module of another split contains word for word, and apart those too short to tell."""
    modules = {}
    for row in rows:
        modules.setdefault(row["repository"], {}).setdefault(row["split"], []).append(row["module"])
    texts = {repository: {split: "\0".join(found) for split, found in splits.items()}
             for repository, splits in modules.items()}
    found = [row for row in rows if row["split"] != "train" and any(
        row["source"] in text for split, text in texts[row["repository"]].items() if split != row["split"])]
    short = [row for row in found if len(duplicate_labels.tokens_of(row["source"], row["dsl"] == "cuda")) < RUN]
    return [row for row in found if row not in short], short


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(2)
    threshold = float(sys.argv[2]) if len(sys.argv) == 3 else job_threshold(sys.argv[1])
    rows = list(rows_of(sys.argv[1]))
    found = Comparison(rows, threshold)
    print(f"kernels          {sum(found.counts.values())}: "
          + ", ".join(f"{split} {count}" for split, count in found.counts.items()))
    print(f"pairs compared   {found.compared}")
    print(f"alike, from {threshold}  {len(found.alike)}")
    for score, a, b in sorted(found.alike, reverse=True)[:50]:
        print(f"  {score:.4f}  {a}  {b}")
    print("most similar below it")
    for score, a, b in sorted(found.top, reverse=True):
        print(f"  {score:.4f}  {a}  {b}")
    repeated, short = repeated_in_modules(rows)
    print(f"held-out sources in modules of other splits of their repository  {len(repeated)}, and {len(short)} of fewer than {RUN} tokens")
    for row in repeated[:50]:
        print(f"  {row['split']} {row['repository']} {row['path']}:{row['first_line']}")
    return 1 if found.alike or repeated else 0


if __name__ == "__main__":
    sys.exit(main())
