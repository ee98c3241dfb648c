#!/usr/bin/env python3
"""usage: reward_curve.py FOLDER [--steps N] [--batch N] [--choices N] [--seed N] [--workers N] [--out FILE]

A smoke test of an environment that `kernelmill export-tasks --format verifiers` wrote: a policy learns from its rewards, and prints the curve.
Needs verifiers 0.4, and Triton.

The policy is no language model. For each task it sees some texts: the dataset's kernel, and mutants of it. It knows a text only by
numbers: how often calls and operators occur in it, as differences from the mean of the texts, and how alike the other texts are to it. A
linear softmax policy chooses one, verifiers scores it as a model's reply, and REINFORCE with a running baseline moves the weights. Half of the tasks are held
out; before and after, the policy answers all of them without learning.

A rising curve shows that rewards get from the cases to a policy, and that they tell right answers from wrong ones well enough to learn
from. The lesson is easy: mutants differ from the kernel in one place each, so the text that is most like all others is the
kernel. The curve says nothing of how well a language model would learn, nor that cases are complete: a mutant that they miss is
rewarded. The last line counts these."""

import argparse
import asyncio
import difflib
import json
import pathlib
import random
import re
import sys
import time

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
WORDS = (r"mask\s*=", r"tl\.load", r"tl\.store", r"tl\.sum", r"tl\.max", r"tl\.exp\(", r"tl\.exp2", r"<=", r"<", r"\+", r"-", r"\*", r"/",
         r"\breturn\b", r"other\s*=", r"zeros", r"\b1\b", r"\b2\b", r"\b0\b")


def choices_of(row, count, draw):
    """Returns texts for a task: the kernel, and mutants of different kinds."""
    from kernelmill.execution.mutants import make_mutants

    mutants = make_mutants(row["module"], row["qualname"], 4 * count)
    draw.shuffle(mutants)
    return [row["module"], *(each.module for each in mutants[:count - 1])]


def features(texts):
    counts = numpy.array([[len(re.findall(word, text)) for word in WORDS] + [alike(text, texts)] for text in texts], float)
    counts -= counts.mean(axis=0)
    largest = numpy.abs(counts).max(axis=0)
    return counts / numpy.where(largest > 0, largest, 1)


def alike(text, texts):
    """Returns the mean similarity of a text to all."""
    return numpy.mean([difflib.SequenceMatcher(None, text.splitlines(), other.splitlines()).ratio() for other in texts])


def probabilities(weights, seen):
    scores = seen @ weights
    grown = numpy.exp(scores - scores.max())
    return grown / grown.sum()


class Rollouts:
    """Scores replies by the environment's own tasks."""

    def __init__(self, folder, workers):
        sys.path.insert(0, str(folder))
        import verifiers.v1 as vf
        from verifiers.v1.utils.loaders import taskset_class

        self._trace = vf.Trace
        kind = taskset_class("kernelmill-tasks")
        config = vf.taskset_config_type("kernelmill-tasks")(id="kernelmill-tasks", task={"workers": workers})
        self.tasks = list(kind(config))

    async def _score(self, task, text):
        trace = self._trace.model_construct(root_reply=f"```python\n{text}\n```", rewards={}, metrics={}, nodes=[], errors=[])
        await task.with_data().score(trace)
        return trace.rewards["correct"].score

    def rewards(self, replies):
        """Returns the rewards of (task, text)."""
        async def score_all():
            return await asyncio.gather(*[self._score(task, text) for task, text in replies])

        return asyncio.run(score_all())


def curve(points, width=60, height=8):
    """Returns the lines of a plot of means from 0 to 1."""
    columns = [numpy.mean(part) for part in numpy.array_split(numpy.array(points), min(width, len(points)))]
    lines = []
    for level in range(height, 0, -1):
        lines.append(f"{level / height:5.2f} |" + "".join("#" if value >= (level - 0.5) / height else " " for value in columns))
    return [*lines, "      +" + "-" * len(columns) + f"> {len(points)} steps"]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    for name, default in (("steps", 60), ("batch", 8), ("choices", 6), ("seed", 0), ("workers", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--rate", type=float, default=1.0)
    parser.add_argument("--out", type=pathlib.Path)
    given = parser.parse_args()
    draw, numbers = random.Random(given.seed), numpy.random.default_rng(given.seed)
    start = time.monotonic()
    rollouts = Rollouts(given.folder, given.workers)
    rows = {row["id"]: row for row in map(json.loads, (given.folder / "kernelmill_tasks/data/tasks.jsonl").read_text().splitlines())}
    texts = {task.data.id: choices_of(rows[task.data.id], given.choices, draw) for task in rollouts.tasks}
    tasks = [task for task in rollouts.tasks if len(texts[task.data.id]) > 1]
    draw.shuffle(tasks)
    held, learned = tasks[:len(tasks) // 2], tasks[len(tasks) // 2:]
    seen = {name: features(each) for name, each in texts.items()}
    weights = numpy.zeros(len(WORDS) + 1)
    every = [(task, text) for task in tasks for text in texts[task.data.id]]
    table = dict(zip([(task.data.id, text) for task, text in every], rollouts.rewards(every)))

    def expected(some):
        """Returns the mean reward of the policy on tasks, over its own probabilities."""
        return float(numpy.mean([sum(p * table[task.data.id, text] for p, text in zip(
            probabilities(weights, seen[task.data.id]), texts[task.data.id])) for task in some]))

    print(f"{len(tasks)} tasks, {given.choices} texts each; {len(learned)} to learn from, {len(held)} held out", flush=True)
    before = expected(learned), expected(held)
    points, baseline = [], 0.0
    for step in range(given.steps):
        batch = [draw.choice(learned) for _ in range(given.batch)]
        chosen = [int(numbers.choice(len(texts[task.data.id]), p=probabilities(weights, seen[task.data.id]))) for task in batch]
        rewards = rollouts.rewards([(task, texts[task.data.id][place]) for task, place in zip(batch, chosen)])
        change = numpy.zeros(len(WORDS) + 1)
        for task, place, reward in zip(batch, chosen, rewards):
            own = seen[task.data.id]
            change += (reward - baseline) * (own[place] - probabilities(weights, own) @ own)
        weights += given.rate * change / given.batch
        baseline += 0.1 * (float(numpy.mean(rewards)) - baseline)
        points.append(float(numpy.mean(rewards)))
        if step % 5 == 4:
            print(f"step {step + 1:3}: mean reward {numpy.mean(points[-5:]):.2f}", flush=True)
    after = expected(learned), expected(held)
    print(*curve(points), sep="\n")
    kernels = sum(table[task.data.id, texts[task.data.id][0]] for task in tasks)
    missed = sum(table[task.data.id, text] for task in tasks for text in texts[task.data.id][1:])
    print(f"tasks learned from: {before[0]:.2f} before, {after[0]:.2f} after; held out: {before[1]:.2f} before, {after[1]:.2f} after")
    print(f"{given.steps * given.batch} rollouts, {time.monotonic() - start:.0f} s; rewarded: {kernels:.0f} of {len(tasks)} kernels, "
          f"{missed:.0f} of {len(every) - len(tasks)} mutants")
    if given.out:
        given.out.write_text(json.dumps({"rewards": points, "before": before, "after": after}))


if __name__ == "__main__":
    main()
