"""Times the kernels of a bundle on all GPUs of a machine at once, each process `kernelmill run --speed` on some kernels.

Threads of one process would share Python's lock, and larger cases take seconds of it. The processes of a GPU time one at a time."""

import collections
import json
import pathlib
import time

import machine
from kernelmill.execution import bundle
from kernelmill.execution.evidence import Evidence
from results import MIB, copy_cases, group_cases, place_of, write_parts

CASE_SECONDS = 20
ENDING = 35  # seconds that a process may take to end


def measure(options):
    work = machine.make_folder(pathlib.Path(options.work).resolve())
    machine.unpack(options.bundle, work)
    data, environment = work / "bundle", machine.environment(work / "site")
    source = Evidence(data / bundle.EVIDENCE)
    known = {place_of(row) for row in source.rows("speed")}
    kernels = {place: rows for place, rows in group_cases(source).items() if place not in known}
    gpus = machine.find_gpus(options.device)
    count = len(gpus) * options.processes
    running = {}
    for number in range(count):
        name = f"gpu-{number % len(gpus)}-{number // len(gpus)}"
        rows = [row for place in sorted(kernels)[number::count] for row in kernels[place]]
        evidence = copy_cases(source, rows, work / name / bundle.EVIDENCE)
        command = ["run", data, "--evidence", evidence.file, "--device", options.device, "--speed", "--workers", 1,
                   "--case-seconds", CASE_SECONDS, "--deadline", options.seconds, "--json",
                   *(["--unsafe-no-sandbox"] if options.unsafe_no_sandbox else [])]
        running[name] = machine.start(command, work / name / "printed", {**environment, "CUDA_VISIBLE_DEVICES": gpus[number % len(gpus)]})
    machine.say(f"{len(kernels)} kernels, {count} processes on {len(gpus)} GPUs")
    while any(each.poll() is None for each in running.values()) and machine.seconds() < options.seconds + ENDING:
        time.sleep(0.2)
    machine.kill(running.values())
    new, failed, left = Evidence(work / "timed/evidence.jsonl"), collections.Counter(), 0
    for name, process in running.items():
        printed = (work / name / "printed").read_text()
        try:
            summary = json.loads(printed.splitlines()[-1])
            failed.update(summary["failed"])
            left += summary["left"]
        except (ValueError, IndexError, KeyError):
            machine.say(f"{name}: exit {process.returncode} {printed[-400:].strip()}")
        for row in Evidence(work / name / bundle.EVIDENCE).rows("speed"):
            new.add(row)
    new.save()
    machine.say(f"left: {left} kernels; failed: {dict(failed)}")
    print_speeds(new)
    size = write_parts(pathlib.Path(options.out), "timed", work / "timed", options.part_mib * MIB)
    machine.say(f"wrote {size} bytes")


def print_speeds(evidence):
    rows = list(evidence.rows("speed"))
    reasons = collections.Counter(row["reason"] for row in rows if row["reason"])
    print(f"{len(rows)} kernels timed, {sum(row['fills'] for row in rows)} at a size that fills the device, "
          f"{sum(row['checked'] for row in rows)} checked against a reference, {sum('eager_us' in row for row in rows)} beside it in eager form, "
          f"{sum('compiled_us' in row for row in rows)} in compiled form; noisy: {sum(row['noisy'] for row in rows)}; not grown: {dict(reasons)}")
