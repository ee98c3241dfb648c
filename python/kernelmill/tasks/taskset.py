"""The taskset for verifiers 0.2 and newer (verifiers.v1). An exported package subclasses both classes with its own folder."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import ClassVar

import verifiers.v1 as vf  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.tasks import environment
from kernelmill.tasks.grade import Grade, Grader


class KernelData(vf.TaskData):  # type: ignore[misc, unused-ignore]
    """The part of a task that travels. The cases stay in the folder."""

    split: str = ""


class KernelConfig(vf.TaskConfig):  # type: ignore[misc, unused-ignore]
    """How answers are graded: the device (cpu, cuda:90), graders at a time, and the bound of a case."""

    device: str = "cpu"
    workers: int = 1
    case_seconds: int = 20


class KernelTasksetConfig(vf.TasksetConfig):  # type: ignore[misc, unused-ignore]
    """Which tasks load."""

    split: str = "train"
    verified: bool = True
    task: KernelConfig = KernelConfig()


class KernelTask(vf.Task[KernelData, vf.State, KernelConfig]):  # type: ignore[misc, unused-ignore]
    """A task. The reward is 1 for an honest answer that is right on all cases."""

    FOLDER: ClassVar[pathlib.Path]

    @classmethod
    def grader(cls, config: KernelConfig) -> Grader:
        return environment.grader(cls.FOLDER, environment.settings_of(config.device, config.workers, config.case_seconds))

    @property
    def key(self) -> str:
        return str(self.data.id)

    async def _grade(self, trace: vf.Trace) -> Grade:
        """Grades the last reply once: rewards and metrics ask for it."""
        reply = trace.last_reply or ""
        kept: tuple[str, Grade] | None = getattr(self, "_kept", None)
        if kept is None or kept[0] != reply:
            kept = (reply, await environment.grade(self.grader(self.config), str(self.data.id), reply))
            self._kept = kept
        return kept[1]

    @vf.reward(weight=1.0)  # type: ignore[misc, untyped-decorator, unused-ignore]
    async def correct(self, trace: vf.Trace) -> float:
        return (await self._grade(trace)).reward

    @vf.metric  # type: ignore[misc, untyped-decorator, unused-ignore]
    async def honest(self, trace: vf.Trace) -> float:
        return float((await self._grade(trace)).honest)

    @vf.metric  # type: ignore[misc, untyped-decorator, unused-ignore]
    async def cases_met(self, trace: vf.Trace) -> float:
        return (await self._grade(trace)).share

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Says whether the dataset's own kernel gets the reward."""
        shared = self.grader(self.config)
        answer = f"```python\n{shared.rows[str(self.data.id)]['module']}\n```"
        return bool((await environment.grade(shared, str(self.data.id), answer)).reward == 1.0)


class KernelTaskset(vf.Taskset[KernelTask, KernelTasksetConfig]):  # type: ignore[misc, unused-ignore]
    """The tasks of an exported folder."""

    TASK: ClassVar[type[KernelTask]] = KernelTask

    def load(self) -> Iterator[KernelTask]:
        shared = self.TASK.grader(self.config.task)
        for row in environment.rows_of(shared, (self.config.split,), self.config.verified):
            yield self.TASK(KernelData(id=row["id"], name=row["qualname"], prompt=row["text"], system_prompt=environment.SYSTEM,
                                       split=row["split"]), self.config.task)
