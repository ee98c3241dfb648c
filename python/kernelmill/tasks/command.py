"""The command `kernelmill export-tasks`. The program calls command() with its options."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

from kernelmill.errors import Error, RequestError
from kernelmill.tasks.export import FORMATS, Settings, Summary, export

NOTHING, WRONG = 1, 2  # exit codes, as the program's


def command(options: str) -> int:
    """Runs the command with its options, a JSON object. Returns the exit code; 1: no task could be exported."""
    given = json.loads(options)
    try:
        summary = _export(given)
    except Error as error:
        message = str(error)
    except ModuleNotFoundError as error:
        message = f"{error}: pip install 'kernelmill[run]' installs what is missing"
    else:
        print(json.dumps(vars(summary)) if given["json"] else text(summary, given["format"], given["out"]))
        return 0 if summary.exported else NOTHING
    print(json.dumps({"error": message}) if given["json"] else f"kernelmill export-tasks: {message}", file=sys.stderr)
    return WRONG


def _export(given: dict[str, Any]) -> Summary:
    if given["format"] not in FORMATS:
        raise RequestError(f"--format must be one of {', '.join(FORMATS)}: {given['format']}")
    settings = Settings(format=given["format"], out=pathlib.Path(given["out"]), evidence=given["evidence"], verified=given["verified"],
                        bytes=given["task_bytes"], python=given["python"] or sys.executable, confined=not given["unsafe_no_sandbox"])
    shown = sys.stderr.isatty() and not given["json"]
    return export(pathlib.Path(given["dataset"]), settings, _show if shown else lambda name: None)


def _show(name: str) -> None:
    print(f"\r\033[K{name[:100]}", end="", file=sys.stderr, flush=True)


def text(summary: Summary, form: str, out: str) -> str:
    """Returns what the end of an export says."""
    def counted(counts: dict[str, int]) -> str:
        return ", ".join(f"{reason} {count}" for reason, count in sorted(counts.items()) if count)

    files = f"; {counted(summary.files)}" if summary.files else ""
    lines = [f"{out}: {summary.exported} of {summary.tasks} tasks as {form}, {summary.cases} cases{files}"]
    if summary.bound or summary.unbound:
        lines.append(f"references bound: {summary.bound}; not: {counted(summary.unbound) or 'none'}")
    if any(summary.tasks_left.values()):
        lines.append(f"tasks left out: {counted(summary.tasks_left)}")
    if any(summary.cases_left.values()):
        lines.append(f"cases left out: {counted(summary.cases_left)}")
    return "\n".join(lines)
