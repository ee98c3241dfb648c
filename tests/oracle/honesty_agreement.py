#!/usr/bin/env python3
"""usage: honesty_agreement.py KERNELBENCH.git TRITONBENCH.git OUT

Compares `kernelmill evaluate` with KernelBench's static checker, which is run from the bare repository: on the answers of
tests/integration/cheating_answers.py and honest_answers.py, each also with another name for torch and as a module, and on 200
answers that models gave to TritonBench-G. Prints how many each calls dishonest, and why where one does alone; OUT/agreement.tsv has a
line for each answer. KernelBench's other verdict, which runs an answer beside its reference, needs a GPU, and is not compared.
KERNELMILL_BIN names the folder of the programs."""

import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/integration"))
import cheating_answers  # noqa: E402
import honest_answers  # noqa: E402

CHECKER = "src/kernelbench/kernel_static_checker.py"
MODELS = "LLM_generated/Bench_G_general_purpose/"
COUNT = 200


def git(repository, *words):
    return subprocess.run(["git", "-C", repository, *words], capture_output=True, check=True).stdout.decode()


def renamed(text):
    return re.sub(r"\btorch\b(?=\.(?!nn\.functional as|testing as|Tensor\b))", "th", text.replace("import torch\n", "import torch as th\nimport torch\n", 1))


def as_module(text):
    found = re.findall(r"^def (\w+)\(x[,)]", text, re.MULTILINE)
    if not found or "ModelNew" in text:
        return None
    call = f"\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return {found[-1]}(x)\n"
    return text + call


def written():
    for kind, answers in (("cheat", [(name, text) for name, _, text in cheating_answers.CHEATS]), ("honest", honest_answers.HONEST)):
        for name, text in answers:
            yield kind, name, text
            yield f"{kind}, renamed", name, renamed(text)
            if module := as_module(text):
                yield f"{kind}, module", name, module


def generated(repository):
    rows = []
    for path in git(repository, "ls-tree", "-r", "--name-only", "HEAD", MODELS).splitlines():
        for number, line in enumerate(git(repository, "show", f"HEAD:{path}").splitlines()):
            rows.append((pathlib.PurePath(path).stem, number, json.loads(line)))
    for model, number, row in random.Random(7).sample(rows, COUNT):
        yield "model", f"{model} {number}", row["predict"] if "predict" in row else row["output"]


def main(kernelbench, tritonbench, out):
    out.mkdir(parents=True, exist_ok=True)
    namespace = {"__name__": "kernel_static_checker"}
    exec(git(kernelbench, "show", f"HEAD:{CHECKER}"), namespace)  # the program that we compare with
    answers = [*written(), *generated(tritonbench)]
    (out / "answers.jsonl").write_text("".join(json.dumps({"task_id": f"{i}", "completion": text}) + "\n" for i, (_, _, text) in enumerate(answers)))
    program = pathlib.Path(os.environ.get("KERNELMILL_BIN", ROOT / "build/release/bin")) / "kernelmill"
    subprocess.run([program, "evaluate", out / "answers.jsonl", "--no-compile", "--out", out / "evaluation"], check=True, capture_output=True)
    samples = [json.loads(line) for line in (out / "evaluation/samples.jsonl").read_text().splitlines()]
    tables = collections.defaultdict(collections.Counter)
    reasons = collections.defaultdict(collections.Counter)
    with open(out / "agreement.tsv", "w", encoding="utf-8") as lines:
        for (kind, name, text), sample in zip(answers, samples, strict=True):
            code = re.sub(r"^```\w*$", "", text, flags=re.MULTILINE)
            valid, errors, warnings = namespace["validate_kernel_static"](code, backend="triton", precision="fp32")
            ours = not sample["measures"]["honesty"]["honest"]
            checks = sorted(check for check, passed in sample["measures"]["honesty"].items() if not passed and check != "honest")
            tables[kind][ours, not valid] += 1
            if not valid and not ours:
                reasons[kind, "theirs only"].update(errors)
            if valid and ours:
                reasons[kind, "ours only"].update([" and ".join(checks) or "does not parse, or has no kernel"])
            print(kind, name, *checks or ["-"], "|", *errors, "|", *warnings, sep="\t", file=lines)
    print("| answers | both | ours only | theirs only | neither |\n|---|---|---|---|---|")
    for kind, table in tables.items():
        print(f"| {kind}: {table.total()} | {table[True, True]} | {table[True, False]} | {table[False, True]} | {table[False, False]} |")
    for (kind, whose), counts in sorted(reasons.items()):
        print(f"\n{kind}, {whose}:", *(f"{count} {reason}" for reason, count in counts.most_common()), sep="\n  ")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]))
