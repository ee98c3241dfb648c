"""Runs answers of models on the cases of tasks.jsonl: `kernelmill evaluate --run`.

A case gives an answer its inputs, and what the task's own module makes of them on this machine is what the answer must make of them.
The bytes of recorded outputs judge both, where the evidence file is here. A task's case on which its own module fails, or differs from
the record, judges no answer. Everything runs and is judged as replay.py does it.

The kernel of an answer runs on the cases. So does the answer's own call, if it has one: ModelNew, or the host function that launches its
kernel. Its results must be right, and must come from launches of its own kernels (own_launches.py)."""

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
from kernelmill.execution.answer_match import MODEL, Host, Match, find_host, match_answer
from kernelmill.execution.case import Case, Row
from kernelmill.execution.evidence import Evidence
from kernelmill.execution.judge import Verdict
from kernelmill.execution.replay import ACCEPTED, inputs_of
from kernelmill.execution.runner import Bounds, Execution, Runner, check_device
from kernelmill.tasks.contents import TaskCase
from kernelmill.tasks.model_calls import ModelCalls, case_of_prompt

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
    """A row of tasks.jsonl with the launcher and the tests that references.jsonl has for it."""

    row: Row
    launcher: Host | None = None
    tests: tuple[Row, ...] = ()

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
    """A case that judges answers. `written`: the bytes of the storages that a kernel changes. `times`: the microseconds of the task's own
    module."""

    case: Case
    before: list[bytes]
    written: dict[int, bytes]
    times: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Served:
    """A case on which the own call of an answer is judged. `asked`: the storages that it must write; `how`: what Device.call() takes
    for it, except the arguments of a host function."""

    usable: Usable
    asked: set[int]
    how: Row


def read_tasks(path: str, answers: list[Row]) -> dict[int, Task]:
    """Returns the task of each answer that has one, by the answer's place: the row whose `id` is the answer's task, whose `text` is its
    prompt, or with the case that the problem in its prompt names. DatasetError: the file is missing or damaged."""
    file = pathlib.Path(path)
    file = file / FILE if file.is_dir() else file
    by_id: dict[str, list[int]] = {}
    by_text: dict[str, list[int]] = {}
    by_case: dict[str, list[int]] = {}
    for place, answer in enumerate(answers):
        by_id.setdefault(answer["task_id"], []).append(place)
        by_text.setdefault(answer["prompt"].strip(), []).append(place)
        by_case.setdefault(case_of_prompt(answer["prompt"]), []).append(place)
    tasks: dict[int, Task] = {}
    for row in _rows(file):
        found = [*by_id.get(row["id"], []), *by_text.get(row["text"].strip(), [])]
        found += [place for key in ("cases", "hidden_cases") for each in row[key] for place in by_case.get(each.get("id"), [])]
        tasks.update((place, Task(row)) for place in found if place not in tasks)
    wanted = {str(task.row["id"]) for task in tasks.values()}
    tests: dict[str, list[Row]] = {}
    for row in _rows(file.with_name(REFERENCES), "kernel_id") if file.with_name(REFERENCES).exists() else ():
        if row["kernel_id"] in wanted:
            tests.setdefault(row["kernel_id"], []).append(row)
    return {place: Task(task.row, _launcher(tests.get(task.row["id"], [])), tuple(tests.get(task.row["id"], ())))
            for place, task in tasks.items()}


