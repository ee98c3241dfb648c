"""Runs the tasks of a queue in many processes until a deadline, each `kernelmill record` on some test files, and merges their cases."""

import collections
import json
import pathlib
import shutil
import time

import machine
from kernelmill.errors import Error
from kernelmill.execution import recording
from kernelmill.execution.evidence import Evidence
from results import MIB, choose, copy_cases, group_cases, place_of, write_parts

SECONDS, TEST_SECONDS = 100, 40  # the most for a task, for a test
ENDING, LEAST = 12, 25  # a task takes so long to end; none begins with less left
LOG_BYTES = 8000
STATUS = {0: "cases", 1: "no case"}


class Task:
    """A row of the queue, its process, and the evidence that it leaves."""

    def __init__(self, row, folder, work, options):
        self.row, self.folder, self._work, self._options = row, folder, work, options
        self.repository, self.status, self.process = row["repository"], "not begun", None

    def start(self, gpu, seconds):
        """`gpu`: as CUDA_VISIBLE_DEVICES names it, None for the processor."""
        source, site = self._work / "src" / self.repository.replace("/", "+"), self._work / "site"
        home = self.folder / "home"
        home.mkdir(parents=True)
        own = {key: value.replace("{site}", str(site)) for key, value in self.row.get("env", {}).items()}
        env = machine.environment(site, [source / each for each in self.row.get("paths", [])], HOME=str(home), TMPDIR=str(home), **own)
        if gpu is not None:
            env["CUDA_VISIBLE_DEVICES"] = gpu
        command = ["record", self._work, "--repository", f"{self.repository}={source}", "--evidence", self.folder / "evidence.jsonl",
                   "--device", self._options.device, "--seconds", int(seconds), "--test-seconds", TEST_SECONDS,
                   "--logs", self.folder / "logs", "--unsafe-no-container"]  # record() has checked it for all
        command += [f"--tests={each}" for each in self.row["tests"]]
        command += [f"--pytest-argument={each}" for each in self.row.get("arguments", [])]
        self.process = machine.start(command, self.folder / "printed", env)

    def end(self, evidence):
        """Kills the process if it runs still, and adds its evidence."""
        late = self.process.poll() is None
        machine.kill([self.process])
        self.status = "killed" if late else STATUS.get(self.process.returncode, f"exit {self.process.returncode}")
        shutil.rmtree(self.folder / "home", ignore_errors=True)
        try:
            evidence.merge(Evidence(self.folder / "evidence.jsonl"))
        except Error as error:  # the others' evidence is not damaged
            self.status = str(error)

    def log(self):
        files = [self.folder / "printed", *sorted((self.folder / "logs").glob("*.log"))]
        return "\n".join(file.read_text("utf-8", "replace")[-LOG_BYTES:] for file in files)


def run_tasks(tasks, evidence, options):
    gpus = machine.find_gpus(options.device)
    waiting, running, free = collections.deque(tasks), {}, collections.deque(range(options.processes))
    told = 0
    while waiting or running:
        left = options.seconds - machine.seconds()
        if left <= 0 or left < LEAST and not running:
            break
        while waiting and free and left >= LEAST:
            slot, task = free.popleft(), waiting.popleft()
            task.start(gpus[slot % len(gpus)], min(SECONDS, left - ENDING))
            running[slot] = task
        for slot in [slot for slot, task in running.items() if task.process.poll() is not None]:
            running.pop(slot).end(evidence)
            free.append(slot)
        if machine.seconds() - told >= 30:
            told = machine.seconds()
            machine.say(f"{len(running)} tasks run, {len(waiting)} wait; {len(group_cases(evidence))} kernels with cases")
        time.sleep(0.1)
    for task in running.values():
        task.end(evidence)


def record(options):
    if not options.unsafe_no_container:
        recording.check_container()
    folder, work = pathlib.Path(options.folder), machine.make_folder(pathlib.Path(options.work).resolve())
    machine.unpack(folder / "sources.tar.gz", work)
    machine.install_wheels(folder / "wheels", work / "site")
    rows = [json.loads(line) for line in (folder / "queue.jsonl").read_text("utf-8").splitlines()]
    tasks = [Task(row, work / "tasks" / f"{number:04}", work, options) for number, row in enumerate(rows)]
    machine.say(f"{len(tasks)} tasks of {len({task.repository for task in tasks})} repositories, {options.processes} processes")
    evidence = Evidence(work / "evidence.jsonl")
    run_tasks(tasks, evidence, options)
    evidence.save()
    print_repositories(tasks, evidence)
    kernels = group_cases(evidence)
    chosen = choose(evidence, kernels, set((folder / "referenced.txt").read_text().split()), options.most_mib * MIB)
    part = copy_cases(evidence, chosen, work / "recorded/evidence.jsonl")
    for row in evidence.rows("recording"):
        part.add(row)
    part.save()
    write_logs(tasks, work / "recorded/logs")
    size = write_parts(pathlib.Path(options.out), "recorded", work / "recorded", options.part_mib * MIB)
    machine.say(f"{len(kernels)} kernels with cases; {len(chosen)} of {sum(map(len, kernels.values()))} cases in {size} bytes")


def write_logs(tasks, folder):
    folder.mkdir()
    for task in tasks:
        if task.process:
            name = f"{task.folder.name}-{task.repository.replace('/', '+')}.log"
            (folder / name).write_text(" ".join([task.status, *task.row["tests"]]) + "\n" + task.log(), encoding="utf-8")


def print_repositories(tasks, evidence):
    cases, kernels, counts = collections.Counter(), collections.defaultdict(set), collections.defaultdict(collections.Counter)
    for row in evidence.rows("case"):
        name = row["origin"]["recorded"]["repository"]
        cases[name] += 1
        kernels[name].add(place_of(row))
    for row in evidence.rows("recording"):
        for kind in ("tests", "refused", "failures"):
            for why, count in dict(row[kind]).items():
                counts[row["repository"], kind][why] += count
    for name in sorted({task.repository for task in tasks}, key=lambda name: (-len(kernels[name]), name)):
        def counted(given, most=6):
            return ", ".join(f"{why} {count}" for why, count in given.most_common(most)) or "none"

        statuses = collections.Counter(task.status for task in tasks if task.repository == name)
        print(f"{name}: {cases[name]} cases of {len(kernels[name])} kernels; tasks: {counted(statuses)}; tests: "
              f"{counted(counts[name, 'tests'])}; refused: {counted(counts[name, 'refused'])}")
        for why, count in counts[name, "failures"].most_common(3):
            print(f"    failed {count}: {why[:140]}")
