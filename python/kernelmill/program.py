"""Runs the program that the wheel carries: crawls in one process, exports, and reads job files as every client does."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from kernelmill.dataset import Dataset, load
from kernelmill.errors import Error, NotFound, NotPermitted, ProgramError, RequestError, TimedOut, Unreachable

# A job: a mapping with a job file's keys; a job file's text, which has a line break; or a job file's path.
Job = Union[Mapping[str, Any], str, "os.PathLike[str]"]

WRONG, OUT_OF_REACH = 2, 3  # exit codes


def path_of_program() -> str:
    """KERNELMILL_PROGRAM, or the one in the wheel."""
    from kernelmill.__main__ import PROGRAM

    return os.environ.get("KERNELMILL_PROGRAM") or PROGRAM


@dataclass(frozen=True)
class Finished:
    """How the program ended, where it ended as it should: 0, or 1 where inputs failed or a gate was missed."""

    exit_code: int
    output: str
    # What it said while it worked, a line each.
    notes: tuple[str, ...]


def _complaint(stderr: str) -> tuple[str, str]:
    """What went wrong and the name of its status; of events that are JSON lines, or of plain text."""
    for line in reversed(stderr.splitlines()):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and "error" in value:
            return str(value["error"]), str(value.get("code", ""))
    return stderr.strip(), ""


def _error(exit_code: int, stderr: str) -> Error:
    message, code = _complaint(stderr)
    if code == "NOT_FOUND":
        return NotFound(message, code)
    if code == "PERMISSION_DENIED":
        return NotPermitted(message, code)
    if exit_code == WRONG:
        return RequestError(message, code or "INVALID_ARGUMENT")
    if exit_code == OUT_OF_REACH:
        return Unreachable(message)
    return ProgramError(message or f"it ended with {exit_code}", exit_code)


def run(arguments: Sequence[str | os.PathLike[str]], *, text: str | None = None, folder: str | os.PathLike[str] | None = None,
        timeout: float | None = None, fails: Sequence[int] = ()) -> Finished:
    """Runs `kernelmill ARGUMENTS --json`, `text` on its standard input, in `folder`. Exit codes of `fails` are none of its
    errors. RequestError, Unreachable, ProgramError; TimedOut, and it is ended, after `timeout` seconds."""
    from kernelmill.__main__ import environment

    command = [path_of_program(), *(os.fspath(a) for a in arguments), "--json"]
    try:
        done = subprocess.run(command, input=text or "", capture_output=True, encoding="utf-8", errors="replace",
                              cwd=folder, env=environment(), timeout=timeout, check=False)
    except subprocess.TimeoutExpired as error:
        raise TimedOut(f"kernelmill {command[1]} took more than {timeout} seconds") from error
    except OSError as error:
        raise ProgramError(f"{command[0]}: {error.strerror}") from error
    if done.returncode != 0 and done.returncode not in fails:
        raise _error(done.returncode, done.stderr)
    return Finished(done.returncode, done.stdout, tuple(done.stderr.splitlines()))


def job_argument(job: Job) -> tuple[str, str | None]:
    """What a command is given as its job file, and as its standard input."""
    if isinstance(job, Mapping):  # JSON is YAML
        return "-", json.dumps(job, ensure_ascii=False, default=os.fspath)
    if isinstance(job, str) and "\n" in job:
        return "-", job
    return os.fspath(job), None


@dataclass(frozen=True)
class Exported:
    """A dataset that was written to a folder."""

    folder: pathlib.Path
    # hash/size
    dataset: str
    job: str
    # Whether all inputs could be had and every gate holds; what is amiss stands in load().report.
    complete: bool

    def load(self) -> Dataset:
        return load(self.folder)


def exported(done: Finished, folder: str | os.PathLike[str]) -> Exported:
    """What a command with --out printed. ProgramError: the job ended without a dataset, or printed none."""
    try:
        summary = json.loads(done.output.splitlines()[-1])
        dataset, job, code = str(summary["dataset"]), str(summary["job"]["job"]), int(summary["exit"])
    except (ValueError, LookupError, TypeError) as error:
        raise ProgramError(_complaint("\n".join(done.notes))[0] or "it printed no summary", done.exit_code) from error
    if not dataset:
        failures = summary["job"].get("failures", [])
        reasons = "; ".join(f"{f.get('source', '')}: {f.get('message', '')}" for f in failures[:3])
        raise ProgramError(f"job {job} ended without a dataset" + (f": {reasons}" if reasons else ""), code)
    return Exported(pathlib.Path(folder), dataset, job, done.exit_code == 0)


def crawl(job: Job, out: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None, workers: int | None = None,
          no_cache: bool = False, timeout: float | None = None) -> Exported:
    """Runs a whole job in one process of this machine, and writes its dataset to the folder `out`. `data` keeps results
    for the next run. Paths in a mapping or a text are relative to the working folder, those in a file to the file's."""
    file, text = job_argument(job)
    arguments: list[str | os.PathLike[str]] = ["crawl", file, "--out", out]
    if data is not None:
        arguments += ["--data", data]
    if workers is not None:
        arguments += ["--workers", str(workers)]
    if no_cache:
        arguments.append("--no-cache")
    return exported(run(arguments, text=text, timeout=timeout, fails=(1,)), out)


def check(job: Job) -> dict[str, Any]:
    """The job as it would be handed in: its lists read, its words as the proto has them. RequestError: what is wrong in
    it, and where."""
    file, text = job_argument(job)
    spec: dict[str, Any] = json.loads(run(["check", file], text=text).output)
    return spec
