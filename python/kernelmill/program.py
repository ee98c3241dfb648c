"""Runs the program: crawls in one process, exports datasets, and reads job files as other clients do."""

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
    """Returns KERNELMILL_PROGRAM, or the path of the wheel's program, or else of the one in PATH. ProgramError: all are missing."""
    from kernelmill.__main__ import MISSING, find_program

    program = find_program()
    if program is None:
        raise ProgramError(MISSING)
    return program


@dataclass(frozen=True)
class Finished:
    """The result of a normal end of the program: exit code 0, or 1 if inputs failed or a gate was missed."""

    exit_code: int
    output: str
    # The lines of its standard error.
    notes: tuple[str, ...]


def _complaint(stderr: str) -> tuple[str, str]:
    """Returns the error message and its status name, from JSON events or plain text; the name is empty for plain text."""
    for line in reversed(stderr.splitlines()):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and value.get("type") == "error":
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
    """Runs `kernelmill ARGUMENTS --json` in `folder`, with `text` on its standard input. Exit codes in `fails` do not raise.
    RequestError, NotFound, NotPermitted, Unreachable, ProgramError. TimedOut: it took `timeout` seconds, and is killed."""
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
    """Returns a command's job file argument and its standard input."""
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
    # True if no input failed and every gate holds; load().report lists the problems.
    complete: bool

    def load(self) -> Dataset:
        return load(self.folder)


def exported(done: Finished, folder: str | os.PathLike[str]) -> Exported:
    """Parses the summary that a command with --out prints. ProgramError: the summary is missing, or the job has no dataset."""
    try:
        summary = json.loads(done.output.splitlines()[-1])
        dataset, job, code = summary["dataset"], str(summary["job"]["job"]), int(summary["exit"])
    except (ValueError, LookupError, TypeError) as error:
        raise ProgramError(_complaint("\n".join(done.notes))[0] or "it printed no summary", done.exit_code) from error
    if not dataset:
        failures = summary["job"].get("failures", [])
        reasons = "; ".join(f"{f.get('source', '')}: {f.get('message', '')}" for f in failures[:3])
        raise ProgramError(f"job {job} ended without a dataset" + (f": {reasons}" if reasons else ""), code)
    return Exported(pathlib.Path(folder), dataset, job, done.exit_code == 0)


def crawl(job: Job, out: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None, workers: int | None = None,
          no_cache: bool = False, timeout: float | None = None) -> Exported:
    """Runs a whole job in one process on this machine, and writes its dataset to the folder `out`. `data` keeps results for the
    next run. Paths in a mapping or text are relative to the working folder; paths in a job file are relative to its folder."""
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
    """Returns the job as submit() sends it: the lists that it names are read; keys and words are those of a job file, with all
    defaults. RequestError: the job is wrong, or a local source is missing; the message says where."""
    file, text = job_argument(job)
    done = run(["check", file], text=text, fails=(1,))
    if done.exit_code == 1:
        events = [json.loads(line) for line in done.notes]
        raise RequestError("; ".join(f"{e['source']}: {e['error']['message']}" for e in events if e["type"] == "source_failed"),
                           "INVALID_ARGUMENT")
    spec: dict[str, Any] = json.loads(done.output)
    del spec["type"]
    return spec
