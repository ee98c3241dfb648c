"""Runs pieces of work in processes of their own, some at a time, with bounds of time and memory. A process is a fork: what this process
has imported is there."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import pathlib
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

PAGE = os.sysconf("SC_PAGE_SIZE")
MOST_LOG_BYTES = 1 << 16  # the last ones
MOST_WORDS = 3
# In a log these lines are around the words that say why: frames of C++ and of Python.
FRAME = re.compile(r"frame #|Exception raised from |\s*File \"|Traceback |(Current t|T)hread 0x|Extension modules: |\s*[~^]+$")
Result = dict[str, Any]


@dataclass(frozen=True)
class Bounds:
    """`seconds` and `memory` (bytes) bound a process; `deadline` the seconds of all, 0 for none."""

    workers: int = 1
    seconds: float = 300
    memory: int = 8 << 30
    deadline: float = 0


@dataclass(frozen=True)
class Work:
    """A piece of work: `action` runs in a process whose output goes into `log`, and returns what can be JSON."""

    label: str
    log: pathlib.Path
    action: Callable[[], Result]


@dataclass
class _Child:
    work: Work
    began: float
    result: pathlib.Path
    log_begins: int  # after the words of earlier processes
    stopped: str = ""  # the bound that it passed
    message: str = ""  # says of that bound how large it is


def run(works: Sequence[Work], bounds: Bounds) -> Iterator[tuple[Work, Result]]:
    """Yields each piece of work with its result as it ends: with `seconds`, and if it gave none the `status` failed with a `reason`:
    limit_seconds, limit_memory or crash, which has the last words of its log. After the deadline nothing more comes; what runs then is ended."""
    waiting = list(reversed(works))
    running: dict[int, _Child] = {}
    ends = time.monotonic() + bounds.deadline if bounds.deadline else float("inf")
    with tempfile.TemporaryDirectory() as folder, _ended_at_last(running):
        while waiting or running:
            if time.monotonic() > ends:
                return
            while waiting and len(running) < bounds.workers:
                _start(waiting.pop(), pathlib.Path(folder), running)
            time.sleep(0.05)
            for pid, status in _list_ended(running):
                child = running.pop(pid)
                yield child.work, _read_result(child, status)
            for pid, child in running.items():
                _stop_large(pid, child, bounds)


@contextlib.contextmanager
def _ended_at_last(running: dict[int, _Child]) -> Iterator[None]:
    try:
        yield
    finally:
        for pid in running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _start(work: Work, folder: pathlib.Path, running: dict[int, _Child]) -> None:
    result = pathlib.Path(tempfile.mktemp(dir=folder))  # a folder of this process alone
    sys.stdout.flush()
    sys.stderr.flush()
    log_begins = work.log.stat().st_size if work.log.exists() else 0
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            _work_here(work, result)
            code = 0
        except BaseException:  # pylint: disable=broad-exception-caught  # the log is the only place that is left
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)  # not the parent's clean-up
    running[pid] = _Child(work, time.monotonic(), result, log_begins)


def _work_here(work: Work, result: pathlib.Path) -> None:
    work.log.parent.mkdir(parents=True, exist_ok=True)
    log = os.open(work.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable(2)  # a signal's stack goes into the log
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
        about = work.action()
    result.write_text(json.dumps(about))


def _list_ended(running: dict[int, _Child]) -> list[tuple[int, int]]:
    ended = []
    for pid in running:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            ended.append((found, status))
    return ended


def _stop_large(pid: int, child: _Child, bounds: Bounds) -> None:
    if child.stopped:
        return
    if time.monotonic() - child.began > bounds.seconds:
        child.stopped, child.message = "seconds", f"not done after {bounds.seconds:.0f} s"
    elif _resident_bytes(pid) > bounds.memory:
        child.stopped, child.message = "memory", f"more than {bounds.memory / (1 << 30):.3g} GiB"
    if child.stopped:
        os.kill(pid, signal.SIGKILL)


def _resident_bytes(pid: int) -> int:
    try:
        return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except OSError:
        return 0


def _read_result(child: _Child, status: int) -> Result:
    seconds = round(time.monotonic() - child.began, 1)
    try:
        result: Result = json.loads(child.result.read_text())
    except (OSError, ValueError):
        reason = f"limit_{child.stopped}" if child.stopped else "crash"
        message = child.message if child.stopped else f"the process ended with {_name_end(status)}: {read_last_words(child.work.log, child.log_begins)}"
        result = {"status": "failed", "reason": reason, "message": message}
    return {**result, "seconds": seconds}


def _name_end(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    with contextlib.suppress(ValueError):
        return f"{code} ({signal.Signals(-code).name})"
    return str(code)


def read_last_words(log: pathlib.Path, begins: int) -> str:
    """Returns the last lines of a log that are no frames of a stack, from a place on."""
    try:
        with log.open("rb") as file:
            file.seek(max(begins, log.stat().st_size - MOST_LOG_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError as error:
        return f"no log: {error.strerror}"
    words = [line.strip() for number, line in enumerate(lines) if line.strip() and not FRAME.match(line)
             and not (line.startswith("    ") and number and FRAME.match(lines[number - 1]))]
    return " | ".join(words[-MOST_WORDS:]) or "its log is empty"
