"""Runs answers of models on the cases of tasks.jsonl: `kernelmill evaluate --run`.

A case gives an answer its inputs, and what the task's own module makes of them on this machine is what the answer must make of them.
The bytes of recorded outputs judge both, where the evidence file is here. A task's case on which its own module fails, or differs from
the record, judges no answer. Everything runs and is judged as replay.py does it."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import queue
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.errors import DatasetError, Error
from kernelmill.execution import confinement, judge, timing
from kernelmill.execution.answer_match import Host, find_host, match_answer
from kernelmill.execution.case import Case, Row
from kernelmill.execution.evidence import Evidence
from kernelmill.execution.judge import Verdict
from kernelmill.execution.replay import ACCEPTED, inputs_of
from kernelmill.execution.runner import Bounds, Execution, Runner, check_device

FILE, REFERENCES = "tasks.jsonl", "references.jsonl"
CORRECT, WRONG, ERROR, UNKNOWN = "correct", "wrong", "error", "unknown"
MESSAGE = 300


@dataclass(frozen=True)
class Settings:
    """How answers are run. `evidence`: a file whose folder has the bytes of tensors; `kept`: a file for finished answers; empty: none."""

    tasks: str
    evidence: str = ""
    device: str = "cpu"
    workers: int = 1
    bounds: Bounds = Bounds()
    confined: bool = True
    python: str = sys.executable
    kept: str = ""


class Kept:
    """Rows of finished answers in a file of JSON lines, by all that they depend on: an examination that is cut off goes on where it
    was. For several threads. Without a file it keeps nothing."""

    def __init__(self, file: str) -> None:
        self._rows: dict[str, Row] = {}
        self._lock = threading.Lock()
        self._lines = open(file, "a+", encoding="utf-8") if file else None  # pylint: disable=consider-using-with
        if self._lines is not None:
            self._lines.seek(0)
            for line in self._lines:
                try:
                    self._rows.update(json.loads(line))
                except (ValueError, TypeError):
                    pass  # the last line of a process that was killed
            self._lines.write("\n")

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, *_: object) -> None:
        if self._lines is not None:
            self._lines.close()

    def find(self, key: str) -> Row | None:
        return self._rows.get(key)

    def add(self, key: str, row: Row) -> None:
        """Keeps a row, unless its outcome is unknown: the next run may know it."""
        if self._lines is not None and row["outcome"] != UNKNOWN:
            with self._lock:
                self._lines.write(json.dumps({key: row}) + "\n")
                self._lines.flush()


@dataclass(frozen=True)
class Task:
    """A row of tasks.jsonl with the launcher that references.jsonl has for it."""

    row: Row
    launcher: Host | None = None

    @property
    def kernel(self) -> str:
        return str(self.row["qualname"])

    def cases(self) -> list[Case]:
        """Returns the cases, shown and hidden. DatasetError: one is damaged."""
        try:
            return [Case(json.loads(each["evidence"])).check() for key in ("cases", "hidden_cases") for each in self.row[key]]
        except (ValueError, KeyError, TypeError) as error:
            raise DatasetError(f"task {self.row['id']}: {error}") from error


@dataclass
class Usable:
    """A case that judges answers. `written`: the bytes of the storages that a kernel changes; `by_host`: those of them that the task's
    launcher returns. `times`: the microseconds of the task's own module."""

    case: Case
    before: list[bytes]
    written: dict[int, bytes]
    by_host: set[int] = field(default_factory=set)
    times: list[float] = field(default_factory=list)


def read_tasks(path: str, answers: list[Row]) -> dict[int, Task]:
    """Returns the task of each answer that has one, by the answer's place: the row whose `id` is the answer's task, or whose `text` is
    its prompt. DatasetError: the file is missing or damaged."""
    file = pathlib.Path(path)
    file = file / FILE if file.is_dir() else file
    by_id: dict[str, list[int]] = {}
    by_text: dict[str, list[int]] = {}
    for place, answer in enumerate(answers):
        by_id.setdefault(answer["task_id"], []).append(place)
        by_text.setdefault(answer["prompt"].strip(), []).append(place)
    tasks: dict[int, Task] = {}
    for row in _rows(file):
        found = [*by_id.get(row["id"], []), *by_text.get(row["text"].strip(), [])]
        tasks.update((place, Task(row)) for place in found if place not in tasks)
    launchers = _launchers(file.with_name(REFERENCES), {str(task.row["id"]) for task in tasks.values()})
    return {place: Task(task.row, launchers.get(str(task.row["id"]))) for place, task in tasks.items()}


