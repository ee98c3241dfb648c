"""Times launches on a GPU, in the process of the module."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from kernelmill.execution.case import Row

ALONE = ("alone", "brief")  # ways to time a launch and do nothing else
MOST = 100               # launches that are timed
BUDGET = 0.2             # seconds for them
BRIEF = 0.02             # the same, to choose
WARM_SECONDS = 0.03      # launches before them: a GPU that did nothing has low clocks
FLUSH_BYTES = 256 << 20  # more than any GPU's L2 cache
AHEAD = 0.05             # the most seconds for which the GPU waits, so that launches are queued before it begins
CYCLES = 2e9             # of a GPU, about, in a second
NOISE = 0.1              # the most that the quartiles may lie apart, as a share of the median


def measure(launch: Callable[[int], list[float]], brief: bool = False) -> list[float]:
    """Returns the microseconds of launches. `launch` makes so many of them. Times with a large spread are measured once more, and those
    with the smaller spread count. `brief`: enough to choose the fastest of several."""
    slowest = max(launch(3))
    if brief:
        return [round(each, 3) for each in launch(_count(BRIEF, slowest, 5))]
    slowest = max(launch(_count(WARM_SECONDS, slowest, 5)))
    count = _count(BUDGET, slowest, 10)
    times = launch(count)
    if is_noisy(times):
        times = min(times, launch(count), key=lambda each: spread(each) / statistics.median(each))
    return [round(each, 3) for each in times]


def _count(seconds: float, microseconds: float, least: int) -> int:
    return int(min(MOST, max(least, seconds / max(microseconds / 1e6, 1e-6))))


def median(times: Sequence[float]) -> float:
    return round(statistics.median(times), 3)


def spread(times: Sequence[float]) -> float:
    """Returns the distance from the first to the third quartile."""
    low, _, high = statistics.quantiles(times, n=4) if len(times) > 1 else (times[0],) * 3
    return round(high - low, 3)


def is_noisy(times: Sequence[float]) -> bool:
    return spread(times) > NOISE * statistics.median(times)


def summarize(times: Sequence[float]) -> Row:
    """Returns a median with its noise."""
    return {"median_us": median(times), "spread_us": spread(times), "launches": len(times), "noisy": is_noisy(times)}


class WallTimer:
    """Times calls by the clock of the process: on a processor, where a call ends when its work is done."""

    def measure(self, launch: Callable[[], Any], brief: bool = False) -> list[float]:
        return measure(lambda count: [self._time(launch) for _ in range(count)], brief)

    @staticmethod
    def _time(launch: Callable[[], Any]) -> float:
        start = time.perf_counter()
        launch()
        return 1e6 * (time.perf_counter() - start)


class Timer:
    """Keeps what it needs of torch, so that a module that loads later cannot replace the functions. It could still change the classes
    that they use: `evaluate` counts a time of an answer that patches nothing only."""

    def __init__(self) -> None:
        import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

        self._event, self._synchronize = torch.cuda.Event, torch.cuda.synchronize
        self._elapsed, self._record = torch.cuda.Event.elapsed_time, torch.cuda.Event.record
        self._wait = torch.cuda._sleep
        self._cache = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")
        self._seconds = 1e-4  # that a processor needs to queue a launch

    def measure(self, launch: Callable[[], Any], brief: bool = False) -> list[float]:
        """Returns the microseconds of launches, each with an empty L2 cache."""
        return measure(lambda count: self._time(launch, count), brief)

    def _time(self, launch: Callable[[], Any], count: int) -> list[float]:
        """On a busy machine the processor queues launches more slowly than the GPU makes them, which would then wait between two events."""
        pairs = [(self._event(enable_timing=True), self._event(enable_timing=True)) for _ in range(count)]
        self._wait(int(min(AHEAD, 1.5 * count * self._seconds) * CYCLES))
        begin = time.perf_counter()
        for start, end in pairs:
            self._cache.zero_()
            self._record(start)
            launch()
            self._record(end)
        self._seconds = (time.perf_counter() - begin) / count
        self._synchronize()
        return [1000 * self._elapsed(start, end) for start, end in pairs]


def clean(times: object) -> list[float]:
    """Returns what a process of a module says of its times, if they can be times."""
    if not isinstance(times, list) or len(times) > MOST:
        return []
    good = all(isinstance(each, (int, float)) and not isinstance(each, bool) and 0 < each < 1e12 for each in times)
    return [float(each) for each in times] if good else []
