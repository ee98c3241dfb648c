"""Replays and scores cases in many processes on GPUs and on the interpreter at once, each `kernelmill run` on some kernels.

One process judges few kernels at a time, and a GPU's driver makes contexts one after another. So each GPU gets a process of some
workers, and the interpreter the small kernels. In a second round the GPUs get what the first one did not finish."""

import collections
import math
import pathlib
import shutil
import time

import machine
from kernelmill.execution import bundle
from kernelmill.execution.evidence import Evidence, tensors_of
from kernelmill.execution.rows import FILE
from results import MIB, copy_cases, group_cases, place_of, write_parts

MUTANTS, MADE, CASE_SECONDS = 10, 3, 30
WORKERS = 4  # the most in a process on the interpreter
MOST_PROGRAMS, MOST_BYTES = 128, 1 << 20  # the interpreter runs such a case fast enough
FIRST = 0.6  # the share of the time that the first round gets
ENDING = 35  # seconds that a process may take to end


def is_small(rows):
    return all(math.prod(row["grid"]) <= MOST_PROGRAMS and sum(each["bytes"] for each in row["storages"]) <= MOST_BYTES for row in rows)


def divide(kernels, options, tried):
    """Returns {name of a process: (its GPU, None for the interpreter, workers, kernels)}. A kernel's module decides, such that the
    interpreter gets --share of all modules."""
    cpu = [place for place in sorted(kernels) if options.device == "cpu" or place not in tried and is_small(kernels[place])
           and int(place[0][:8], 16) < options.share * (1 << 32)]
    gpu = sorted(kernels.keys() - set(cpu))
    gpus = machine.find_gpus(options.device) if gpu else []
    count = -(-options.interpreter_workers // WORKERS)
    parts = {f"gpu-{number}": (name, options.gpu_workers, gpu[number::len(gpus)]) for number, name in enumerate(gpus)}
    parts |= {f"cpu-{number}": (None, min(WORKERS, options.interpreter_workers), cpu[number::count]) for number in range(count)}
    return {name: part for name, part in parts.items() if part[2]}


class Scoring:
    """The rounds of a run. `new`: the rows that they add."""

    def __init__(self, data, source, work, options):
        self._data, self._source, self._work, self._options = data, source, work, options
        self._tried = set()
        self.new = Evidence(work / "scored/evidence.jsonl")
        self._environment = machine.environment(work.parent / "site")

    def run_round(self, name, kernels, until):
        """Scores kernels, as many as it can until then."""
        parts = divide(kernels, self._options, self._tried)
        self._tried |= kernels.keys()
        machine.say(f"{name}: {len(kernels)} kernels, on the interpreter {sum(len(each[2]) for each in parts.values() if each[0] is None)}")
        running = {part: self._start(self._work / name / part, *given, kernels, until) for part, given in parts.items()}
        while any(each.poll() is None for each in running.values()) and machine.seconds() < until + ENDING:
            time.sleep(0.2)
        machine.kill(running.values())
        for part, process in running.items():
            machine.say(f"{name} {part}: exit {process.returncode} {(self._work / name / part / 'printed').read_text()[-400:].strip()}")
            self._add(Evidence(self._work / name / part / bundle.EVIDENCE))

    def _start(self, folder, gpu, workers, places, kernels, until):
        rows = [row for place in places for row in kernels[place]]
        evidence = copy_cases(self._source, rows, folder / bundle.EVIDENCE)
        command = ["run", self._data, "--evidence", evidence.file, "--device", self._options.device if gpu is not None else "cpu",
                   "--workers", workers, "--mutants", MUTANTS, "--made", MADE, "--case-seconds", CASE_SECONDS,
                   "--deadline", max(5, int(until - machine.seconds())), *(["--unsafe-no-sandbox"] if self._options.unsafe_no_sandbox else [])]
        return machine.start(command, folder / "printed", {**self._environment, **({"CUDA_VISIBLE_DEVICES": gpu} if gpu is not None else {})})

    def _add(self, evidence):
        for row in (*evidence.rows("result"), *evidence.rows("adequacy")):
            if not self._source.has(row):
                self.new.add(row)
        for row in evidence.rows("case"):
            if "made" in row["origin"]:
                self.new.add(row)
                for digest in tensors_of(row):
                    self.new.put(evidence.get(digest))


def score(options):
    folder, recorded = pathlib.Path(options.folder), pathlib.Path(options.work).resolve()
    work, data = machine.make_folder(recorded / "score"), recorded
    if not (data / FILE).exists():  # `record` did not run here
        machine.unpack(folder / "bundle.tar.gz", work)
        data = work / "bundle"
    source = Evidence(data / bundle.EVIDENCE)
    referenced = set((folder / "referenced.txt").read_text().split())
    kernels = group_cases(source)
    first = {place: rows for place, rows in kernels.items() if place[0] in referenced}
    scoring = Scoring(data, source, work, options)
    scoring.run_round("first", first, FIRST * options.seconds)
    scored = {place_of(row) for row in scoring.new.rows("adequacy")}
    scoring.run_round("second", {place: rows for place, rows in kernels.items() if place not in scored}, options.seconds)
    scoring.new.save()
    for logs in work.glob("*/*/printed"):
        shutil.copy(logs, work / "scored" / f"{logs.parent.parent.name}-{logs.parent.name}.log")
    print_scores(scoring.new)
    size = write_parts(pathlib.Path(options.out), "scored", work / "scored", options.part_mib * MIB)
    machine.say(f"wrote {size} bytes")


def print_scores(evidence):
    outcomes = collections.Counter((row["device"], row["outcome"]) for row in evidence.rows("result"))
    counts = ", ".join(f"{outcome} on {device} {count}" for (device, outcome), count in sorted(outcomes.items()))
    print(f"replayed: {counts or 'nothing'}")
    scores = collections.defaultdict(list)
    for row in evidence.rows("adequacy"):
        if row["score"] is not None:
            scores[row["device"]].append(row["score"])
    for device, found in sorted(scores.items()):
        print(f"{device}: {len(found)} kernels scored, mean {sum(found) / len(found):.2f}, {sum(each >= 0.8 for each in found)} reach 0.8")
