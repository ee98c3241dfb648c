"""Expected outputs whose bytes were not kept: the kernel makes them once more, on Triton's interpreter.

A row of tasks.jsonl has the hashes of what a kernel made. Bytes whose hash is that one are the recorded ones. Other bytes are accepted
only if the row says that all executions on a processor were exact or close: then they lie within the tolerance of the recorded ones."""

from __future__ import annotations

import hashlib
import os
import pathlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from typing import Any

from kernelmill.execution.case import Row
from kernelmill.execution.runner import Execution, Runner
from kernelmill.tasks.contents import Source, TaskCase, load_cases


def replays_on_processor(task: Row) -> bool:
    """Says whether the row's executions on a processor were all exact or close, and some were made."""
    on = [each for each in task["outcomes"] if each["device"] == "cpu"]
    return bool(on) and all(each["different"] + each["error"] + each["unknown"] == 0 for each in on)


def complete(task: Row, cases: Sequence[TaskCase], runner: Runner) -> tuple[list[TaskCase], Counter[str]]:
    """Gives cases their expected bytes. Returns those that could be completed, and how many could not, by reason."""
    executions = runner.run(str(task["module"]), str(task["name"]), [each.case for each in cases], [list(each.before) for each in cases])
    made: list[TaskCase] = []
    left: Counter[str] = Counter()
    for each, execution in zip(cases, executions):
        after = None if execution.error else _after(each, execution, replays_on_processor(task))
        if after is None:
            left["outputs_missing"] += 1
        else:
            made.append(replace(each, after=after))
    return made, left


def _after(each: TaskCase, execution: Execution, close: bool) -> dict[int, bytes] | None:
    after = {place: execution.after[place].tobytes() for place in each.case.outputs}
    same = all(hashlib.sha256(after[place]).hexdigest() == digest for place, digest in each.case.outputs.items())
    return after if (same or close) and not execution.out_of_bounds else None


def cases_of(task: Any, evidence: str | os.PathLike[str] | None) -> list[TaskCase]:
    """Returns the cases of a task, a row of tasks.jsonl or a record of it, that can be given all bytes; those of its text first."""
    row: Mapping[str, Any] = asdict(task) if is_dataclass(task) and not isinstance(task, type) else task
    folders = [pathlib.Path(evidence).with_suffix("")] if evidence is not None else []
    whole, half, _ = load_cases(dict(row), Source(folders))
    if half:
        with Runner("cpu") as runner:
            whole += complete(dict(row), half, runner)[0]
    order = {each["id"]: place for place, each in enumerate((*row["cases"], *row["hidden_cases"]))}
    return sorted(whole, key=lambda each: order[each.id])