def _launchers(file: pathlib.Path, wanted: set[str]) -> dict[str, Host]:
    """Returns the launchers of tasks by their ids."""
    found: dict[str, Host] = {}
    for row in _rows(file, "kernel_id") if file.exists() else ():
        launcher = row.get("launcher")
        if row["kernel_id"] in wanted and launcher and launcher["self_contained"] and launcher["qualname"]:
            host = find_host(launcher["module"], launcher["qualname"])
            if host is not None:
                found.setdefault(row["kernel_id"], host)
    return found


def _rows(file: pathlib.Path, key: str = "id") -> Iterator[Row]:
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    row = json.loads(line)
                    if not isinstance(row[key], str):
                        raise ValueError(f"{key} must be a text")
                    yield row
                except (ValueError, KeyError, TypeError) as error:
                    raise DatasetError(f"{file}:{number}: {type(error).__name__}: {error}") from error
    except OSError as error:
        raise DatasetError(f"{file}: {error.strerror}") from error


class Examiner:
    """Runs the answers to one task, on the runners of a worker."""

    def __init__(self, task: Task, runners: Runners, evidence: Evidence) -> None:
        self._task, self._runners, self._evidence = task, runners, evidence
        self._unusable: Counter[str] = Counter()
        self._launcher = task.launcher  # None once it has run
        self._no_launcher = ""
        self._usable = self._find_usable()

    # ------------------------------------------------------------ the task's own module

    def _find_usable(self) -> list[Usable]:
        """Runs the task's own module on the cases."""
        given: list[tuple[Case, list[bytes]]] = []
        for case in self._task.cases():
            try:
                given.append((case, inputs_of(case, self._evidence)))
            except DatasetError:
                self._unusable["its inputs are not in the dataset: --evidence names the file that has them"] += 1
        executions = self._runners.launch(self._task.row["module"], self._task.kernel, given)
        found = []
        for execution, (case, before) in zip(executions, given):
            written = self._judge_own(execution, case, before)
            if written is not None:
                found.append(Usable(case, before, written, times=execution.times))
        return found

    def _judge_own(self, execution: Execution, case: Case, before: list[bytes]) -> dict[int, bytes] | None:
        """Returns what a kernel must write, or None if the task's own module does not do it here. Without the record's bytes nothing
        says by how much the module differs from it, so that what it makes on this machine counts."""
        if execution.error:
            self._unusable[f"the task's own module fails here: {execution.error}"] += 1
            return None
        written = {place: execution.after[place].tobytes() for place in case.outputs}
        try:
            written = {place: content if hashlib.sha256(content).hexdigest() == case.outputs[place]
                       else self._evidence.get(case.outputs[place]) for place, content in written.items()}
        except DatasetError:
            pass
        verdict = judge.judge(case, before, execution.after, execution.out_of_bounds, written)
        if verdict.outcome not in ACCEPTED:
            self._unusable[f"the task's own module is {verdict.outcome} here"] += 1
            return None
        return written

    def _find_served(self) -> list[Usable]:
        """Returns the cases that the task's launcher serves, with what it returns of each: that much is asked of a host function."""
        launcher, self._launcher = self._launcher, None
        for each, execution in zip(self._usable, self._call(launcher, self._usable) if launcher else ()):
            if execution is None or execution.error:
                self._no_launcher = f": {execution.stage}: {execution.error}" if execution else ""
                continue
            for place, wanted in each.written.items():
                part = judge.compare(execution.after[place], wanted, each.case.dtype_of(place),
                                     each.case.row["tolerance"].get(each.case.dtype_of(place)))
                if part.outcome in ACCEPTED and wanted != each.before[place]:
                    each.by_host.add(place)
        return [each for each in self._usable if each.by_host]

    def _call(self, host: Host, usable: list[Usable]) -> list[Execution | None]:
        """Calls a host function on cases. None: it cannot be called with the case."""
        runner = self._runners.hosts()
        found: list[Execution | None] = []
        for each in usable:
            arguments = host.arguments(each.case)
            if isinstance(arguments, str) or runner is None:
                found.append(None)
            else:
                found += runner.run_modules([host.module], self._task.kernel, [(0, each.case, each.before)],
                                            host={"function": host.name, "arguments": arguments})
        return found

    # ------------------------------------------------------------ answers

    def examine(self, code: str) -> Row:
        """Returns the row of an answer."""
        cases = Counter({"total": len(self._usable) + sum(self._unusable.values())})
        if not self._usable:
            why = self._unusable.most_common(1)
            return _row(UNKNOWN, "", cases, why[0][0] if why else "the task has no case")
        match = match_answer(code, self._task.kernel, self._usable[0].case, self._task.launcher)
        if match.kernel:
            launched = self._runners.launch(code, match.kernel, [(each.case, each.before) for each in self._usable], stop=True)
            verdicts = [_judge(each, execution, set(each.written)) for each, execution in zip(self._usable, launched)]
            return self._sum_up("kernel", cases, verdicts, _speed(self._usable, launched))
        if match.broken:
            return _row(ERROR, "", cases, match.broken)
        if match.host is None:
            return _row(UNKNOWN, "", cases, f"it does not match the task: {match.why}")
        if self._runners.hosts() is None:
            return _row(UNKNOWN, "", cases, f"it does not match the task's kernel, and {self._runners.no_hosts}")
        usable = self._find_served()
        if not usable:
            return _row(UNKNOWN, "", cases, "it does not match the task's kernel, and the task's own launcher does not serve its cases" +
                        self._no_launcher)
        executions = self._call(match.host, usable)
        verdicts = [_judge(each, execution, each.by_host) for each, execution in zip(usable, executions)]
        return self._sum_up("launcher", cases, verdicts, None)

    def _sum_up(self, by: str, cases: Counter[str], verdicts: list[Verdict], speed: Row | None) -> Row:
        cases.update(verdict.outcome for verdict in verdicts)
        outcomes = {verdict.outcome for verdict in verdicts}
        outcome = (WRONG if "different" in outcomes else ERROR if "error" in outcomes else
                   CORRECT if outcomes & set(ACCEPTED) else UNKNOWN)
        bad = {WRONG: ("different",), ERROR: ("error",), UNKNOWN: ("unknown",)}.get(outcome, ())
        message = next((verdict.message for verdict in verdicts if verdict.outcome in bad), "")
        row = _row(outcome, by, cases, message)
        row["absolute"] = max((verdict.absolute for verdict in verdicts), default=0.0)
        row["relative"] = max((verdict.relative for verdict in verdicts), default=0.0)
        row["share"] = max((verdict.share for verdict in verdicts), default=0.0)
        row["out_of_bounds"] = max((verdict.out_of_bounds for verdict in verdicts), default=0)
        row["speed"] = speed if outcome == CORRECT else None
        return row


