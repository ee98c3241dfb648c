"""Measures what changes of kernels did: `kernelmill run DATASET --device cuda:90 --changes`.

Both versions of a row of history.jsonl run on one recorded case, which is grown as for a speed (speed.py). A case binds to parameters
by their names. A version with configurations takes its fastest one, as its autotuner would. Nothing says how a grid follows from a
configuration: it is the smallest of those that the sizes allow with which the version writes what it writes with the recorded
configuration. Then both are timed in turn, in one process."""

from __future__ import annotations

import ast
import hashlib
import itertools
import json
import math
import os
import pathlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from kernelmill.errors import DatasetError, ProgramError
from kernelmill.execution import clocks, growth, judge, speed, timing
from kernelmill.execution.bundle import HISTORY
from kernelmill.execution.case import MOST_PROGRAMS, Case, Row
from kernelmill.execution.evidence import Evidence
from kernelmill.execution.replay import ACCEPTED, inputs_of
from kernelmill.execution.rows import KernelRow, read_kernels
from kernelmill.execution.runner import Execution, Launch, Runner, check_device

KEYS = ("change_id", "repository", "commit", "kind", "claims")  # the fields of a row that are read
SIDE_KEYS = ("name", "module", "dsl", "role")
CASES = 2        # that a change is tried on, those that bind best
RULES = 64       # for grids that are tried
TOGETHER = 16    # configurations that one process times
CHOSEN = 4       # configurations that are tried until one writes what it must, the fastest first
MESSAGE = 500    # of an error: characters that are kept
SECONDS = 120    # after which a change gets no further configurations
LEAST = 0.02     # the least difference that counts, as a share of the time before
SIDES, AFTER = ("before", "after"), 1
FIRST = ("speed", "tuning")  # kinds that come first, behind changes with claims


@dataclass(frozen=True)
class Version:
    """A side of a change."""

    name: str
    module: str
    parameters: tuple[str, ...]
    required: frozenset[str]  # those without a default

    @staticmethod
    def of(side: Row) -> Version | None:
        """Returns None for a version that cannot run."""
        if not side["module"] or side["dsl"] != "triton" or side["role"] != "kernel":
            return None
        try:
            found = [each for each in ast.walk(ast.parse(side["module"]))
                     if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and each.name == side["name"]]
        except (SyntaxError, ValueError, RecursionError):
            return None
        if not found:
            return None
        rows = found[-1].args
        placed = [each.arg for each in (*rows.posonlyargs, *rows.args)]
        optional = set(placed[len(placed) - len(rows.defaults):])
        optional |= {each.arg for each, default in zip(rows.kwonlyargs, rows.kw_defaults) if default is not None}
        names = (*placed, *(each.arg for each in rows.kwonlyargs))
        return Version(str(side["name"]), str(side["module"]), names, frozenset(names) - optional)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.module.encode()).hexdigest()

    def missing(self, case: Case) -> frozenset[str]:
        return self.required - {str(each["name"]) for each in case.row["arguments"]}

    def bind(self, case: Case) -> Case:
        """Returns the case with the arguments that this version takes."""
        fields = {key: value for key, value in case.row.items() if key not in ("id", "type")}
        kept = [each for each in case.row["arguments"] if each["name"] in self.parameters]
        return _with_options(Case.make(**{**fields, "kernel": self.name, "arguments": kept}), case.row["options"])


def _with_options(case: Case, options: Row) -> Case:
    """Returns the case with the compiler's options that it does not pass as arguments."""
    fields = {key: value for key, value in case.row.items() if key not in ("id", "type")}
    passed = {str(each["name"]) for each in case.row["arguments"]}
    return Case.make(**{**fields, "options": {name: value for name, value in options.items() if name not in passed}})


@dataclass(frozen=True)
class Change:
    """A row of history.jsonl whose versions can be loaded."""

    row: Row
    before: Version
    after: Version

    @property
    def rank(self) -> tuple[bool, bool, str]:
        return not self.row["claims"], self.row["kind"] not in FIRST, str(self.row["change_id"])


