"""The commands `kernelmill record` and `kernelmill run`. The program calls command() with their options; on a machine that has only a
bundle, `python3 -m kernelmill.execution.command` takes them as flags."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
from collections import Counter
from typing import Any

from kernelmill.errors import Error, RequestError
from kernelmill.execution import bundle, changes, claims, confinement, recording, replay, speed
from kernelmill.execution.case import Row
from kernelmill.execution.evidence import Evidence
from kernelmill.execution.runner import Bounds, check_device

DIFFERENT, WRONG = 1, 2  # exit codes, as the program's


def record(options: dict[str, Any]) -> int:
    """Runs `kernelmill record`. Exit code 1: a repository gave no case."""
    if not options["unsafe_no_container"]:
        recording.check_container()
    repositories = {}
    for each in options["repository"]:
        name, equals, folder = each.rpartition("=")
        if not equals or not os.path.isdir(folder):
            raise RequestError(f"--repository must be NAME=FOLDER, with the folder of a checkout: {each}")
        repositories[name] = folder
    evidence = Evidence(options["evidence"])
    settings = recording.Settings(
        device=options["device"], tests=tuple(options["tests"]), python=options["python"] or sys.executable, seconds=options["seconds"],
        test_seconds=options["test_seconds"], cases=options["cases"], size=options["case_bytes"], lock=options["lock"],
        arguments=tuple(options["pytest_argument"]), logs=options["logs"])
    rows = [each.row for each in recording.record(options["dataset"], evidence, repositories, settings)]
    for row in rows:
        print(json.dumps(row) if options["json"] else _recording_text(row))
    return 0 if all(row["cases"] for row in rows) else DIFFERENT


def _recording_text(row: Row) -> str:
    tests = ", ".join(f"{count} {outcome}" for outcome, count in row["tests"].items()) or "none ran"
    refused = ", ".join(f"{reason} {count}" for reason, count in row["refused"].items())
    last = f"\n  refused: {refused}" if refused else ""
    last += "".join(f"\n  failed {count}: {why}" for why, count in row["failures"])
    if not row["tests"]:
        last += "\n  no test began: the Python of --python needs torch, Triton and pytest; --logs FOLDER keeps what pytest printed"
    return (f"{row['repository']}: {row['cases']} cases of {row['recorded']} kernels; {row['reached']} of {row['kernels']} reached, "
            f"{row['enough']} with three cases and a ragged one\n  tests: {tests}; {row['seconds']} s{last}")


def run(options: dict[str, Any]) -> int:
    """Runs `kernelmill run`. Exit code 1: a kernel does not do what was recorded."""
    check_device(options["device"])
    dataset = pathlib.Path(options["dataset"])
    own = dataset / bundle.EVIDENCE  # a bundle has it
    file = options["evidence"] or (str(own) if own.exists() else bundle.EVIDENCE)
    if not os.path.exists(file) and not options["merge"]:
        raise RequestError(f"{file}: no such file; `kernelmill record` writes it, --evidence names another one")
    evidence = Evidence(file)
    for each in options["merge"]:
        evidence.merge(Evidence(each))
    if options["bundle"]:
        wanted = [each.row for each, _ in changes.with_cases(dataset, evidence)] if options["changes"] else []
        count = bundle.pack(dataset, evidence, options["bundle"], wanted)
        print(json.dumps({"kernels": count}) if options["json"] else f"{options['bundle']}: {count} kernels")
        return 0
    confined = not options["unsafe_no_sandbox"]
    if confined:
        confinement.check_hidden(str(evidence.file), options["device"] != "cpu")
    settings = replay.Settings(
        device=options["device"], workers=options["workers"], mutants=options["mutants"], threshold=options["threshold"],
        made=options["made"], deadline=options["deadline"] or float("inf"), bounds=Bounds(seconds=options["case_seconds"]),
        confined=confined, python=options["python"] or sys.executable, kernels=tuple(options["kernel"]))
    shown = sys.stderr.isatty() and not options["json"]
    if options["speed"] or options["changes"]:
        if options["device"] == "cpu":
            raise RequestError(f"--{'speed' if options['speed'] else 'changes'} needs a GPU: Triton's interpreter says nothing about speed")
    if options["changes"]:
        return _changes(dataset, evidence, settings, options["json"], shown)
    if options["speed"]:
        return _speed(dataset, evidence, settings, options["json"], shown)
    summary = replay.run(dataset, evidence, settings, _show if shown else lambda done, kernels: None)
    print(json.dumps(vars(summary)) if options["json"] else _run_text(summary))
    return DIFFERENT if summary.outcomes["different"] or summary.outcomes["error"] or summary.errors else 0


def _speed(dataset: pathlib.Path, evidence: Evidence, settings: replay.Settings, as_json: bool, shown: bool) -> int:
    """Times the kernels. Exit code 1: one could not be timed."""
    from kernelmill.tasks.bound import BoundReferences, read_candidates  # they need the package of this module

    given = speed.Settings(device=settings.device, workers=settings.workers, deadline=settings.deadline, confined=settings.confined,
                           bounds=Bounds(seconds=min(settings.bounds.seconds, speed.Settings().bounds.seconds)),
                           python=settings.python, kernels=settings.kernels)
    tests = read_candidates(dataset)
    summary = speed.run(dataset, evidence, given, lambda: BoundReferences(tests, given.python, given.confined),
                        lambda kernel: str(kernel.row["id"]) in tests, _show if shown else lambda done, kernels: None)
    print(json.dumps(vars(summary)) if as_json else _speed_text(summary))
    return DIFFERENT if summary.errors or any(each.startswith("kernel: ") for each in summary.failed) else 0


def _speed_text(summary: speed.Summary) -> str:
    def counted(counts: Counter[str]) -> str:
        return ", ".join(f"{reason} {count}" for reason, count in counts.most_common())

    lines = [f"{summary.hardware or summary.device}: {summary.measured} kernels timed, {summary.filling} at a size that fills it, "
             f"{summary.checked} of these checked against a reference; {summary.skipped} known before; {summary.seconds} s",
             f"references timed: eager {summary.eager}, compiled {summary.compiled}; noisy: {summary.noisy}"]
    if summary.small:
        lines.append(f"on a recorded case, or on one that is too small: {counted(summary.small)}")
    if summary.failed:
        lines.append(f"not timed: {counted(summary.failed)}")
    if summary.left:
        lines.append(f"left: {summary.left} kernels; the same command goes on with them")
    return "\n".join([*lines, *summary.errors])


def _changes(dataset: pathlib.Path, evidence: Evidence, settings: replay.Settings, as_json: bool, shown: bool) -> int:
    """Times the versions of changes. Exit code 1: there were errors."""
    given = speed.Settings(device=settings.device, workers=settings.workers, deadline=settings.deadline, confined=settings.confined,
                             bounds=settings.bounds, python=settings.python, kernels=settings.kernels)
    summary = changes.run(dataset, evidence, given, progress=_show if shown else lambda done, kernels: None)
    counts = claims.count(claims.join(changes.read_rows(dataset), evidence.rows("change")))
    if as_json:
        print(json.dumps({**vars(summary), "repositories": {name: vars(each) for name, each in counts.items()}}))
    else:
        print(_changes_text(summary, counts))
    return DIFFERENT if summary.errors else 0


def _changes_text(summary: changes.Summary, counts: dict[str, claims.Counts]) -> str:
    why = ", ".join(f"{reason} {count}" for reason, count in summary.unmeasured.most_common())
    lines = [f"{summary.hardware or summary.device}: {summary.measured} changes timed, {summary.agree} with the same results; "
             f"{summary.faster} faster, {summary.slower} slower, {summary.noisy} noisy; {summary.skipped} known before; "
             f"{summary.seconds} s",
             f"without a case: {summary.without_case}; not timed: {why or 'none'}"]
    lines += [f"{name}: {each.stated} claims that compare, {each.replayed} replayed; the direction of {each.direction} holds, "
              f"and the number of {each.number} of {each.numbers}" for name, each in sorted(counts.items()) if each.stated]
    if summary.left:
        lines.append(f"left: {summary.left} changes; the same command goes on with them")
    return "\n".join([*lines, *summary.errors])


def _show(done: int, kernels: int) -> None:
    print(f"\r{done} of {kernels} kernels", end="\n" if done == kernels else "", file=sys.stderr, flush=True)


def _run_text(summary: replay.Summary) -> str:
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(summary.outcomes.items())) or "nothing new"
    lines = [f"{summary.device}: {outcomes}; {summary.skipped} known before; {summary.seconds} s"]
    if summary.scored or summary.made:
        lines.append(f"scored: {summary.scored} kernels; made: {summary.made} cases")
    if summary.left:
        lines.append(f"left: {summary.left} kernels; the same command goes on with them")
    return "\n".join([*lines, *summary.errors])


COMMANDS = {"record": record, "run": run}


def command(name: str, options: str) -> int:
    """Runs a command with its options, a JSON object. Returns the exit code."""
    return _guarded(name, json.loads(options))


def _guarded(name: str, options: dict[str, Any]) -> int:
    try:
        return COMMANDS[name](options)
    except Error as error:
        message = str(error)
    except ModuleNotFoundError as error:
        message = f"{error}: pip install 'kernelmill[run]' installs what is missing"
    print(json.dumps({"error": message}) if options["json"] else f"kernelmill {name}: {message}", file=sys.stderr)
    return WRONG


FLAGS: dict[str, tuple[tuple[str, type[Any], Any], ...]] = {
    "record": (("--device", str, "cpu"), ("--python", str, ""), ("--lock", str, ""), ("--logs", str, ""), ("--seconds", int, 3600),
               ("--test-seconds", int, 60), ("--cases", int, 6), ("--case-bytes", int, 1 << 20), ("--evidence", str, "evidence.jsonl")),
    "run": (("--device", str, "cpu"), ("--python", str, ""), ("--workers", int, 1), ("--mutants", int, 0), ("--threshold", float, 0.9),
            ("--made", int, 4), ("--deadline", float, 0), ("--case-seconds", int, 60), ("--bundle", str, ""), ("--evidence", str, ""))}
LISTS = {"record": ("--repository", "--tests", "--pytest-argument"), "run": ("--merge", "--kernel")}
SWITCHES = {"record": ("--json", "--unsafe-no-container"), "run": ("--json", "--unsafe-no-sandbox", "--speed", "--changes")}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kernelmill")
    commands = parser.add_subparsers(dest="name", required=True)
    for name, flags in FLAGS.items():
        one = commands.add_parser(name)
        one.add_argument("dataset")
        for flag, kind, default in flags:
            one.add_argument(flag, type=kind, default=default)
        for flag in LISTS[name]:
            one.add_argument(flag, action="append", default=[])
        for flag in SWITCHES[name]:
            one.add_argument(flag, action="store_true")
    return parser


if __name__ == "__main__":
    arguments = vars(_parser().parse_args())
    sys.exit(_guarded(arguments.pop("name"), arguments))
