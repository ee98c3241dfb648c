"""Measures how fast kernels are: `kernelmill run DATASET --device cuda:90 --speed`.

First all kernels get a case that fills the GPU (growth.py): it must run, write all that the recorded one does, do the same twice, and
equal the reference where one is bound. Then each is timed, one at a time on the GPU, beside its reference in eager and compiled form.
A kernel without such a case is timed on its largest one, and its row says so: `fills`."""

from __future__ import annotations

import os
import queue
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy  # type: ignore[import-not-found, import-untyped, unused-ignore]

from kernelmill.errors import DatasetError, Error, ProgramError
from kernelmill.execution import clocks, elements, growth, judge, roofline, timing
from kernelmill.execution.case import Case, Row, extent
from kernelmill.execution.elements import Array
from kernelmill.execution.evidence import Evidence
from kernelmill.execution.replay import ACCEPTED, SAVE_SECONDS, inputs_of
from kernelmill.execution.rows import KernelRow, read_kernels
from kernelmill.execution.runner import Bounds, Execution, Runner, check_device, visible_gpus

BATCHES = (1, 2, 3)  # ways to grow a case that are tried together, the likeliest first
BASES = 2            # recorded cases that are tried, the largest first
WRITTEN = 0.95       # of what the recorded launch writes of a storage, as a share
NOT_FINITE = 0.01    # more numbers that are not finite
SLACK = 4            # a reference may differ by so many tolerances, as when it was bound
COMPARED = 1 << 22   # elements of a tensor that are compared with a reference
SHARE = 0.5          # of the deadline: for growing
MESSAGE = 300        # of an error: characters that are told


@dataclass(frozen=True)
class Settings:
    """How kernels are timed. `full`: bytes that fill a device; `most`: bytes that a grown case may have."""

    device: str = "cuda:90"
    workers: int = 1
    deadline: float = float("inf")
    bounds: Bounds = Bounds(seconds=20)
    confined: bool = True
    python: str = sys.executable
    kernels: tuple[str, ...] = ()
    full: int = growth.FULL
    most: int = growth.MOST


@dataclass
class Summary:
    """The counts of a run. `small`: kernels without a case that fills the device, by reason."""

    device: str
    hardware: str = ""
    measured: int = 0
    filling: int = 0
    noisy: int = 0
    checked: int = 0
    eager: int = 0
    compiled: int = 0
    skipped: int = 0
    left: int = 0
    small: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)


class Driver(Protocol):
    """A GPU's driver."""

    def name(self) -> str:
        """Returns the GPU's name."""

    def clocks(self) -> tuple[int, int]:
        """Returns the clocks of the processors and of the memory in MHz."""


class References(Protocol):
    """Finds references that are bound by execution, for one thread."""

    def find(self, kernel: KernelRow, cases: Sequence[tuple[Case, list[bytes], dict[int, bytes]]]) -> Row | None:
        """Returns {"module", "function", "parameters", "outputs"}, or None. The cases have their inputs and outputs."""

    def close(self) -> None:
        """Ends its processes."""


@dataclass(frozen=True)
class Plan:
    """The case on which a kernel is timed. `reason`: why it was not grown; `checked`: the reference says the same of it."""

    kernel: KernelRow
    base: Case
    case: Case
    before: tuple[bytes, ...]  # the storages of the recorded case
    reference: Row | None = None
    checked: bool = False
    reason: str = ""
    steps: tuple[Row, ...] = ()  # as growth.regrow() takes them

    def inputs(self) -> list[bytes]:
        return growth.fill(self.case, self.before)


class Runners:
    """The runners of a thread: of kernels, and of references, which on a GPU is the same one."""

    def __init__(self, settings: Settings, lock: str = "") -> None:
        self._settings, self._lock = settings, lock
        self.kernels = self._start(False)
        self._torch: Runner | None = None

    def _start(self, torch: bool) -> Runner:
        settings = self._settings
        return Runner(settings.device, settings.bounds, settings.confined, settings.python, torch=torch, lock=self._lock)

    def torch(self) -> Runner:
        if self._settings.device != "cpu":
            return self.kernels
        self._torch = self._torch or self._start(True)
        return self._torch

    def close(self) -> None:
        for each in (self.kernels, self._torch):
            if each is not None:
                each.close()


