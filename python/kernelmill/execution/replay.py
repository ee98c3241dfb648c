"""Replays cases on the modules of a dataset, scores cases by mutants, and makes more cases where they are weak."""

from __future__ import annotations

import math
import os
import queue
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest

from kernelmill.errors import DatasetError, Error, ProgramError
from kernelmill.execution import judge, made, recipes
from kernelmill.execution.case import Case, Row, canonical
from kernelmill.execution.evidence import Evidence
from kernelmill.execution.judge import Verdict
from kernelmill.execution.mutants import Mutant, make_mutants
from kernelmill.execution.rows import KernelRow, read_kernels
from kernelmill.execution.runner import Bounds, Execution, Runner, check_device

MUTANT_SECONDS = 20
SAVE_SECONDS = 20
SURVIVORS = 12
TRIES = 4  # changes that are tried for a case that is made
OPTIONS = 8  # the most cases that are made of options that no case varies
CASES_BESIDE, PROGRAMS_BESIDE = 3, 256  # the most of them that a GPU's missed mutants run on the interpreter
ACCEPTED = ("exact", "close")
# Ends of a child that a fault of the mutant explains. Other errors say that it is no program, and nothing of the cases.
FAULTS = re.compile("^death: |illegal memory access|misaligned address|unspecified launch failure|out of bounds")
OUTSIDE = re.compile("out of bounds")  # the interpreter sees these; it is slow, so that time says nothing of a mutant


@dataclass(frozen=True)
class Settings:
    """How kernels are run. `mutants`: the most of a kernel, 0 for none; `threshold`: cases that catch less are added to, up to `made`
    for a kernel. `deadline`: seconds after which nothing new is begun."""

    device: str = "cpu"
    workers: int = 1
    mutants: int = 0
    threshold: float = 0.9
    made: int = 4
    deadline: float = float("inf")
    bounds: Bounds = Bounds()
    confined: bool = True
    python: str = sys.executable
    kernels: tuple[str, ...] = ()


@dataclass
class Summary:
    """The counts of a run. `skipped`: results that were known before."""

    device: str
    toolchain: Row = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    scored: int = 0
    made: int = 0
    left: int = 0
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)


