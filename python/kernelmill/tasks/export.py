"""Exports the tasks of a dataset in the forms of other programs, self-contained: nothing else of kernelmill's evidence is needed.

Each task, and each of its cases, is either in the folder or counted by the reason why it is not."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kernelmill.errors import DatasetError, ProgramError, RequestError
from kernelmill.execution import confinement
from kernelmill.execution.case import Row
from kernelmill.execution.runner import Bounds, Runner
from kernelmill.tasks import contents, expected, flashinfer, kernelbench
from kernelmill.tasks.bound import read_candidates
from kernelmill.tasks.contents import TaskCase
from kernelmill.tasks.grade import TENSORS
from kernelmill.tasks.interface import Interface
from kernelmill.tasks.references import Process, Unbound, bind, candidates_of, is_backward

FORMATS = ("flashinfer-trace", "verifiers", "kernelbench")
PROVENANCE = "PROVENANCE.md"


@dataclass(frozen=True)
class Settings:
    """`evidence`: an evidence file, whose folder has tensors. `verified`: export verified tasks only."""

    format: str
    out: pathlib.Path
    evidence: str = ""
    verified: bool = False
    bytes: int = 64 << 20
    python: str = sys.executable
    confined: bool = True


@dataclass
class Summary:
    """The counts of an export. `tasks_left`, `cases_left`: those that are not in the folder, by reason."""

    tasks: int = 0
    exported: int = 0
    cases: int = 0
    files: Counter[str] = field(default_factory=Counter)
    bound: int = 0
    unbound: Counter[str] = field(default_factory=Counter)
    tasks_left: Counter[str] = field(default_factory=Counter)
    cases_left: Counter[str] = field(default_factory=Counter)


class _Tasks:
    """The tasks of a dataset with the bytes of their cases, and what is left out."""

    def __init__(self, dataset: pathlib.Path, settings: Settings, summary: Summary) -> None:
        folders = [pathlib.Path(settings.evidence).with_suffix("")] if settings.evidence else []
        self._dataset, self._settings, self._summary = dataset, settings, summary
        self._source = contents.Source(folders)
        self._runner: Runner | None = None

    def __enter__(self) -> _Tasks:
        return self

    def __exit__(self, *_: object) -> None:
        if self._runner is not None:
            self._runner.close()

    def __iter__(self) -> Iterator[tuple[Row, list[TaskCase]]]:
        """Iterates over tasks that have a case, the smallest case first."""
        for row in contents.read_rows(self._dataset, contents.TASKS):
            self._summary.tasks += 1
            if self._settings.verified and not row["verified"]:
                self._summary.tasks_left["not_verified"] += 1
                continue
            cases, half, left = contents.load_cases(row, self._source, contents.Bounds(self._settings.bytes))
            self._summary.cases_left.update(left)
            if half:
                made, missing = expected.complete(row, half, self._start())
                cases += made
                self._summary.cases_left.update(missing)
            if cases:
                yield row, sorted(cases, key=lambda each: (contents.case_bytes(each.case), each.id))
            else:
                self._summary.tasks_left["no_case"] += 1

    def _start(self) -> Runner:
        if self._runner is None:
            self._runner = Runner("cpu", Bounds(), self._settings.confined, self._settings.python)
        return self._runner


def export(dataset: pathlib.Path, settings: Settings, progress: Callable[[str], None] = lambda name: None) -> Summary:
    """Exports tasks. RequestError: the folder exists. DatasetError: the dataset has no tasks, or is damaged."""
    if not (dataset / contents.TASKS).is_file():
        raise DatasetError(f"{dataset} has no {contents.TASKS}: tasks come from a job with evidence")
    if settings.out.exists() and any(settings.out.iterdir()):
        raise RequestError(f"{settings.out} is not empty")
    settings.out.mkdir(parents=True, exist_ok=True)
    summary = Summary()
    with _Tasks(dataset, settings, summary) as tasks:
        {"flashinfer-trace": _flashinfer, "verifiers": _verifiers, "kernelbench": _kernelbench}[settings.format](
            dataset, tasks, settings, summary, progress)
    if (dataset / PROVENANCE).is_file():
        shutil.copyfile(dataset / PROVENANCE, settings.out / PROVENANCE)
    return summary


_Progress = Callable[[str], None]


def _process(settings: Settings) -> Process:
    try:
        return Process(settings.python, settings.confined)
    except ProgramError as error:
        raise ProgramError(f"{error}: --python names a Python that has it") from error


def _tags_of(dataset: pathlib.Path) -> dict[str, list[str]]:
    return {str(row["id"]): list(row["tags"]) for row in contents.read_rows(dataset, "kernels.jsonl")}


def _bound(row: Row, tests: list[Row], tags: list[str], cases: list[TaskCase], process: Process, summary: Summary
           ) -> tuple[Interface | None, list[TaskCase], str]:
    """Returns the interface of the reference with the cases on which it holds, or the reason why it has none."""
    try:
        binding, held = bind(candidates_of(row, tests), cases, process, is_backward(row, tags))
    except Unbound as error:
        summary.unbound[str(error)] += 1
        return None, cases, str(error)
    summary.bound += 1
    return Interface.bound(binding), held, ""


def _flashinfer(dataset: pathlib.Path, tasks: _Tasks, settings: Settings, summary: Summary, progress: _Progress) -> None:
    tests, tags, writer = read_candidates(dataset), _tags_of(dataset), flashinfer.Writer(settings.out)
    with _process(settings) as process:
        for row, cases in tasks:
            progress(str(row["qualname"]))
            own = tags.get(str(row["id"]), [])
            interface, held, _ = _bound(row, tests.get(str(row["id"]), []), own, cases, process, summary)
            summary.cases_left["reference_differs"] += len(cases) - len(held)
            if writer.add(row, own, interface, held):
                summary.exported += 1
            else:
                summary.tasks_left["no_case"] += 1
    summary.cases = writer.counts["workloads"]
    summary.cases_left.update(writer.left)
    summary.files = writer.counts


def _kernelbench(dataset: pathlib.Path, tasks: _Tasks, settings: Settings, summary: Summary, progress: _Progress) -> None:
    tests, tags, writer = read_candidates(dataset), _tags_of(dataset), kernelbench.Writer(settings.out)
    with _process(settings) as process:
        for row, cases in tasks:
            progress(str(row["qualname"]))
            interface, held, reason = _bound(row, tests.get(str(row["id"]), []), tags.get(str(row["id"]), []), cases, process, summary)
            if interface is not None:
                reason = writer.add(row, interface, held)
            if reason:
                summary.tasks_left[reason] += 1
            else:
                summary.exported += 1
                summary.cases += 1
    summary.cases_left.update(writer.left)
    summary.files = writer.counts


PACKAGE = '''"""Tasks of {name} ({digest}) as an environment for verifiers. Made by kernelmill export-tasks."""

import pathlib

from kernelmill.tasks import environment

# Install this package as editable: kernels that run may read what is in site-packages.
FOLDER = pathlib.Path(__file__).resolve().parent / "data"
__all__ = ["load_environment"]


def load_environment(split="train", verified=True, device="cpu", workers=1, case_seconds=20):
    """The environment for a verifiers that has SingleTurnEnv."""
    return environment.load_environment(FOLDER, split, verified, device, workers, case_seconds)


try:
    from verifiers.v1 import TaskData
except ImportError:
    pass
else:
    from kernelmill.tasks.taskset import KernelTask, KernelTaskset

    class Task(KernelTask):
        FOLDER = FOLDER

    class Tasks(KernelTaskset):
        TASK = Task

    __all__.append("Tasks")
'''
PROJECT = '''[build-system]
requires = ["setuptools>=64"]
build-backend = "setuptools.build_meta"

[project]
name = "kernelmill-tasks"
version = "0.1.0"
description = "Tasks of {name}: Triton kernels, graded by recorded cases"
requires-python = ">=3.11"
dependencies = ["verifiers", "kernelmill[run]"]

[tool.setuptools]
packages = ["kernelmill_tasks"]
'''


def _verifiers(dataset: pathlib.Path, tasks: _Tasks, settings: Settings, summary: Summary, progress: _Progress) -> None:
    package = settings.out / "kernelmill_tasks"
    tensors = package / "data" / TENSORS
    tensors.mkdir(parents=True)
    confinement.check_hidden(str(package / "data"), False)
    with open(package / "data" / contents.TASKS, "w", encoding="utf-8") as lines:
        for row, cases in tasks:
            progress(str(row["qualname"]))
            kept = {each.id for each in cases}
            for field_name in ("cases", "hidden_cases"):
                row[field_name] = [each for each in row[field_name] if each["id"] in kept]
            for case in cases:
                _keep_tensors(case, row, tensors)
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
            summary.exported += 1
            summary.cases += len(cases)
    report = json.loads((dataset / "report.json").read_bytes()) if (dataset / "report.json").is_file() else {}
    words = {"name": str(report.get("name", "a dataset")), "digest": str(report.get("dataset", ""))}
    (package / "__init__.py").write_text(PACKAGE.format(**words), encoding="utf-8")
    (settings.out / "pyproject.toml").write_text(PROJECT.format(**words), encoding="utf-8")
    summary.files["tensors"] = len(os.listdir(tensors))


def _keep_tensors(case: TaskCase, row: Row, folder: pathlib.Path) -> None:
    """Writes the bytes that a case names. Outputs that were made once more have another hash, which the case then has."""
    import hashlib

    for storage, data in zip(case.case.storages, case.before):
        if "sha256" in storage:
            (folder / str(storage["sha256"])).write_bytes(data)
    made = {place: hashlib.sha256(data).hexdigest() for place, data in case.after.items()}
    for place, digest in made.items():
        (folder / digest).write_bytes(case.after[place])
    if made != case.case.outputs:
        changed = case.case.with_outputs(made, {"made": {"of": case.id, "change": "outputs"}})
        for each in (*row["cases"], *row["hidden_cases"]):
            if each["id"] == case.id:
                each["id"], each["evidence"] = changed.id, json.dumps(changed.row)