def _launcher(tests: list[Row]) -> Host | None:
    """Returns the launcher of a task."""
    for each in tests:
        launcher = each.get("launcher")
        if launcher and launcher["self_contained"] and launcher["qualname"]:
            host = find_host(launcher["module"], launcher["qualname"])
            if host is not None:
                return host
    return None


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
        self._models: dict[str, list[Served] | str] = {}  # by the problem's case
        self._served: list[Served] | None = None          # None until the task's launcher has run
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

    # ------------------------------------------------------------ answers

    def examine(self, answer: Row) -> Row:
        """Returns the row of an answer."""
        code = answer["code"]
        cases = Counter({"total": len(self._usable) + sum(self._unusable.values())})
        if not self._usable:
            why = self._unusable.most_common(1)
            return _row(UNKNOWN, "", cases, why[0][0] if why else "the task has no case")
        problem = case_of_prompt(answer["prompt"])
        match = match_answer(code, self._task.kernel, self._usable[0].case, self._task.launcher)
        if problem and not match.model and not match.broken:
            match = Match(broken="it has no ModelNew, which its problem asks for")
        if match.broken:
            return _row(ERROR, "", cases, match.broken)
        verdicts: dict[str, Verdict] = {}
        speed, by = None, []
        if match.kernel:
            launched = self._runners.launch(code, match.kernel, [(each.case, each.before) for each in self._usable], stop=True)
            verdicts = {each.case.id: _judge(each, execution, set(each.written)) for each, execution in zip(self._usable, launched)}
            speed, by = _speed(self._usable, launched), ["kernel"]
            if problem and not all(map(_is_right, verdicts.values())):  # a problem asks for no kernel of this name
                verdicts, speed, by = {}, None, []
        if match.model or match.host:
            called = self._own_call(code, match, problem) if all(map(_is_right, verdicts.values())) else {}
            if isinstance(called, str) and (match.model or not match.kernel):
                return _row(UNKNOWN, " and ".join(by), cases, called)
            if called and not isinstance(called, str):
                verdicts |= {case: found for case, found in called.items() if case not in verdicts or _is_worse(found, verdicts[case])}
                by.append("model" if match.model else "launcher")
        elif not match.kernel:
            return _row(UNKNOWN, "", cases, f"it does not match the task: {match.why}")
        return self._sum_up(" and ".join(by), cases, list(verdicts.values()), speed)

    # ------------------------------------------------------------ the own call of an answer

    def _own_call(self, code: str, match: Match, problem: str) -> dict[str, Verdict] | str:
        """Returns the verdicts of an answer's own call by case, or the reason why it cannot be called."""
        runner = self._runners.hosts()
        if runner is None:
            return f"its own call cannot be run: {self._runners.no_hosts}"
        served = self._serve_model(problem) if match.model else self._serve_host()
        if isinstance(served, str):
            return served
        own = {"function": MODEL} if match.host is None else {"function": match.host.name}
        verdicts: dict[str, Verdict] = {}
        for each in served:
            arguments = match.host.arguments(each.usable.case) if match.host else {}
            if isinstance(arguments, str):
                verdicts[each.usable.case.id] = Verdict("unknown", "its parameters do not match the case")
                continue
            host = {**own, **each.how, **({"arguments": arguments} if match.host else {})}
            execution, *again = self._call(code, host, each.usable, [False, True] if each is served[0] else [False])
            verdict = _judge(each.usable, execution, each.asked)
            verdicts[each.usable.case.id] = verdict
            if execution.stage == "death":
                break
            if _is_right(verdict) and each is served[0]:
                fresh = self._call(code, host, each.usable, [True])
                verdicts[each.usable.case.id] = _check_origin(each, fresh, again) or verdict
        return verdicts

    def _call(self, module: str, host: Row, usable: Usable, inverts: list[bool]) -> list[Execution]:
        """Calls a host function or a model in a new process, once for each of `inverts`: whether what its kernels change is inverted."""
        runner = self._runners.hosts()
        assert runner is not None
        return runner.run_modules([module], self._task.kernel, [(0, usable.case, usable.before)] * len(inverts),
                                  host={"inverts": inverts, **host}, stop=True)

    def _serve_model(self, problem: str) -> list[Served] | str:
        """Returns the case of the task's problem in KernelBench's form. `problem`: the case that the answer's problem names."""
        if problem not in self._models:
            given = [TaskCase(each.case, False, tuple(each.before), each.written) for each in self._usable]
            found = self._runners.models().find(self._task.row, self._task.tests, given, problem)
            self._models[problem] = found if isinstance(found, str) else [
                Served(each, _storages(each.case, [result["name"] for result in found[1]["results"]]), found[1])
                for each in self._usable if each.case.id == found[0]]
        served = self._models[problem]
        return f"ModelNew cannot be called: the task has no problem in KernelBench's form: {served}" if isinstance(served, str) else served

    def _serve_host(self) -> list[Served] | str:
        """Returns the cases that the task's launcher serves, with what it returns of each: that much is asked of a host function."""
        if self._served is None:
            self._served, why = [], ""
            for each in self._usable if self._task.launcher else ():
                assert self._task.launcher is not None
                arguments = self._task.launcher.arguments(each.case)
                if isinstance(arguments, str):
                    continue
                host = {"function": self._task.launcher.name, "arguments": arguments, "shapes": {}}
                [execution] = self._call(self._task.launcher.module, host, each, [False])
                if execution.error:
                    why = f": {execution.stage}: {execution.error}"
                    continue
                asked = {place for place, wanted in each.written.items() if wanted != each.before[place] and _is_right(
                    judge.compare(execution.after[place], wanted, each.case.dtype_of(place),
                                  each.case.row["tolerance"].get(each.case.dtype_of(place))))}
                if asked:
                    self._served.append(Served(each, asked, {"shapes": execution.shapes}))
            self._no_launcher = f"it does not match the task's kernel, and the task's own launcher does not serve its cases{why}"
        return self._served or self._no_launcher

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
        # Results that the task does not ask for are wrong ones.
        outcome = {"bounds": "unknown", "match": "different"}.get(execution.stage, "error")
        return Verdict(outcome, f"{execution.stage}: {execution.error}")
    after = [numpy.frombuffer(usable.before[place], numpy.uint8) if place in usable.written and place not in asked else each
             for place, each in enumerate(execution.after)]
    expected = {place: wanted for place, wanted in usable.written.items() if place in asked}
    return judge.judge(usable.case, usable.before, after, execution.out_of_bounds, expected)


