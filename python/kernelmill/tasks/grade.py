"""Grades answers to tasks: static checks of honesty first, then the kernel on all cases of its task.

An exported folder (`data`) has tasks.jsonl, a row of the dataset each, and tensors/ with all bytes that its cases name. The folder must
lie where modules that run cannot read it, or an answer could look up what is expected. `kernelmill evaluate` makes the static checks;
kernelmill.execution runs the kernel, confined, and judges it where it never ran."""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from kernelmill.errors import DatasetError, ProgramError
from kernelmill.execution import confinement, judge
from kernelmill.execution.case import Row
from kernelmill.execution.runner import Bounds, Execution, Runner
from kernelmill.tasks import contents
from kernelmill.tasks.answers import find_code, why_no_kernel

TENSORS = "tensors"
CHECKS = ("names_bound", "stores_constant", "patches", "interpreter_only")  # the others are about host code, which is not run
ACCEPTED = ("exact", "close")
KEPT_TASKS = 16  # the most whose bytes are kept in memory


@dataclass(frozen=True)
class Grade:
    """The grade of an answer. `reward` is 1 if it is honest and right on all cases, else 0. `stage`: `code`, `static`, `run` or
    `right`. `share`: the cases that it meets."""

    reward: float
    stage: str
    message: str = ""
    share: float = 0.0
    honest: bool = False
    findings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """How answers are graded. `static`: refuse answers that `kernelmill evaluate` calls dishonest."""

    device: str = "cpu"
    workers: int = 1
    case_seconds: int = 20
    static: bool = True
    confined: bool = True
    python: str = sys.executable


def read_tasks(data: pathlib.Path) -> dict[str, Row]:
    """Returns the rows of an exported folder by id. DatasetError: it is damaged."""
    return {str(row["id"]): row for row in contents.read_rows(data, contents.TASKS)}


class Grader:
    """Grades answers, from several threads. Close it at the end. ProgramError: this machine cannot run kernels confined, or modules
    could read `data`."""

    def __init__(self, data: pathlib.Path, settings: Settings = Settings()) -> None:
        if settings.confined:
            confinement.check_hidden(str(data), settings.device != "cpu")
        self.rows = read_tasks(data)
        self._source = contents.Source([data / TENSORS])
        self._settings = settings
        self._kept: OrderedDict[str, list[contents.TaskCase]] = OrderedDict()
        self._lock = threading.Lock()
        # A runner's process ends with the thread that began it, so the threads must live as long as the grader.
        self._pool = ThreadPoolExecutor(settings.workers, "kernelmill-grade")
        self._own = threading.local()
        self._runners: list[Runner] = []

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._pool.shutdown()
        for runner in self._runners:
            runner.close()

    def _execute(self, code: str, kernel: str, cases: list[contents.TaskCase]) -> list[Execution]:
        """Runs cases on this thread's runner. One that broke is replaced, once: a failure of the machine is no wrong answer."""
        for is_last in (False, True):
            runner: Runner | None = getattr(self._own, "runner", None)
            try:
                if runner is None:
                    settings = self._settings
                    runner = Runner(settings.device, Bounds(seconds=settings.case_seconds), settings.confined, settings.python)
                    self._own.runner = runner
                    self._runners.append(runner)
                return runner.run(code, kernel, [each.case for each in cases], [list(each.before) for each in cases], stop=True)
            except (ProgramError, OSError, ValueError) as error:
                if runner is not None:
                    runner.close()
                    self._runners.remove(runner)
                self._own.runner = None
                if is_last:
                    raise ProgramError(f"kernels cannot be run: {error}") from error
        raise AssertionError

    def cases(self, task: str) -> list[contents.TaskCase]:
        """Returns the cases of a task, shown and hidden. KeyError: no such task. DatasetError: the folder lacks some of their bytes."""
        with self._lock:
            if task not in self._kept:
                whole, half, left = contents.load_cases(self.rows[task], self._source, contents.Bounds(sys.maxsize))
                if half or left or not whole:
                    raise DatasetError(f"task {task}: the folder lacks the bytes of {len(half) + sum(left.values())} cases")
                self._kept[task] = whole
            self._kept.move_to_end(task)
            while len(self._kept) > KEPT_TASKS:
                self._kept.popitem(last=False)
            return self._kept[task]

    def submit(self, task: str, answer: str) -> Future[Grade]:
        """Grades an answer on a thread of the grader. Errors as of grade()."""
        return self._pool.submit(self._grade, task, answer)

    def grade(self, task: str, answer: str) -> Grade:
        """Grades an answer to a task. KeyError: no such task. ProgramError: kernels cannot be run."""
        return self.submit(task, answer).result()

    def _grade(self, task: str, answer: str) -> Grade:
        row = self.rows[task]
        code = find_code(answer, str(row["name"]))
        if not code:
            return Grade(0.0, "code", f"no code block defines {row['name']}")
        why = why_no_kernel(code, str(row["name"])) if self._settings.static else ""
        if why:
            return Grade(0.0, "static", why, findings=(f"kernel: {why}",))
        honest, findings = self._check(row, code) if self._settings.static else (True, ())
        if not honest:
            return Grade(0.0, "static", "; ".join(findings), findings=findings)
        outcomes = self._run(row, code)
        met = sum(outcome in ACCEPTED for outcome, _ in outcomes)
        wrong = next((f"{outcome}: {message}" for outcome, message in outcomes if outcome not in ACCEPTED), "")
        right = met == len(outcomes)
        return Grade(float(right), "right" if right else "run", wrong, met / len(outcomes), True, findings)

    def _run(self, row: Row, code: str) -> list[tuple[str, str]]:
        """Returns the outcome of each case, and why. Those behind one that ended the process were not run."""
        cases = self.cases(str(row["id"]))
        executions = self._execute(code, str(row["name"]), cases)
        executions += [Execution(error="an earlier case ended the process", stage="death")] * (len(cases) - len(executions))
        outcomes = []
        for case, execution in zip(cases, executions):
            if execution.error:
                outcomes.append(("error", f"{execution.stage}: {execution.error}"))
                continue
            verdict = judge.judge(case.case, list(case.before), execution.after, execution.out_of_bounds, case.after)
            outcomes.append((verdict.outcome, verdict.message))
        return outcomes

    @staticmethod
    def _check(row: Row, code: str) -> tuple[bool, tuple[str, ...]]:
        """Returns whether `kernelmill evaluate` finds nothing against a kernel that others launch, and what it found."""
        from kernelmill import program  # which needs records.py; an export does not

        with tempfile.TemporaryDirectory(prefix="kernelmill-grade-") as folder:
            file, out = pathlib.Path(folder) / "answer.jsonl", pathlib.Path(folder) / "out"
            file.write_text(json.dumps({"task_id": row["id"], "completion": f"```python\n{code}\n```", "reference": row["module"]}) + "\n")
            program.run(["evaluate", file, "--no-compile", "--out", out], timeout=120)
            sample: dict[str, Any] = json.loads((out / "samples.jsonl").read_text().splitlines()[0])
        found = tuple(f"{each['check']}: {each['reason']}" for each in sample["findings"]
                      if each["check"] in CHECKS and not each["warning"])
        return not found, found