def run(dataset: str | os.PathLike[str], evidence: Evidence, settings: Settings,
        progress: Callable[[int, int], None] = lambda done, kernels: None) -> Summary:
    """Runs what the evidence does not say yet, and adds it. Saves the file from time to time, so that a run that is cut off goes on."""
    check_device(settings.device)
    start, summary = time.monotonic(), Summary(settings.device)
    kernels = {(each.module_sha256, each.name): each for each in read_kernels(dataset)
               if not settings.kernels or each.name in settings.kernels}
    cases: dict[tuple[str, str], list[Case]] = {}
    for case in evidence.cases():
        if (case.module_sha256, case.kernel) in kernels:
            cases.setdefault((case.module_sha256, case.kernel), []).append(case)
    waiting: queue.SimpleQueue[tuple[KernelRow, list[Case]]] = queue.SimpleQueue()
    for place, found in cases.items():
        waiting.put((kernels[place], found))
    shared = _Shared(evidence, summary, threading.Lock(), len(cases), progress, start + settings.deadline)
    threads = [threading.Thread(target=_work, args=(waiting, settings, shared, place)) for place in range(min(settings.workers, len(cases)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    summary.left = waiting.qsize()
    evidence.save()
    summary.seconds = round(time.monotonic() - start, 1)
    if shared.failed is not None:
        raise shared.failed
    return summary


@dataclass
class _Shared:
    """The state that the threads of a run share, under a lock."""

    evidence: Evidence
    summary: Summary
    lock: threading.Lock
    kernels: int
    progress: Callable[[int, int], None]
    deadline: float
    done: int = 0
    saved: float = field(default_factory=time.monotonic)
    failed: Error | None = None

    def is_late(self) -> bool:
        return time.monotonic() >= self.deadline

    def end_kernel(self) -> None:
        with self.lock:
            self.done += 1
            if time.monotonic() - self.saved > SAVE_SECONDS:
                self.evidence.save()
                self.saved = time.monotonic()
            self.progress(self.done, self.kernels)


def _work(waiting: queue.SimpleQueue[tuple[KernelRow, list[Case]]], settings: Settings, shared: _Shared, place: int) -> None:
    runner, interpreter = None, _Interpreter(settings, shared)
    try:
        while shared.failed is None and not shared.is_late():
            try:
                kernel, cases = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                runner = runner or Runner(settings.device, settings.bounds, settings.confined, settings.python, place=place)
                Kernel(kernel, cases, runner, settings, shared, interpreter.get).run()
            except DatasetError as error:
                shared.summary.errors.append(f"{kernel.name}: {error}")
            shared.end_kernel()
    except Error as error:
        shared.failed = error
    finally:
        interpreter.close()
        if runner is not None:
            runner.close()


class _Interpreter:
    """The interpreter beside a GPU, for one thread. It starts when it is asked for, and a machine may lack what it needs."""

    def __init__(self, settings: Settings, shared: _Shared) -> None:
        self._settings, self._shared = settings, shared
        self._runner: Runner | None = None
        self._failed = settings.device == "cpu"

    def get(self) -> Runner | None:
        if self._runner is None and not self._failed:
            try:
                self._runner = Runner("cpu", self._settings.bounds, self._settings.confined, self._settings.python)
            except ProgramError as error:
                self._failed = True
                with self._shared.lock:
                    if str(error) not in self._shared.summary.errors:
                        self._shared.summary.errors.append(str(error))
        return self._runner

    def close(self) -> None:
        if self._runner is not None:
            self._runner.close()


def inputs_of(case: Case, evidence: Evidence) -> list[bytes]:
    """Returns the bytes of a case's storages."""
    contents = []
    for each in case.storages:
        content = recipes.fill(each["recipe"], each["bytes"]) if "recipe" in each else evidence.get(each["sha256"])
        if len(content) != each["bytes"]:
            raise DatasetError(f"case {case.id}: a storage has {len(content)} bytes, not {each['bytes']}")
        contents.append(content)
    return contents


def judge_execution(execution: Execution, case: Case, before: list[bytes], evidence: Evidence) -> Verdict:
    """Judges an execution of a case."""
    if execution.error:
        return Verdict("unknown" if execution.stage == "bounds" else "error", f"{execution.stage}: {execution.error}")
    expected = {place: evidence.get(digest) for place, digest in case.outputs.items()}
    return judge.judge(case, before, execution.after, execution.out_of_bounds, expected)


class Kernel:
    """A kernel of a dataset with its cases, on one runner. `interpreter` gives a second one, or None."""

    def __init__(self, kernel: KernelRow, cases: list[Case], runner: Runner, settings: Settings, shared: _Shared,
                 interpreter: Callable[[], Runner | None] = lambda: None) -> None:
        self._kernel, self._runner, self._settings, self._shared = kernel, runner, settings, shared
        self._interpreter, self._caught_by_interpreter = interpreter, 0
        self._cases = sorted(cases, key=lambda case: (sum(each["bytes"] for each in case.storages), case.id))
        self._head = {"device": settings.device, "toolchain": runner.toolchain}

    def run(self) -> None:
        good = self._replay(self._cases)
        if self._settings.mutants and good and not self._shared.is_late():
            more = self._score(good)
            if self._settings.made and more is not None and len(good) + len(more) == 1:
                self._finish_all(_turns(good, self._kernel.module), 1)  # a task hides one

    def _execute(self, modules: list[str], launches: list[tuple[int, Case]], seconds: int | None = None,
                 runner: Runner | None = None) -> list[tuple[Execution, Verdict]]:
        """Runs launches: the place of a module, and a case."""
        evidence = self._shared.evidence
        inputs = {case.id: inputs_of(case, evidence) for _, case in launches}
        executions = (runner or self._runner).run_modules(modules, str(self._kernel.row["name"]),
                                                          [(place, case, inputs[case.id]) for place, case in launches], seconds)
        return [(execution, judge_execution(execution, case, inputs[case.id], evidence))
                for execution, (_, case) in zip(executions, launches)]

    def _replay(self, cases: list[Case]) -> list[Case]:
        """Runs cases without a result. Returns those that the module meets."""
        rows = [{"type": "result", "case": case.id, "module_sha256": case.module_sha256, "environment": case.row["environment"],
                 **self._head} for case in cases]
        new = [(case, row) for case, row in zip(cases, rows) if not self._shared.evidence.has(row)]
        for (_, verdict), (_, row) in zip(self._execute([self._kernel.module], [(0, case) for case, _ in new]), new):
            with self._shared.lock:
                self._shared.evidence.add({**row, **verdict.row()})
                self._shared.summary.outcomes[verdict.outcome] += 1
                self._shared.summary.toolchain = self._runner.toolchain
        with self._shared.lock:
            self._shared.summary.skipped += len(rows) - len(new)
            found = [self._shared.evidence.find(row) for row in rows]
        return [case for case, row in zip(cases, found) if row is not None and row["outcome"] in ACCEPTED]

    # ------------------------------------------------------------ mutants

    def _score(self, cases: list[Case]) -> list[Case] | None:
        """Scores the cases, and makes more where they catch too little. Returns those that were made, or None if time is over."""
        row: Row = {"type": "adequacy", "module_sha256": self._kernel.module_sha256, "kernel": self._kernel.name, **self._head}
        known = self._shared.evidence.find(row)
        if known is not None:
            return self._vary_scored(cases, known)
        mutants = make_mutants(self._kernel.module, self._kernel.name, self._settings.mutants)
        fates = self._judge(mutants, cases)
        if self._shared.is_late():
            return None
        recorded = _share(fates)
        more = self._vary(cases)
        varied = len(more)
        fates = self._retry(fates, more)
        score = _share(fates)
        if score is not None and score < self._settings.threshold:
            made_cases = self._make(cases)
            fates = self._retry(fates, made_cases)
            more, score = more + made_cases, _share(fates)
        kinds: dict[str, Counter[str]] = {}
        for mutant, fate in fates:
            kinds.setdefault(mutant.kind, Counter(total=0))["total"] += 1
            kinds[mutant.kind][fate] += 1
        missed = [{"kind": mutant.kind, "line": mutant.line, "change": mutant.change} for mutant, fate in fates if fate == "missed"]
        row |= {"cases": sorted(case.id for case in (*cases, *more)), "recorded_score": recorded, "score": score,
                "mutants": {kind: dict(sorted(counts.items())) for kind, counts in sorted(kinds.items())}, "missed": missed[:SURVIVORS]}
        if self._settings.made:
            row["options"] = varied
        if self._caught_by_interpreter:
            row["seen_by_interpreter"] = self._caught_by_interpreter
        with self._shared.lock:
            self._shared.evidence.add(row)
            self._shared.summary.scored += 1
        return more

    def _retry(self, fates: list[tuple[Mutant, str]], cases: list[Case]) -> list[tuple[Mutant, str]]:
        """Returns the fates, those of mutants that were missed by more cases."""
        survivors = [mutant for mutant, fate in fates if fate in ("missed", "equivalent")]
        if not cases or not survivors:
            return fates
        return [each for each in fates if each[1] not in ("missed", "equivalent")] + self._judge(survivors, cases)

    def _judge(self, mutants: list[Mutant], cases: list[Case]) -> list[tuple[Mutant, str]]:
        """Returns the fate of each mutant: caught, missed, stillborn (no program), or equivalent (the same IR on all cases).

        The interpreter tries what a GPU misses: it sees loads from outside of the tensors, which a dropped mask makes."""
        fates = self._try(mutants, cases, self._runner)
        missed = [mutant for mutant, fate in fates if fate == "missed"]
        small = [case for case in cases if math.prod(case.row["grid"]) <= PROGRAMS_BESIDE][:CASES_BESIDE]
        interpreter = self._interpreter() if missed and small else None
        if interpreter is None:
            return fates
        tried = self._execute([self._kernel.module], [(0, case) for case in small], MUTANT_SECONDS, interpreter)
        passing = [case for case, (_, verdict) in zip(small, tried) if verdict.outcome in ACCEPTED]
        seen = {mutant for mutant, fate in self._try(missed, passing, interpreter, OUTSIDE) if fate == "caught"} if passing else set()
        self._caught_by_interpreter += len(seen)
        return [(mutant, "caught" if mutant in seen else fate) for mutant, fate in fates]

    def _try(self, mutants: list[Mutant], cases: list[Case], runner: Runner, faults: re.Pattern[str] = FAULTS) -> list[tuple[Mutant, str]]:
        """Returns the fate of each mutant on one runner, in the order of the mutants. All run the smallest case, those that it misses the
        others. `faults`: the errors that catch a mutant."""
        modules = [self._kernel.module, *(mutant.module for mutant in mutants)]
        found: dict[int, list[tuple[Execution, Verdict]]] = {place: [] for place in range(len(modules))}
        for batch in (cases[:1], cases[1:]):
            launches = [(place, case) for place in found if not place or not _is_caught(found[place], faults) for case in batch]
            for (place, _), result in zip(launches, self._execute(modules, launches, MUTANT_SECONDS, runner)):
                found[place].append(result)
        reference = [execution.ttir for execution, _ in found[0]]
        return [(mutant, _fate(found[place], reference, faults)) for place, mutant in enumerate(mutants, 1)]

    # ------------------------------------------------------------ more cases

    def _vary(self, cases: list[Case]) -> list[Case]:
        """Makes cases of options that have one value in all cases: these do not tell a kernel that ignores the option. So only a value
        that changes the result makes a case."""
        if not self._settings.made:
            return []
        same = _same_arguments(cases)
        turns: dict[str, list[Case]] = {}
        for name, changed in made.options(cases[0], self._kernel.module):
            if name in same:
                turns.setdefault(name, []).append(changed)
        # Each option once, then more values of each.
        order = [each for turn in zip_longest(*turns.values()) for each in turn if each is not None]
        return self._finish_all([("option", cases[0], changed) for changed in order], OPTIONS, differs=True)

    def _vary_scored(self, cases: list[Case], row: Row) -> list[Case]:
        """Makes the same for a kernel that was scored without them. Its score stays: more cases can only catch more."""
        if "options" in row or not self._settings.made:
            return []
        more = self._vary(cases)
        if not self._shared.is_late():
            with self._shared.lock:
                self._shared.evidence.add({**row, "options": len(more)})
        return more

    def _make(self, cases: list[Case]) -> list[Case]:
        """Makes cases of recorded ones with the module as the reference. Returns those that it meets when it runs again."""
        return self._finish_all(_turns(cases, self._kernel.module), self._settings.made)

    def _finish_all(self, turns: list[tuple[str, Case, Case]], most: int, differs: bool = False) -> list[Case]:
        """Returns the first changed cases that the module meets when it runs again. `differs`: the result must be another one.

        Several changes are tried in one process: on a GPU, each process needs a context of its own, which takes longer than a launch."""
        more: list[Case] = []
        existing = {case.id for case in self._cases}
        turns = turns[:TRIES * most]
        while turns and len(more) < most and not self._shared.is_late():
            tried, turns = turns[:most], turns[most:]
            finished = [case for case in self._finish(tried, differs) if case.id not in existing][:most - len(more)]
            existing |= {case.id for case in finished}
            with self._shared.lock:
                for case in finished:
                    self._shared.evidence.add(case.row)
                self._shared.summary.made += len(finished)
            more += self._replay(finished)
        return more

    def _finish(self, tried: list[tuple[str, Case, Case]], differs: bool) -> list[Case]:
        """Gives made cases their outputs. Leaves out those that the reference cannot run, or makes something else of the second time.
        `differs`: or for which it makes what it made for their base."""
        inputs = [inputs_of(changed, self._shared.evidence) for _, _, changed in tried]
        launches = [(0, changed, before) for (_, _, changed), before in zip(tried, inputs) for _ in range(2)]
        executions = self._runner.run_modules([self._kernel.module], str(self._kernel.row["name"]), launches)
        finished = [self._finish_one(turn, differs, before, executions[2 * place], executions[2 * place + 1])
                    for place, (turn, before) in enumerate(zip(tried, inputs))]
        return list({case.id: case for case in finished if case is not None}.values())

    def _finish_one(self, turn: tuple[str, Case, Case], differs: bool, before: list[bytes], first: Execution, again: Execution) -> Case | None:
        name, base, changed = turn
        evidence = self._shared.evidence
        if first.error or again.error or first.out_of_bounds:
            return None
        written = {place: end.tobytes() for place, (old, end) in enumerate(zip(before, first.after)) if end.tobytes() != old}
        if not written or not set(written) <= set(base.outputs):
            return None
        if judge.judge(changed, before, again.after, again.out_of_bounds, written).outcome not in ACCEPTED:
            return None
        recorded = {place: evidence.get(digest) for place, digest in base.outputs.items() if place in written}
        if differs and set(written) == set(base.outputs) and judge.judge(changed, before, first.after, 0, recorded).outcome in ACCEPTED:
            return None
        with self._shared.lock:
            outputs = {place: evidence.put(content) for place, content in sorted(written.items())}
        return changed.with_outputs(outputs, {"made": {"of": base.id, "change": name, **self._head}}).check()


def _is_caught(found: list[tuple[Execution, Verdict]], faults: re.Pattern[str]) -> bool:
    return any(verdict.outcome == "different" or (verdict.outcome == "error" and faults.search(verdict.message)) for _, verdict in found)


def _fate(found: list[tuple[Execution, Verdict]], reference: list[str], faults: re.Pattern[str]) -> str:
    if _is_caught(found, faults):
        return "caught"
    if all(verdict.outcome == "error" for _, verdict in found):
        return "stillborn"
    same = [execution.ttir for execution, _ in found] == reference
    return "equivalent" if same and all(reference) else "missed"


def _same_arguments(cases: list[Case]) -> set[str]:
    """Returns the arguments that have one value in all cases. Tensors count as one value, None as another."""
    values: dict[str, set[str]] = {}
    for each in (each for case in cases for each in case.row["arguments"]):
        value = "tensor" if "tensor" in each else canonical({key: value for key, value in each.items() if key != "name"})
        values.setdefault(str(each["name"]), set()).add(value)
    return {name for name, found in values.items() if len(found) == 1}


def _turns(cases: list[Case], module: str) -> list[tuple[str, Case, Case]]:
    """Returns (change, base, changed case), each change in turn."""
    turns = [(name, base, changed) for base in cases for name, changed in made.variants(base, module)]
    order_of = {name: place for place, name in enumerate(made.ORDER)}
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, int, int, tuple[str, Case, Case]]] = []
    for name, base, changed in turns:
        ranked.append((seen[name], order_of[name], len(ranked), (name, base, changed)))
        seen[name] += 1
    return [each for _, _, _, each in sorted(ranked, key=lambda entry: entry[:3])]


def _share(fates: list[tuple[Mutant, str]]) -> float | None:
    """Returns the share of programs that were caught, or None without a program."""
    counts = Counter(fate for _, fate in fates)
    programs = counts["caught"] + counts["missed"]
    return round(counts["caught"] / programs, 4) if programs else None