# ---------------------------------------------------------------- growing

@dataclass(frozen=True)
class _Profile:
    """The storages that a launch changes, with the share of bytes that change, and of numbers that are not finite afterwards."""

    written: dict[int, float]
    infinite: dict[int, float]

    @staticmethod
    def of(case: Case, before: Sequence[bytes], after: Sequence[Array]) -> _Profile:
        written, infinite = {}, {}
        for place, (start, end) in enumerate(zip(before, after)):
            changed = numpy.frombuffer(start, numpy.uint8) != end
            if changed.any():
                written[place] = float(changed.mean())
                infinite[place] = _infinite(end, case.dtype_of(place))
        return _Profile(written, infinite)

    def holds(self, grown: _Profile) -> str:
        """Returns why a grown launch does something else, or nothing."""
        if set(grown.written) != set(self.written):
            return "writes_other"
        if any(grown.written[place] < WRITTEN * share for place, share in self.written.items()):
            return "not_covered"
        if any(grown.infinite[place] > share + NOT_FINITE for place, share in self.infinite.items()):
            return "not_finite"
        return ""


def _infinite(data: Array, dtype: str | None) -> float:
    if dtype is None or not elements.is_float(dtype):
        return 0.0
    step = max(1, len(data) // (1 << 20) // 16) * 16  # a part of a large storage says as much
    values = elements.decode(data[:len(data) // step * step].reshape(-1, step)[:, :16].reshape(-1) if step > 16 else data, dtype)
    return float(1 - numpy.isfinite(values).mean()) if len(values) else 0.0


def elements_of(view: Row, data: Array) -> Array:
    """Returns the raw bytes of a tensor's elements, in order; of a large tensor those that lie evenly apart."""
    low, high = extent(view)
    size = elements.size(view["dtype"])
    bits = data[low * size:(high + 1) * size].view(elements.BITS[view["dtype"]])
    found = numpy.lib.stride_tricks.as_strided(bits[int(view["offset"]) - low:], view["shape"], [each * size for each in view["strides"]])
    flat = numpy.ascontiguousarray(found).reshape(-1)
    # An odd distance reaches all places of a block.
    chosen: Array = numpy.ascontiguousarray(flat[::max(1, len(flat) // COMPARED) | 1]).view(numpy.uint8)
    return chosen


class Grower:
    """Finds the case on which a kernel is timed."""

    def __init__(self, kernel: KernelRow, runners: Runners, settings: Settings, reference: Row | None) -> None:
        self._kernel, self._runners, self._settings, self._reference = kernel, runners, settings, reference

    def plan(self, cases: Sequence[tuple[Case, list[bytes]]]) -> Plan:
        """`cases`: those that the kernel meets, the largest first."""
        best: Plan | None = None
        reasons: list[str] = []
        for base, before in cases[:BASES]:
            plan = Plan(self._kernel, base, base, tuple(before), self._reference)
            if growth.total(base) < self._settings.full:
                plan = self._grow(plan, reasons)
            if best is None or growth.total(plan.case) > growth.total(best.case):
                best = plan
            if growth.total(best.case) >= self._settings.full:
                return best
        assert best is not None
        grown = best.case.id != best.base.id
        return replace(best, reason="cannot_grow_enough" if grown else reasons[0] if reasons else "no_way")

    def _grow(self, plan: Plan, reasons: list[str]) -> Plan:
        """Grows a case by one size, and by a second one if the first does not suffice."""
        for _ in range(2):
            grown = self._grow_once(plan, reasons)
            if grown is None:
                break
            plan = grown
            if growth.total(plan.case) >= self._settings.full:
                break
        return plan

    def _grow_once(self, plan: Plan, reasons: list[str]) -> Plan | None:
        candidates: list[tuple[Case, Row]] = []
        for way in growth.find_ways(plan.case):
            factor = growth.find_factor(plan.case, way, self._settings.most)
            case = growth.grow(plan.case, way, factor) if factor > 1 else None
            if case is not None and all(each.id != case.id for each, _ in candidates):
                candidates.append((case, {**vars(way), "factor": factor}))
        candidates.sort(key=lambda each: growth.total(each[0]) < self._settings.full)  # stable: the likeliest of those that suffice
        for count in BATCHES:
            batch, candidates = candidates[:count], candidates[count:]
            for (case, step), reason in zip(batch, self._try(plan, [case for case, _ in batch])):
                if not reason:
                    return replace(plan, case=case, checked=self._reference is not None, steps=(*plan.steps, step))
                reasons.append(reason)
        return None

    def _try(self, plan: Plan, cases: Sequence[Case]) -> list[str]:
        """Returns why each case is no larger one of the same kind, or nothing."""
        if not cases:
            return []
        inputs = [growth.fill(plan.case, plan.before), *(growth.fill(case, plan.before) for case in cases)]
        launches = [(0, plan.case, inputs[0])]
        for case, before in zip(cases, inputs[1:]):
            launches += [(0, case, before)] * 2
        executions = self._runners.kernels.run_modules([self._kernel.module], str(self._kernel.row["name"]), launches)
        if executions[0].error:
            return ["error"] * len(cases)
        profile = _Profile.of(plan.case, inputs[0], executions[0].after)
        return [self._judge(case, before, executions[1 + 2 * place], executions[2 + 2 * place], profile)
                for place, (case, before) in enumerate(zip(cases, inputs[1:]))]

    def _judge(self, case: Case, before: list[bytes], first: Execution, again: Execution, profile: _Profile) -> str:
        if first.error or again.error:
            return "error"
        if first.out_of_bounds or again.out_of_bounds:
            return "out_of_bounds"
        reason = profile.holds(_Profile.of(case, before, first.after))
        if reason:
            return reason
        written = {place: first.after[place].tobytes() for place in profile.written}
        if judge.judge(case, before, again.after, 0, written).outcome not in ACCEPTED:
            return "not_repeatable"
        return self._compare(case, before, first)

    def _compare(self, case: Case, before: list[bytes], execution: Execution) -> str:
        """Returns why the reference says something else, or nothing."""
        reference = self._reference
        if reference is None:
            return ""
        [said] = self._runners.torch().run_modules([reference["module"]], "", [(0, case, before)], reference={**reference, "compiled": False})
        if said.error:
            return "reference_fails"
        views = {each["name"]: each["tensor"] for each in case.row["arguments"] if "tensor" in each}
        for name in reference["outputs"]:
            view = views[name]
            tolerance = SLACK * case.row["tolerance"].get(view["dtype"], elements.TOLERANCE.get(view["dtype"], 0.0))
            found, wanted = (elements_of(view, each.after[view["storage"]]) for each in (execution, said))
            if judge.compare(found, wanted.tobytes(), view["dtype"], tolerance).outcome not in ACCEPTED:
                return "reference_differs"
        return ""


# ---------------------------------------------------------------- timing

class Timed:
    """Times kernels and references on runners that share the lock of all timers."""

    def __init__(self, runners: Runners, during: Callable[[Sequence[float]], Row | None], hardware: str) -> None:
        self._runners, self._during, self._hardware = runners, during, hardware

    def measure(self, plan: Plan) -> tuple[Row | None, dict[str, str]]:
        """Returns a row of the type `speed`, None if the kernel has no time, and the errors by what was timed."""
        inputs, name = plan.inputs(), str(plan.kernel.row["name"])
        errors: dict[str, str] = {}
        [execution] = self._runners.kernels.run_modules([plan.kernel.module], name, [(0, plan.case, inputs)], timed="alone")
        if not execution.times:
            return None, {"kernel": execution.error or "no time"}
        row = self._row(plan, execution)
        for form, compiled in (("eager", False), ("compiled", True)) if plan.reference else ():
            assert plan.reference is not None
            [called] = self._runners.torch().run_modules([plan.reference["module"]], name, [(0, plan.case, inputs)], timed="alone",
                                                reference={**plan.reference, "compiled": compiled})
            if called.times:
                row |= {f"{form}_us": timing.median(called.times), f"{form}_spread_us": timing.spread(called.times)}
            else:
                errors[form] = called.error or "no time"
        return row, errors

    def _row(self, plan: Plan, execution: Execution) -> Row:
        grown = plan.case.id != plan.base.id
        summary = timing.summarize(execution.times)
        return {"type": "speed", "module_sha256": plan.kernel.module_sha256, "kernel": plan.kernel.name, "case": plan.base.id,
                "device": self._runners.kernels.device, "toolchain": self._runners.kernels.toolchain, "hardware": self._hardware,
                "environment": plan.case.row["environment"], "fills": not plan.reason,
                "sizes": ", ".join(growth.describe(plan.base, plan.case)) if grown else "", "grown": list(plan.steps),
                "reason": plan.reason,
                "checked": plan.checked, "flushed": True, "clocks": self._during(execution.window), **summary,
                **roofline.account(plan.case, plan.kernel.module, summary["median_us"], self._hardware)}


# ---------------------------------------------------------------- a run

class Shared:
    """The state that the threads of a run share."""

    def __init__(self, evidence: Evidence, workers: int, deadline: float, progress: Callable[[int, int], None]) -> None:
        self.evidence = evidence
        self._workers, self._deadline = workers, deadline
        self.lock, self.start = threading.Lock(), time.monotonic()
        self.failed: Error | None = None
        self._progress, self._done, self._saved = progress, 0, time.monotonic()

    def is_late(self, share: float = 1.0) -> bool:
        return time.monotonic() - self.start >= share * self._deadline

    def step(self, of: int) -> None:
        with self.lock:
            self._done += 1
            if time.monotonic() - self._saved > SAVE_SECONDS:
                self.evidence.save()
                self._saved = time.monotonic()
            self._progress(self._done, of)

    def work(self, jobs: Sequence[object], share: float, worker: Callable[[Callable[[], object | None]], None]) -> int:
        """Has threads work on jobs until a part of the deadline. Returns how many are left."""
        waiting: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._done = 0
        for each in jobs:
            waiting.put(each)

        def take() -> object | None:
            try:
                return None if self.failed or self.is_late(share) else waiting.get_nowait()
            except queue.Empty:
                return None

        def run() -> None:
            try:
                worker(take)
            except Error as error:
                self.failed = self.failed or error

        threads = [threading.Thread(target=run) for _ in range(min(max(1, self._workers), len(jobs)))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return waiting.qsize()


class _Run(Shared):
    """The state of a run that times kernels."""

    def __init__(self, evidence: Evidence, settings: Settings, summary: Summary, progress: Callable[[int, int], None]) -> None:
        super().__init__(evidence, settings.workers, settings.deadline, progress)
        self.settings, self.summary = settings, summary
        self.plans: list[Plan] = []


def accepted_cases(evidence: Evidence) -> dict[tuple[str, str], list[Case]]:
    """Returns the cases that a kernel meets somewhere, and fails nowhere, by module and kernel; the largest first."""
    outcomes: dict[str, set[str]] = {}
    for row in evidence.rows("result"):
        outcomes.setdefault(row["case"], set()).add(row["outcome"])
    found: dict[tuple[str, str], list[Case]] = {}
    for case in sorted(evidence.cases(), key=lambda case: (-growth.total(case), case.id)):
        if outcomes.get(case.id, set()) & set(ACCEPTED) and "different" not in outcomes[case.id]:
            found.setdefault((case.module_sha256, case.kernel), []).append(case)
    return found


def lock_of_gpu() -> str:
    """Returns the file that the timers of all runs on this GPU lock, so that no two of them time at once. ProgramError: its folder is
    somebody else's."""
    folder = os.path.join(tempfile.gettempdir(), f"kernelmill-timers-{os.getuid()}")
    os.makedirs(folder, 0o700, exist_ok=True)
    if os.lstat(folder).st_uid != os.getuid():
        raise ProgramError(f"{folder} belongs to another user: kernels cannot be timed one at a time")
    return os.path.join(folder, next(iter(visible_gpus()), "0"))


def run(dataset: str | os.PathLike[str], evidence: Evidence, settings: Settings, references: Callable[[], References] | None = None,
        wanted: Callable[[KernelRow], bool] = lambda kernel: False, progress: Callable[[int, int], None] = lambda done, kernels: None,
        driver: Driver | None = None) -> Summary:
    """Times kernels that have no speed on this GPU, and adds it to the evidence. `references`: makes a finder of references for a thread;
    kernels for which one is `wanted` come first. ProgramError: there is no GPU."""
    check_device(settings.device)
    if driver is None:
        try:
            driver = clocks.Nvml()
        except OSError as error:
            raise ProgramError(f"speed cannot be measured here: {error}") from error
    summary = Summary(settings.device, driver.name())
    shared = _Run(evidence, settings, summary, progress)
    cases = accepted_cases(evidence)
    kernels = {(each.module_sha256, each.name): each for each in read_kernels(dataset)
               if (each.module_sha256, each.name) in cases and (not settings.kernels or each.name in settings.kernels)}
    known = {(row["module_sha256"], row["kernel"]) for row in evidence.rows("speed")
             if (row["device"], row.get("hardware")) == (settings.device, summary.hardware)}
    summary.skipped = len(set(kernels) & known)
    jobs = sorted((key for key in kernels if key not in known), key=lambda key: (not wanted(kernels[key]), key))
    summary.left = shared.work(jobs, SHARE, lambda take: _grow_all(take, kernels, cases, shared, references, len(jobs)))
    with clocks.Sampler(driver.clocks) as sampler:
        lock = lock_of_gpu()
        plans = sorted(shared.plans, key=lambda plan: (plan.reference is None, plan.kernel.module_sha256, plan.kernel.name))
        summary.left += shared.work(plans, 1.0, lambda take: _time_all(take, shared, sampler.during, lock, len(plans)))
    evidence.save()
    summary.seconds = round(time.monotonic() - shared.start, 1)
    if shared.failed is not None:
        raise shared.failed
    return summary


def _grow_all(take: Callable[[], object | None], kernels: dict[tuple[str, str], KernelRow], cases: dict[tuple[str, str], list[Case]],
              shared: _Run, references: Callable[[], References] | None, count: int) -> None:
    settings = shared.settings
    finder: References | None = None
    runners: Runners | None = None
    try:
        while (key := take()) is not None:
            assert isinstance(key, tuple)
            runners = runners or Runners(settings)
            finder = finder or (references() if references else None)
            try:
                given = [(case, inputs_of(case, shared.evidence)) for case in cases[key]]
                reference = _find_reference(finder, kernels[key], given, shared) if finder else None
                plan = Grower(kernels[key], runners, settings, reference).plan(given)
                with shared.lock:
                    shared.plans.append(plan)
            except DatasetError as error:
                with shared.lock:
                    shared.summary.errors.append(f"{kernels[key].name}: {error}")
            shared.step(count)
    finally:
        for each in (runners, finder):
            if each is not None:
                each.close()


def _find_reference(finder: References, kernel: KernelRow, given: Sequence[tuple[Case, list[bytes]]], shared: _Run) -> Row | None:
    whole = []
    for case, before in given:
        try:
            whole.append((case, before, {place: shared.evidence.get(digest) for place, digest in case.outputs.items()}))
        except DatasetError:
            continue
    return finder.find(kernel, whole) if whole else None


def _time_all(take: Callable[[], object | None], shared: _Run, during: Callable[[Sequence[float]], Row | None], lock: str, count: int) -> None:
    settings, summary = shared.settings, shared.summary
    runners: Runners | None = None
    try:
        while (plan := take()) is not None:
            assert isinstance(plan, Plan)
            runners = runners or Runners(settings, lock)
            row, errors = Timed(runners, during, summary.hardware).measure(plan)
            with shared.lock:
                for what, error in errors.items():
                    summary.failed[f"{what}: {error[:MESSAGE]}"] += 1
                if row is not None:
                    shared.evidence.add(row)
                    _count(summary, row)
            shared.step(count)
    finally:
        if runners is not None:
            runners.close()


def _count(summary: Summary, row: Row) -> None:
    summary.measured += 1
    summary.filling += int(row["fills"])
    summary.noisy += int(row["noisy"])
    summary.checked += int(row["checked"])
    summary.eager += int("eager_us" in row)
    summary.compiled += int("compiled_us" in row)
    if row["reason"]:
        summary.small[row["reason"]] += 1


