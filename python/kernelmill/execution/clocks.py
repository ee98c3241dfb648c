"""Notes a GPU's clocks while launches are timed, by the driver's library (NVML)."""

from __future__ import annotations

import ctypes
import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence

from kernelmill.execution.case import Row

SECONDS = 0.01  # between two readings
_SM, _MEMORY = 1, 2
Reading = tuple[float, int, int]  # time.monotonic(), and the clocks of the processors and of the memory in MHz


class Nvml:
    """The first GPU that CUDA sees. OSError: there is no driver."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libnvidia-ml.so.1")
        self._handle = ctypes.c_void_p()
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0]
        if self._library.nvmlInit_v2():
            raise OSError("NVML does not start")
        call = self._library.nvmlDeviceGetHandleByUUID if visible.startswith("GPU-") else self._library.nvmlDeviceGetHandleByIndex_v2
        named = visible.encode() if visible.startswith("GPU-") else ctypes.c_uint(int(visible) if visible.isdigit() else 0)
        if call(named, ctypes.byref(self._handle)):
            raise OSError("NVML does not know the GPU")

    def name(self) -> str:
        name = ctypes.create_string_buffer(96)
        return name.value.decode() if not self._library.nvmlDeviceGetName(self._handle, name, 96) else ""

    def clocks(self) -> tuple[int, int]:
        """Returns the clocks of the processors and of the memory in MHz; 0: not known."""
        found = []
        for kind in (_SM, _MEMORY):
            value = ctypes.c_uint()
            failed = self._library.nvmlDeviceGetClockInfo(self._handle, kind, ctypes.byref(value))
            found.append(0 if failed else int(value.value))
        return found[0], found[1]


class Sampler:
    """Reads clocks in a thread. Use as a context. `read`: returns both clocks."""

    def __init__(self, read: Callable[[], tuple[int, int]]) -> None:
        self._read = read
        self._readings: list[Reading] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Sampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._ended.wait(SECONDS):
            self._readings.append((time.monotonic(), *self._read()))

    def during(self, window: Sequence[float]) -> Row | None:
        """Returns the clocks of a time, or None without a reading in it."""
        return summarize(self._readings, window)


def summarize(readings: Sequence[Reading], window: Sequence[float]) -> Row | None:
    """Returns the median clocks between two times, and the lowest of the processors."""
    if len(window) != 2:
        return None
    within = [each for each in list(readings) if window[0] <= each[0] <= window[1] and each[1]]
    if not within:
        return None
    return {"sm_mhz": int(statistics.median(each[1] for each in within)), "sm_mhz_least": min(each[1] for each in within),
            "memory_mhz": int(statistics.median(each[2] for each in within))}