def _judge(usable: Usable, execution: Execution | None, asked: set[int]) -> Verdict:
    """Judges what an answer made of a case. `asked`: the storages that it must write."""
    if execution is None:
        return Verdict("unknown", "its parameters do not match the case")
    if execution.error:
        # The task's own launcher returns what matches.
        outcome = {"bounds": "unknown", "match": "different"}.get(execution.stage, "error")
        return Verdict(outcome, f"{execution.stage}: {execution.error}")
    after = [numpy.frombuffer(usable.before[place], numpy.uint8) if place in usable.written and place not in asked else each
             for place, each in enumerate(execution.after)]
    expected = {place: wanted for place, wanted in usable.written.items() if place in asked}
    return judge.judge(usable.case, usable.before, after, execution.out_of_bounds, expected)


def _row(outcome: str, by: str, cases: Counter[str], message: str) -> Row:
    return {"outcome": outcome, "by": by, "cases": {key: cases[key] for key in ("total", *judge.OUTCOMES)}, "message": message[:MESSAGE],
            "absolute": 0.0, "relative": 0.0, "share": 0.0, "out_of_bounds": 0, "speed": None}


def _speed(usable: list[Usable], executions: list[Execution]) -> Row | None:
    """Returns the times of the largest case that was timed on both sides, in microseconds; None without one."""
    timed = [(each, execution.times) for each, execution in zip(usable, executions) if each.times and execution.times]
    if not timed:
        return None
    each, times = max(timed, key=lambda pair: (sum(map(len, pair[0].before)), pair[0].case.id))
    median, spread = timing.median, timing.spread
    return {"case": each.case.id, "median_us": median(times), "spread_us": spread(times), "reference_us": median(each.times),
            "reference_spread_us": spread(each.times), "speedup": round(median(each.times) / median(times), 4)}


