#!/usr/bin/env python3
"""usage: broken_kernels.py make TRITONBENCH.git OUT   right.jsonl and broken.jsonl of TritonBench's own reference solutions
       broken_kernels.py table OUT/samples.jsonl...   which measure of `kernelmill evaluate` tells which break, and what compilers
                                                      said of a solution before and after, by toolchain and target

make: of each file of TritonBench-G (a bare repository) the part above its tests is a task. right.jsonl has it as it is;
broken.jsonl has 200 that were broken on purpose, one place each, the kinds in turn, chosen by a fixed seed. Then

    kernelmill evaluate broken.jsonl --baseline right.jsonl --out OUT ...

table: of each kind how many samples are lower in a measure than the same task unbroken; of several files, such as parts of
one evaluation, the sums. Standard library only."""

import collections
import json
import pathlib
import random
import re
import subprocess
import sys

COUNT = 200
FOLDER = "data/TritonBench_G_v1/"
SEPARATOR = re.compile(r"^#{50,}\s*$", re.MULTILINE)
KERNEL = re.compile(r"^@triton\.jit\s*?\n(?:@.*\n|def .*\n|[ \t)].*\n|\n)+", re.MULTILINE)
LOCAL = re.compile(r"^    (\w{4,}) = ", re.MULTILINE)


def cut(text, begin, end, new=""):
    return text[:begin] + new + text[end:]


def pick(rng, pattern, text):
    found = list(re.finditer(pattern, text, re.MULTILINE))
    return rng.choice(found) if found else None


def mask_dropped(rng, text):
    at = pick(rng, r",\s*mask\s*=\s*[\w<&\[\]:., ]+?(?=,\s*other|\)\s*$)", text)
    return at and cut(text, *at.span())


def name_misspelt(rng, text):
    """A use of a local name of a kernel, on a line after the one that sets it."""
    places = []
    for kernel in KERNEL.finditer(text):
        for local in LOCAL.finditer(text, *kernel.span()):
            use = re.compile(rf"^(?:(?!\"\"\"|#).)*?(?<![\w.])({local[1]})(?![\w=]| =)", re.MULTILINE).search(text, *(
                text.index("\n", local.end()), kernel.end()))
            if use:
                places.append(use.span(1))
    if not places:
        return None
    begin, end = rng.choice(places)
    return cut(text, begin, end, text[begin:begin + 2] + text[begin + 3:end])


def type_mixed(rng, text):
    """A pointer is computed in floating point."""
    at = pick(rng, r"tl\.arange\(0, *\w+\)", text)
    return at and cut(text, *at.span(), f"{at[0]}.to(tl.float32)")


def import_dropped(rng, text):
    at = pick(rng, r"^import triton\.language as tl\s*?\n", text)
    return at and cut(text, *at.span())


def paren_lost(rng, text):
    at = pick(rng, r"(?<=tl\.store\()(?:[^()\n]|\([^()\n]*\))*\)(?=\s*$)", text)
    return at and cut(text, at.end() - 1, at.end())


def no_such_function(rng, text):
    at = pick(rng, r"tl\.(?:exp|sum|max|where|zeros|dot|sqrt|log|maximum|arange)(?=\()", text)
    return at and cut(text, *at.span(), at[0] + "_fused")


BREAKS = (mask_dropped, name_misspelt, type_mixed, import_dropped, paren_lost, no_such_function)


def git(repository, *argv):
    return subprocess.run(["git", "--git-dir", repository, *argv], check=True, capture_output=True, text=True).stdout


def solutions(repository):
    for path in git(repository, "ls-tree", "-r", "--name-only", "HEAD", FOLDER).splitlines():
        yield pathlib.Path(path).stem, SEPARATOR.split(git(repository, "show", f"HEAD:{path}"))[0].rstrip() + "\n"


def broken(right):
    """(task id, kind, text): the kinds in turn, each task once a kind."""
    rng = random.Random(17)
    kinds = [(how, rng.sample(right, len(right))) for how in BREAKS]
    made = []
    while len(made) < COUNT and any(tasks for _, tasks in kinds):
        for how, tasks in kinds:
            while tasks and len(made) < COUNT:
                name, text = tasks.pop()
                wrong = how(rng, text)
                if wrong and wrong != text:
                    made.append((name, how.__name__, wrong))
                    break
    return made


def make(repository, out):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    right = list(solutions(repository))
    texts = dict(right)
    wrong = broken(right)
    rows = {"right": [(name, kind, texts[name]) for name, kind, _ in wrong], "broken": wrong}
    for file, samples in rows.items():
        with open(out / f"{file}.jsonl", "w", encoding="utf-8") as lines:
            for name, kind, text in samples:
                lines.write(json.dumps({"task_id": f"{kind}/{name}", "completion": text, "reference": texts[name]}) + "\n")
    with open(out / "all.jsonl", "w", encoding="utf-8") as lines:
        for name, text in right:
            lines.write(json.dumps({"task_id": name, "completion": text, "reference": text}) + "\n")
    print(f"{len(right)} solutions, {len(wrong)} broken: {dict(collections.Counter(kind for _, kind, _ in wrong))}")


def table(files):
    models = {"generations": {}, "baseline": {}}
    said = {"generations": {}, "baseline": {}}
    for line in (line for file in files for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        models[row["model"]][row["task_id"]] = {f"{group} {name}": value for group, values in row["measures"].items()
                                                for name, value in values.items() if group in ("static", "decided", "overlap")}
        said[row["model"]][row["task_id"]] = {(one["toolchain"], one["target"]): one["status"] for one in row["compile"]}
    caught = collections.defaultdict(collections.Counter)
    for task, measures in models["generations"].items():
        kind, right = task.split("/")[0], models["baseline"][task]
        lower = {name for name, value in measures.items() if name in right and value < right[name]}
        caught[kind].update(lower)
        caught[kind]["all samples"] += 1
        caught[kind]["any static check"] += any(name.startswith("static") for name in lower)
    names = sorted({name for counts in caught.values() for name in counts})
    print("| break | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for kind, counts in caught.items():
        print(f"| {kind} | " + " | ".join(str(counts[name]) for name in names) + " |")
    turns = collections.Counter((task.split("/")[0], where, said["baseline"][task][where], after)
                                for task, of in said["generations"].items() for where, after in of.items())
    for (kind, where, before, after), count in sorted(turns.items()):
        print(f"{kind}, {' '.join(where)}: {before} -> {after} {count}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"] and len(sys.argv) == 4:
        make(*sys.argv[2:])
    elif sys.argv[1:2] == ["table"] and len(sys.argv) > 2:
        table(sys.argv[2:])
    else:
        sys.exit(__doc__)