def read_rows(folder: str | os.PathLike[str]) -> Iterator[Row]:
    """Yields the rows of history.jsonl. DatasetError: the folder has none, or it is damaged."""
    file = pathlib.Path(folder) / HISTORY
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    row = json.loads(line)
                    yield {**{key: row[key] for key in KEYS}, **{side: {key: row[side][key] for key in SIDE_KEYS} for side in SIDES}}
                except (ValueError, KeyError, TypeError) as error:
                    raise DatasetError(f"{file}:{number}: {error}") from error
    except OSError as error:
        raise DatasetError(f"{file}: {error.strerror}") from error


def read_changes(folder: str | os.PathLike[str]) -> Iterator[Change]:
    """Yields the changes whose versions can both be loaded."""
    for row in read_rows(folder):
        before, after = Version.of(row["before"]), Version.of(row["after"])
        if before is not None and after is not None:
            yield Change(row, before, after)


@dataclass
class Summary:
    """The counts of a run. `unmeasured`: changes that have a case, by reason."""

    device: str
    hardware: str = ""
    measured: int = 0
    agree: int = 0
    faster: int = 0
    slower: int = 0
    noisy: int = 0
    skipped: int = 0
    without_case: int = 0
    left: int = 0
    unmeasured: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)


class _Unmeasured(Exception):
    """A change cannot be measured. The arguments: the reason, and the message."""


def bound_cases(change: Change, cases: Sequence[Case]) -> list[Case]:
    """Returns the cases that bind best to both versions: with the fewest parameters without an argument, then the fewest arguments without
    a parameter. The largest come first."""
    def rank(case: Case) -> tuple[int, int, int, str]:
        names = {str(each["name"]) for each in case.row["arguments"]}
        sides = (change.before, change.after)
        return (sum(len(each.missing(case)) for each in sides), sum(len(names - set(each.parameters)) for each in sides),
                -growth.total(case), case.id)

    ranked = sorted(cases, key=rank)
    return [each for each in ranked if rank(each)[:2] == rank(ranked[0])[:2]][:CASES]


# ---------------------------------------------------------------- configurations

def configure(case: Case, configuration: Row, grid: Sequence[int] | None = None) -> Case:
    """Returns the case with an autotuner's configuration."""
    fields = {key: value for key, value in case.row.items() if key not in ("id", "type")}
    given = dict(configuration["constexprs"])
    arguments = [{"name": each["name"], "constexpr": given.pop(each["name"])} if each["name"] in given else each
                 for each in case.row["arguments"]]
    arguments += [{"name": name, "constexpr": text} for name, text in given.items()]
    made = Case.make(**{**fields, "arguments": arguments, "grid": list(grid or case.row["grid"])})
    return _with_options(made, configuration["options"])