class Runners:
    """The runners of a worker: one for kernels, and, where torch is, one for host functions."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._kernels: Runner | None = None
        self._hosts: Runner | None = None
        self.no_hosts = ""

    def _start(self, torch: bool) -> Runner:
        settings = self._settings
        return Runner(settings.device, settings.bounds, settings.confined, settings.python, torch=torch)

    def launch(self, module: str, kernel: str, cases: list[tuple[Case, list[bytes]]], stop: bool = False) -> list[Execution]:
        """Launches a kernel of a module on cases, and times it on a GPU. `stop`: as of Runner.run_modules()."""
        return self.kernels().run_modules([module], kernel, [(0, case, before) for case, before in cases],
                                          timed="" if self._settings.device == "cpu" else "too", stop=stop)

    def kernels(self) -> Runner:
        self._kernels = self._kernels or self._start(torch=False)
        return self._kernels

    def hosts(self) -> Runner | None:
        """Returns the runner of host functions, or None without torch."""
        if self._settings.device != "cpu":
            return self.kernels()  # it has torch
        if self._hosts is None and not self.no_hosts:
            try:
                self._hosts = self._start(torch=True)
            except Error as error:
                self.no_hosts = f"its launcher cannot be run: {error}"
        return self._hosts

    def close(self) -> None:
        for each in (self._kernels, self._hosts):
            if each is not None:
                each.close()


def examine(answers: list[Row], settings: Settings, progress: Callable[[int, int], None] = lambda done, answers: None
            ) -> tuple[list[Row | None], Row]:
    """Returns a row for each answer, None without a task, and the toolchain. Answers to one task are run by one worker."""
    check_device(settings.device)
    evidence = Evidence(settings.evidence or os.devnull)
    if settings.evidence and settings.confined:
        confinement.check_hidden(str(evidence.file), settings.device != "cpu")
    tasks = read_tasks(settings.tasks, answers)
    if not tasks:
        raise DatasetError(f"{settings.tasks}: no answer is for one of its tasks: an answer's task_id must be a task's id, or its "
                           "prompt a task's text")
    waiting: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
    for places in _by_task(tasks):
        waiting.put(places)
    rows: list[Row | None] = [None] * len(answers)
    toolchain: Row = {}
    failed: list[Error] = []
    done = Counter[str]()
    kept = Kept(settings.kept)

    def examine_task(places: list[int], runners: Runners) -> None:
        """Examines the answers to one task that no earlier process has finished."""
        task = tasks[places[0]]
        toolchain.update(runners.kernels().toolchain)
        keys = {place: _key_of(task, str(answers[place]["code"]), settings, toolchain) for place in places}
        examiner = None
        for place in places:
            row = kept.find(keys[place])
            if row is None:
                examiner = examiner or Examiner(task, runners, evidence)
                row = examiner.examine(answers[place]["code"])
                kept.add(keys[place], row)
            rows[place] = row
            done["answers"] += 1
            progress(done["answers"], len(tasks))

    def work() -> None:
        runners = Runners(settings)
        try:
            while not failed:
                try:
                    places = waiting.get_nowait()
                except queue.Empty:
                    return
                examine_task(places, runners)
        except Error as error:
            failed.append(error)
        finally:
            runners.close()

    with kept:
        threads = [threading.Thread(target=work) for _ in range(max(1, settings.workers))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if failed:
        raise failed[0]
    return rows, toolchain


def _key_of(task: Task, code: str, settings: Settings, toolchain: Row) -> str:
    """Returns the hash of all that an answer's row depends on."""
    row = task.row
    cases = [each["evidence"] for name in ("cases", "hidden_cases") for each in row[name]]
    launcher = [task.launcher.module, task.launcher.name] if task.launcher else None
    given = [row["id"], row["module"], cases, launcher, code, settings.device, toolchain, settings.bounds.seconds, bool(settings.evidence)]
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()


def _by_task(tasks: dict[int, Task]) -> list[list[int]]:
    """Returns the places of the answers to each task."""
    places: dict[str, list[int]] = {}
    for place in sorted(tasks):
        places.setdefault(str(tasks[place].row["id"]), []).append(place)
    return list(places.values())


def command(options: str) -> int:
    """Runs the answers of a file, and writes another one. The program calls it with a JSON object: `answers` and `out` are files, and
    the other fields are settings. `answers` has a line for each answer: {"task_id", "prompt", "code"}. `out` gets the toolchain, and
    then a line for each answer; or {"error"}."""
    given: dict[str, Any] = json.loads(options)
    out = pathlib.Path(given["out"])
    settings = Settings(tasks=given["tasks"], evidence=given["evidence"], device=given["device"], workers=given["workers"],
                        bounds=Bounds(seconds=given["case_seconds"]), confined=not given["unsafe_no_sandbox"], kept=given.get("kept", ""))
    try:
        with open(given["answers"], encoding="utf-8") as lines:
            answers = [json.loads(line) for line in lines]
        rows, toolchain = examine(answers, settings, _show if sys.stderr.isatty() else lambda done, answers: None)
    except Error as error:
        out.write_text(json.dumps({"error": str(error)}) + "\n", encoding="utf-8")
        return 2
    out.write_text("".join(json.dumps(row) + "\n" for row in ({"toolchain": toolchain}, *rows)), encoding="utf-8")
    return 0


def _show(done: int, answers: int) -> None:
    print(f"\rrun: {done} of {answers} answers", end="\n" if done == answers else "", file=sys.stderr, flush=True)
