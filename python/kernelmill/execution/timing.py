"""Times launches on a GPU, in the process of the module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MOST = 100               # launches that are timed
BUDGET = 0.2             # seconds for them
FLUSH_BYTES = 256 << 20  # more than any GPU's L2 cache


class Timer:
    """Keeps what it needs of torch, so that a module that loads later cannot replace the functions. It could still change the classes
    that they use: `evaluate` counts a time of an answer that patches nothing only."""

    def __init__(self) -> None:
        import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

        self._event, self._synchronize = torch.cuda.Event, torch.cuda.synchronize
        self._elapsed, self._record = torch.cuda.Event.elapsed_time, torch.cuda.Event.record
        self._cache = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")

    def measure(self, launch: Callable[[], Any]) -> list[float]:
        """Returns the microseconds of launches, each with an empty L2 cache."""
        for _ in range(3):
            launch()
        first = self._time(launch, 5)
        slowest = max(first) / 1e6
        count = int(min(MOST, max(10, BUDGET / max(slowest, 1e-6))))
        return [round(each, 3) for each in self._time(launch, count)]

    def _time(self, launch: Callable[[], Any], count: int) -> list[float]:
        pairs = [(self._event(enable_timing=True), self._event(enable_timing=True)) for _ in range(count)]
        for start, end in pairs:
            self._cache.zero_()
            self._record(start)
            launch()
            self._record(end)
        self._synchronize()
        return [1000 * self._elapsed(start, end) for start, end in pairs]


def clean(times: object) -> list[float]:
    """Returns what a process of a module says of its times, if they can be times."""
    if not isinstance(times, list) or len(times) > MOST:
        return []
    good = all(isinstance(each, (int, float)) and not isinstance(each, bool) and 0 < each < 1e12 for each in times)
    return [float(each) for each in times] if good else []