def _check_origin(served: Served, fresh: list[Execution], again: list[Execution]) -> Verdict | None:
    """Judges calls in which what the answer's kernels change was inverted. A result that is still right was not made by them. An error says
    nothing against the answer: another part of it may need what was inverted. `fresh`: the first call of a process, as that of the verdict
    was. `again`: the second one of a process, whose kernels may write the same to where it already is; then it says nothing either."""
    telling = [*fresh, *(each for each in again if each.inverted == each.launched)]
    for each in telling:
        if not each.error and _is_right(_judge(served.usable, each, served.asked)):
            return Verdict("different", "its result does not come from its kernels" if each.launched else
                           "its own call launches none of its kernels")
    return None


def _is_right(verdict: Verdict) -> bool:
    return verdict.outcome in ACCEPTED


def _is_worse(verdict: Verdict, other: Verdict) -> bool:
    if verdict.outcome == "unknown":
        return False
    return (judge.OUTCOMES.index(verdict.outcome), verdict.relative) > (judge.OUTCOMES.index(other.outcome), other.relative)


def _storages(case: Case, names: list[str]) -> set[int]:
    """Returns the storages of tensors of a case."""
    return {int(each["tensor"]["storage"]) for each in case.row["arguments"] if each["name"] in names}


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
    """The runners of a worker: one for kernels, and, where torch is, one for host functions and one that finds how models are called."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._kernels: Runner | None = None
        self._hosts: Runner | None = None
        self._models: ModelCalls | None = None
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
                self.no_hosts = str(error)
        return self._hosts

    def models(self) -> ModelCalls:
        """Call it where hosts() has torch."""
        self._models = self._models or ModelCalls(self._settings.python, self._settings.confined)
        return self._models

    def close(self) -> None:
        for each in (self._kernels, self._hosts, self._models):
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
        keys = {place: _key_of(task, answers[place], settings, toolchain) for place in places}
        examiner = None
        for place in places:
            row = kept.find(keys[place])
            if row is None:
                examiner = examiner or Examiner(task, runners, evidence)
                row = examiner.examine(answers[place])
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


def _key_of(task: Task, answer: Row, settings: Settings, toolchain: Row) -> str:
    """Returns the hash of all that an answer's row depends on."""
    row = task.row
    cases = [each["evidence"] for name in ("cases", "hidden_cases") for each in row[name]]
    launcher = [task.launcher.module, task.launcher.name] if task.launcher else None
    tests = [[each.get("reference"), each.get("cases")] for each in task.tests]
    given = [row["id"], row["module"], cases, launcher, tests, answer["code"], case_of_prompt(answer["prompt"]), settings.device, toolchain,
             settings.bounds.seconds, bool(settings.evidence)]
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
