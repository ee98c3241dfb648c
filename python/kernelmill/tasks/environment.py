"""The parts of the exported package for verifiers. A package names its folder and imports this; docs/howto/tasks.md shows the use.

verifiers 0.4 knows tasksets (verifiers.v1); versions before 0.2 know `load_environment`, and those between know both."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
from typing import Any

from kernelmill.errors import RequestError
from kernelmill.execution.case import Row
from kernelmill.tasks.grade import Grade, Grader, Settings

SYSTEM = ("Write the Triton kernel that is asked for: one Python module in one fenced block, with all imports and helpers. The kernel is "
          "launched by its name, with the grid and the arguments that the task shows; host code is not run.")
_graders: dict[tuple[str, Settings], Grader] = {}


def grader(data: pathlib.Path, settings: Settings) -> Grader:
    """Returns the grader of a folder, which all tasks of this process share."""
    key = (str(data), settings)
    if key not in _graders:
        _graders[key] = Grader(data, settings)
    return _graders[key]


def settings_of(device: str, workers: int, case_seconds: int) -> Settings:
    return Settings(device=device, workers=workers, case_seconds=case_seconds, confined=os.environ.get("KERNELMILL_SANDBOX") != "off")


def rows_of(shared: Grader, splits: tuple[str, ...], verified: bool) -> list[Row]:
    """Returns the tasks of some splits. RequestError: they have none."""
    rows = [row for row in shared.rows.values() if row["split"] in splits and (row["verified"] or not verified)]
    if not rows:
        hint = "; verified=False takes those too that are not" if verified else ""
        raise RequestError(f"no {'verified ' if verified else ''}task is in {' or '.join(splits)}{hint}")
    return rows


async def grade(shared: Grader, task: str, answer: str) -> Grade:
    return await asyncio.wrap_future(shared.submit(task, answer))


def load_environment(data: pathlib.Path, split: str, verified: bool, device: str, workers: int, case_seconds: int) -> Any:
    """Returns the environment for a verifiers that has SingleTurnEnv."""
    import datasets  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import verifiers  # type: ignore[import-not-found, import-untyped, unused-ignore]

    shared = grader(data, settings_of(device, workers, case_seconds))

    def table(rows: list[Row]) -> Any:
        return datasets.Dataset.from_list([{"question": row["text"], "answer": row["module"], "info": json.dumps({"id": row["id"]})}
                                           for row in rows])

    async def correct(completion: Any, info: Any, state: Any) -> float:
        info = json.loads(info) if isinstance(info, str) else info
        answer = completion if isinstance(completion, str) else completion[-1]["content"]
        state["grade"] = await grade(shared, info["id"], answer or "")
        return float(state["grade"].reward)

    async def honest(state: Any) -> float:
        return float(state["grade"].honest)

    async def cases_met(state: Any) -> float:
        return float(state["grade"].share)

    rubric = verifiers.Rubric(funcs=[correct, honest, cases_met], weights=[1.0, 0.0, 0.0])
    rest = tuple(each for each in ("validation", "test") if each != split)
    held = [row for row in shared.rows.values() if row["split"] in rest and (row["verified"] or not verified)]
    return verifiers.SingleTurnEnv(dataset=table(rows_of(shared, (split,), verified)), eval_dataset=table(held) if held else None,
                                   system_prompt=SYSTEM, rubric=rubric)