def grids(case: Case, configurations: Sequence[Row]) -> list[tuple[tuple[int, ...], ...]]:
    """Returns what the grids of all configurations may be, those with the fewest programs first. An axis stays, or holds the blocks of a
    size: its length is a multiple of their number, and so it is with the blocks of another configuration."""
    old = {str(each["name"]): int(each["constexpr"]) for each in case.row["arguments"] if str(each.get("constexpr", "")).isdigit()}
    sizes = set(growth.sizes(case)) | {int(each["scalar"]["value"]) for each in case.row["arguments"]
                                       if each.get("scalar", {}).get("type") == "int" and int(each["scalar"]["value"]) > 1}
    axes: list[list[tuple[int, ...]]] = []
    for length in (int(each) for each in case.row["grid"]):
        found = {tuple(length for _ in configurations)}
        for name, block in old.items():
            blocks = [int(text) if (text := str(each["constexprs"].get(name, block))).isdigit() else 0 for each in configurations]
            if not block or not all(blocks) or set(blocks) == {block}:
                continue
            for size in sizes:
                count = -(-size // block)
                if length % count == 0:
                    found.add(tuple(length // count * -(-size // each) for each in blocks))
        axes.append(sorted(found))
    made = {tuple(zip(*each)) for each in itertools.islice(itertools.product(*axes), 4096)}
    possible = [each for each in made if all(math.prod(grid) <= MOST_PROGRAMS for grid in each)]
    return sorted(possible, key=lambda each: (sum(math.prod(grid) for grid in each), each))[:RULES]


# ---------------------------------------------------------------- one change

class _Pair:
    """A runner of the two modules of a change. All jobs have both, so that one process serves them."""

    def __init__(self, runner: Runner, change: Change) -> None:
        self._runner, self._modules = runner, [change.before.module, change.after.module]

    def run(self, launches: list[Launch], timed: str = "", decorated: str = "launched", stop: bool = False) -> list[Execution]:
        """A launch is the place of its version, a case, and its inputs."""
        return self._runner.run_modules(self._modules, "", launches, timed=timed, decorated=decorated, stop=stop)

    def run_modules(self, modules: list[str], kernel: str, launches: list[Launch]) -> list[Execution]:
        """Runs the version after for a grower, which knows no other one."""
        return self.run([(AFTER, case, inputs) for _, case, inputs in launches])


class _Runners:
    """The runners that a grower takes."""

    def __init__(self, pair: _Pair) -> None:
        self.kernels = pair


@dataclass(frozen=True)
class _Side:
    """A version with the case on which it is timed."""

    place: int
    version: Version
    case: Case
    written: dict[int, bytes]      # the bytes of the storages that it changes
    configurations: tuple[Row, ...]
    chosen: Row | None = None      # the configuration; None: what was recorded
    tried: int = 0                 # configurations that were timed
    note: str = ""                 # why no configuration was chosen


class Meter:
    """Measures changes on one runner."""

    def __init__(self, runner: Runner, settings: speed.Settings, evidence: Evidence, hardware: str,
                 during: Callable[[Sequence[float]], Row | None]) -> None:
        self._runner, self._settings, self._evidence, self._hardware, self._during = runner, settings, evidence, hardware, during
        self._start = 0.0

    def measure(self, change: Change, cases: Sequence[Case]) -> Row:
        """Returns a row of the type `change`. If its `ratio` is null, `reason` and `message` say why."""
        self._start = time.monotonic()
        row = {"type": "change", "before": self._name(change.before), "after": self._name(change.after), "device": self._settings.device,
               "hardware": self._hardware, "toolchain": self._runner.toolchain}
        failure = _Unmeasured("case", "")
        for base in cases:
            try:
                return {**row, "case": base.id, **self._measure(change, base)}
            except _Unmeasured as error:
                failure = error
            except DatasetError as error:
                failure = _Unmeasured("case", str(error))
        return {**row, "case": cases[0].id, "ratio": None, "reason": failure.args[0], "message": failure.args[1][:MESSAGE]}

    @staticmethod
    def _name(version: Version) -> Row:
        return {"module_sha256": version.sha256, "kernel": version.name}

    def _measure(self, change: Change, base: Case) -> Row:
        pair = _Pair(self._runner, change)
        found = self._configurations(pair, change, base)
        small = inputs_of(base, self._evidence)
        starts = [self._start_case(version, base, configurations)
                  for version, configurations in zip((change.before, change.after), found)]
        self._run_both(pair, starts, small)  # an error here says more than one of a grown case
        steps, reason = self._grow(pair, change, starts[AFTER], small)
        grown = growth.regrow(base, steps) if steps else base
        if grown is None:
            grown, steps, reason = base, (), "no_way"
        inputs = growth.fill(grown, small)
        cases = [self._start_case(version, grown, configurations) for version, configurations in zip((change.before, change.after), found)]
        try:
            executions = self._run_both(pair, cases, inputs)
        except _Unmeasured:  # the version before may not serve so large a case
            if grown is base:
                raise
            grown, steps, reason, inputs, cases = base, (), "before_fails", small, starts
            executions = self._run_both(pair, cases, inputs)
        sides = [_Side(place, version, cases[place], written_by(inputs, executions[place]), tuple(found[place]))
                 for place, version in enumerate((change.before, change.after))]
        if not sides[0].written:
            raise _Unmeasured("writes_nothing", "")
        verdict = judge.judge(cases[1], inputs, executions[1].after, executions[1].out_of_bounds, sides[0].written)
        before, after = (self._tune(pair, side, inputs) for side in sides)
        row = self._time(pair, before, after, inputs)
        return {**row, "environment": base.row["environment"], "fills": not reason, "reason": reason, "grown": list(steps),
                "sizes": ", ".join(growth.describe(base, grown)) if steps else "",
                "agree": verdict.outcome, "share": verdict.share, "message": verdict.message}

    def _configurations(self, pair: _Pair, change: Change, base: Case) -> list[list[Row]]:
        versions = (change.before, change.after)
        executions = pair.run([(place, _without_storages(version.bind(base)), []) for place, version in enumerate(versions)],
                              decorated="listed")
        for side, version, execution in zip(SIDES, versions, executions):
            if execution.error:
                raise _Unmeasured("load", f"{side}: {execution.stage}: {execution.error}")
            missing = version.missing(base) - {name for each in execution.configurations if each for name in each["constexprs"]}
            if missing and "heuristics" not in version.module:
                raise _Unmeasured("parameters", f"{side}: {', '.join(sorted(missing))}")
        return [execution.configurations for execution in executions]

    @staticmethod
    def _start_case(version: Version, case: Case, configurations: Sequence[Row]) -> Case:
        """Returns the case for a version. Its first configuration gives what no argument does."""
        bound = version.bind(case)
        first = next((each for each in configurations if each), None)
        missing = version.missing(bound)
        if first is not None and missing & set(first["constexprs"]):
            return configure(bound, first)
        return bound

    @staticmethod
    def _run_both(pair: _Pair, cases: Sequence[Case], inputs: list[bytes]) -> list[Execution]:
        executions = pair.run([(place, case, inputs) for place, case in enumerate(cases)])
        for side, execution in zip(SIDES, executions):
            if execution.error:
                missing = "missing" in execution.error and "argument" in execution.error
                raise _Unmeasured("parameters" if missing else execution.stage or "launch", f"{side}: {execution.error}")
        return executions

    def _grow(self, pair: _Pair, change: Change, start: Case, small: list[bytes]) -> tuple[tuple[Row, ...], str]:
        """Returns the steps that grow a case for the version after, and why it does not fill the device."""
        settings = speed.Settings(device=self._settings.device, full=self._settings.full, most=self._settings.most)
        kernel = KernelRow({"module": change.after.module, "name": change.after.name, "qualname": change.after.name})
        plan = speed.Grower(kernel, _Runners(pair), settings, None).plan([(start, small)])  # type: ignore[arg-type]
        return plan.steps, plan.reason

    # ------------------------------------------------------------ tuning

    def _tune(self, pair: _Pair, side: _Side, inputs: list[bytes]) -> _Side:
        """Returns the version with its fastest configuration."""
        known = [each for each in side.configurations if each]
        if not side.configurations:
            return side
        if not known:
            return replace(side, note="hooks")
        rule = self._find_rule(pair, side, known, inputs)
        if rule is None:
            return replace(side, note="grid")
        cases = [configure(side.case, each, grid) for each, grid in zip(known, rule)]
        timed: list[Execution] = []
        while len(timed) < len(cases) and (not timed or time.monotonic() - self._start < SECONDS):
            part = [(side.place, case, inputs) for case in cases[len(timed):len(timed) + TOGETHER]]
            found = pair.run(part, timed="brief", stop=True)
            timed += [*found, *(Execution(error="not tried") for _ in part[len(found):])]
        side = replace(side, tried=sum(each.error != "not tried" for each in timed))
        order = sorted((timing.median(each.times), place) for place, each in enumerate(timed) if each.times)
        if not order:
            return replace(side, note="launch")
        fastest = [place for _, place in order[:CHOSEN]]
        for place in fastest:
            [execution] = pair.run([(side.place, cases[place], inputs)])
            if self._writes_same(side, inputs, execution):
                return replace(side, case=cases[place], chosen=known[place])
        return replace(side, note="differs")

    def _find_rule(self, pair: _Pair, side: _Side, known: list[Row], inputs: list[bytes]) -> tuple[tuple[int, ...], ...] | None:
        """Returns the grids of the configurations."""
        rules = grids(side.case, known)
        if len(rules) == 1:
            return rules[0]
        # The configuration by which the rules differ most tells them apart.
        place = max(range(len(known)), key=lambda each: len({rule[each] for rule in rules}))
        tried: dict[tuple[int, ...], bool] = {}
        for rule in rules:
            if rule[place] not in tried:
                if time.monotonic() - self._start > SECONDS:
                    return None
                [execution] = pair.run([(side.place, configure(side.case, known[place], rule[place]), inputs)])
                tried[rule[place]] = self._writes_same(side, inputs, execution)
            if tried[rule[place]]:
                return rule
        return None

    def _writes_same(self, side: _Side, inputs: list[bytes], execution: Execution) -> bool:
        return not execution.error and \
            judge.judge(side.case, inputs, execution.after, execution.out_of_bounds, side.written).outcome in ACCEPTED

    # ------------------------------------------------------------ timing

    def _time(self, pair: _Pair, before: _Side, after: _Side, inputs: list[bytes]) -> Row:
        executions = pair.run([(side.place, side.case, inputs) for side in (before, after, before, after)], timed="alone")
        for execution in executions:
            if not execution.times:
                raise _Unmeasured("time", execution.error or "no time")
        found = [self._summarize(side, executions[place::2]) for place, side in enumerate((before, after))]
        ratio = found[0]["median_us"] / found[1]["median_us"]
        return {"before": found[0], "after": found[1], "ratio": round(ratio, 4), "direction": direction(*found), "flushed": True,
                "clocks": self._during([executions[0].window[0], executions[-1].window[-1]] if executions[0].window else [])}

    def _summarize(self, side: _Side, executions: Sequence[Execution]) -> Row:
        times = [each for execution in executions for each in execution.times]
        return {**self._name(side.version), **timing.summarize(times), "configurations": len(side.configurations), "tried": side.tried,
                "configuration": side.chosen, "note": side.note, "grid": list(side.case.row["grid"]), "options": side.case.row["options"]}


def _without_storages(case: Case) -> Case:
    return Case({**case.row, "storages": [], "arguments": []})


def written_by(inputs: Sequence[bytes], execution: Execution) -> dict[int, bytes]:
    """Returns the bytes of the storages that a launch changes."""
    found = {place: end.tobytes() for place, end in enumerate(execution.after)}
    return {place: content for place, content in found.items() if content != inputs[place]}


def direction(before: Row, after: Row) -> str:
    """Returns "faster", "slower" or "same": medians differ by more than both spreads together, and LEAST of the time before."""
    difference = before["median_us"] - after["median_us"]
    if abs(difference) <= max(before["spread_us"] + after["spread_us"], LEAST * before["median_us"]):
        return "same"
    return "faster" if difference > 0 else "slower"


# ---------------------------------------------------------------- a run

def run(dataset: str | os.PathLike[str], evidence: Evidence, settings: speed.Settings, tell: Callable[[Row], None] = lambda row: None,
        progress: Callable[[int, int], None] = lambda done, changes: None, driver: speed.Driver | None = None) -> Summary:
    """Measures changes that were not measured on this GPU, and adds them to the evidence. `tell` gets each row at once.
    ProgramError: there is no GPU."""
    check_device(settings.device)
    if driver is None:
        try:
            driver = clocks.Nvml()
        except OSError as error:
            raise ProgramError(f"speed cannot be measured here: {error}") from error
    summary = Summary(settings.device, driver.name())
    shared = speed.Shared(evidence, settings.workers, settings.deadline, progress)
    jobs = _find_jobs(dataset, evidence, settings, summary)
    with clocks.Sampler(driver.clocks) as sampler:
        lock = speed.lock_of_gpu()

        def work(take: Callable[[], object | None]) -> None:
            runner: Runner | None = None
            try:
                while (job := take()) is not None:
                    assert isinstance(job, tuple)
                    runner = runner or Runner(settings.device, settings.bounds, settings.confined, settings.python, lock=lock)
                    row = Meter(runner, settings, evidence, summary.hardware, sampler.during).measure(*job)
                    with shared.lock:
                        evidence.add(row)
                        _count(summary, row)
                        tell(row)
                    shared.step(len(jobs))
            finally:
                if runner is not None:
                    runner.close()

        summary.left = shared.work(jobs, 1.0, work)
    evidence.save()
    summary.seconds = round(time.monotonic() - shared.start, 1)
    if shared.failed is not None:
        raise shared.failed
    return summary


def _cases(evidence: Evidence) -> dict[tuple[str, str], list[Case]]:
    """Returns the cases by module and kernel, without those that something contradicts. One that no device has run is good enough: the
    two versions are compared with each other."""
    wrong = {row["case"] for row in evidence.rows("result") if row["outcome"] == "different"}
    found: dict[tuple[str, str], list[Case]] = {}
    for case in evidence.cases():
        if case.id not in wrong:
            found.setdefault((case.module_sha256, case.kernel), []).append(case)
    return found


def with_cases(dataset: str | os.PathLike[str], evidence: Evidence) -> list[tuple[Change, list[Case]]]:
    """Returns the changes that have cases, as a run takes them."""
    return _find_jobs(dataset, evidence, speed.Settings(), Summary(""))


def _find_jobs(dataset: str | os.PathLike[str], evidence: Evidence, settings: speed.Settings,
               summary: Summary) -> list[tuple[Change, list[Case]]]:
    given = _cases(evidence)
    cases: dict[tuple[str, str], list[Case]] = {}
    for kernel in read_kernels(dataset):
        place = str(kernel.row["repository"]), str(kernel.row["name"])
        cases.setdefault(place, []).extend(given.get((kernel.module_sha256, kernel.name), ()))
    known = {(row["before"]["module_sha256"], row["before"]["kernel"], row["after"]["module_sha256"], row["after"]["kernel"])
             for row in evidence.rows("change") if (row["device"], row["hardware"]) == (settings.device, summary.hardware)}
    jobs = []
    for change in sorted(read_changes(dataset), key=lambda each: each.rank):
        repository, before, after = str(change.row["repository"]), change.before, change.after
        if settings.kernels and not {before.name, after.name} & set(settings.kernels):
            continue
        found = cases.get((repository, after.name)) or cases.get((repository, before.name))
        key = before.sha256, before.name, after.sha256, after.name
        if key in known:
            summary.skipped += 1
        elif not found:
            summary.without_case += 1
        else:
            known.add(key)
            jobs.append((change, bound_cases(change, found)))
    # Those whose parameters have no argument are the last of their kind: few of them can be launched.
    return sorted(jobs, key=lambda job: (job[0].rank[:2], any(side.missing(job[1][0]) for side in (job[0].before, job[0].after))))


def _count(summary: Summary, row: Row) -> None:
    if row["ratio"] is None:
        summary.unmeasured[row["reason"]] += 1
        return
    summary.measured += 1
    summary.agree += int(row["agree"] in ACCEPTED)
    summary.faster += int(row["direction"] == "faster")
    summary.slower += int(row["direction"] == "slower")
    summary.noisy += int(row["before"]["noisy"] or row["after"]["noisy"])
