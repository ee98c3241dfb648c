"""Records cases: runs a repository's own tests under the recorder, and binds what they launched to the rows of a dataset."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kernelmill.errors import ProgramError, RequestError
from kernelmill.execution import elements, harness
from kernelmill.execution.case import Case, Row
from kernelmill.execution.evidence import Evidence
from kernelmill.execution.rows import KernelRow, read_kernels
from kernelmill.execution.runner import check_device

CONTAINERS = ("/.dockerenv", "/run/.containerenv")
MOST_PROCESSES = 100
INTERPRETED_PROGRAMS = 1024
TF32_TOLERANCE = 4e-3
FAILURES = 5  # the most reasons why tests fail, the frequent ones first
# Prints what the tests run with.
DESCRIBE = """
import importlib.metadata, json, sys
def version(name):
    try: return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError: return ""
installed = [(d.metadata["Name"], d.version) for d in importlib.metadata.distributions()]
packages = sorted({f"{name.lower().replace('_', '-')}=={version}" for name, version in installed if name})
print(json.dumps({"toolchain": {n: version(n) for n in ("triton", "torch", "numpy")}, "packages": packages}))
"""


@dataclass(frozen=True)
class Settings:
    """How tests are run. `seconds` bounds a repository, `test_seconds` a test; `lock` names the packages that must be installed;
    `logs` is a folder that gets what pytest printed."""

    device: str = "cpu"
    tests: Sequence[str] = ()
    python: str = sys.executable
    seconds: int = 3600
    test_seconds: int = 60
    cases: int = 6
    size: int = 1 << 20
    lock: str = ""
    import_paths: Sequence[str] = (".", "src", "python")
    arguments: Sequence[str] = ()
    logs: str = ""


@dataclass(frozen=True)
class Recording:
    """The cases that a repository's tests gave, and the row that counts them."""

    row: Row
    cases: list[Case] = field(default_factory=list)


def check_container() -> None:
    """RequestError: this process is in no container. Tests of strangers may do what this user may."""
    if not any(os.path.exists(path) for path in CONTAINERS) and not os.environ.get("KUBERNETES_SERVICE_HOST"):
        raise RequestError("tests run code of a repository: run deploy/record.sh, which makes a container, or pass --unsafe-no-container on a "
                           "machine that holds nothing else")


def record(dataset: str | os.PathLike[str], evidence: Evidence, repositories: Mapping[str, str], settings: Settings) -> list[Recording]:
    """Records the cases of repositories, given as {name: folder of the checkout}, into an evidence file, which is saved after each."""
    check_device(settings.device)
    kernels = list(read_kernels(dataset))
    about = describe(settings)
    recordings = []
    for name, folder in repositories.items():
        rows = [each for each in kernels if each.row["repository"] == name]
        if not rows:
            names = sorted({str(each.row["repository"]) for each in kernels})
            raise RequestError(f"the dataset has no Triton kernels of {name}; it has those of {', '.join(names)}")
        recordings.append(_record(name, folder, rows, evidence, settings, about))
        evidence.save()
    return recordings


def describe(settings: Settings) -> Row:
    """Returns the toolchain and packages of the tests' Python. RequestError: they are not those of the lock."""
    done = subprocess.run([settings.python, "-c", DESCRIBE], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ProgramError(f"{settings.python}: {done.stderr.strip().splitlines()[-1:]}")
    about: Row = json.loads(done.stdout)
    if settings.lock:
        text = pathlib.Path(settings.lock).read_text(encoding="utf-8")
        pins = re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.MULTILINE)
        wanted = {f"{name.lower().replace('_', '-')}=={version}" for name, version in pins}
        if missing := sorted(wanted - set(about["packages"])):
            raise RequestError(f"--lock: {missing[0]} is not installed in {settings.python}")
    return about


def find_wanted(rows: list[KernelRow], root: pathlib.Path) -> tuple[dict[tuple[str, int], KernelRow], Counter[str]]:
    """Returns the kernels whose text the checkout has, by path and first line, and why others are left out."""
    found: dict[tuple[str, int], KernelRow] = {}
    left_out: Counter[str] = Counter()
    texts: dict[str, list[str]] = {}
    for kernel in rows:
        row = kernel.row
        path = str(row["path"])
        if path not in texts:
            file = root / path
            inside = file.resolve().is_relative_to(root.resolve())
            texts[path] = file.read_bytes().decode("utf-8", "replace").split("\n") if inside and file.is_file() else []
        lines = "\n".join(texts[path][row["first_line"] - 1:row["last_line"]])
        if hashlib.sha256(row["source"].encode()).hexdigest() != row["sha256"] or lines.strip() != row["source"].strip():
            left_out["text_differs"] += 1
        else:
            found[path, row["first_line"]] = kernel
    return found, left_out


def _record(name: str, folder: str, rows: list[KernelRow], evidence: Evidence, settings: Settings, about: Row) -> Recording:
    root = pathlib.Path(folder).resolve()
    wanted, left_out = find_wanted(rows, root)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kernelmill-record-") as work:
        tests = _Tests(root, pathlib.Path(work), wanted, settings)
        status = tests.run()
        if settings.logs:
            tests.keep_log(settings.logs)
        found = _Found(left_out)
        for said in tests.rows():
            found.add(said, wanted)
        cases = [_bind(launch, wanted[launch["path"], launch["line"]], settings, about["toolchain"]) for launch in found.launches]
        for launch in found.launches:
            _keep(launch, tests.tensors, evidence)
    for case in cases:
        evidence.add(case.row)
    packages = hashlib.sha256("\n".join(about["packages"]).encode()).hexdigest()
    row: Row = {"type": "recording", "repository": name, "commit": rows[0].row["commit"], "part": " ".join(settings.tests),
                "arguments": list(settings.arguments), "device": settings.device, "toolchain": about["toolchain"], "packages": packages,
                "status": status, "kernels": len(rows), **found.counts(cases), "seconds": round(time.monotonic() - start)}
    evidence.add(row)
    return Recording(row, cases)


class _Found:
    """The launches that become cases, and the counts of all that happened."""

    def __init__(self, refused: Counter[str]) -> None:
        self.launches: list[Row] = []
        self._refused = refused
        self._tests: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._reached: set[tuple[str, int]] = set()

    def add(self, said: Row, wanted: Mapping[tuple[str, int], KernelRow]) -> None:
        """Adds a line of the recorder."""
        if "outcome" in said:
            self._tests[said["outcome"]] += 1
            self._failures.update([said["why"]] if said["why"] else [])
        elif "refused" in said:
            self._refused[said["refused"]] += 1
            self._reached.add((said["path"], said["line"]))
        elif "launch" in said:
            launch = said["launch"]
            place = (launch["path"], launch["line"])
            self._reached.add(place)
            if launch["outcome"] != "passed":
                self._refused[f"test_{launch['outcome']}"] += 1
            elif "pointer_type" in wanted[place].module:
                self._refused["pointers_in_tensor"] += 1
            else:
                self.launches.append(launch)

    def counts(self, cases: list[Case]) -> Row:
        """Returns the counts of a row of type `recording`. `enough`: kernels with three cases and a ragged one."""
        kernels = Counter((case.module_sha256, case.kernel) for case in cases)
        ragged = {(case.module_sha256, case.kernel) for case in cases if case.row["ragged"]}
        return {"tests": dict(sorted(self._tests.items())), "failures": self._failures.most_common(FAILURES), "reached": len(self._reached),
                "recorded": len(kernels), "cases": len(cases),
                "enough": sum(1 for each, count in kernels.items() if count >= 3 and each in ragged),
                "refused": dict(sorted(self._refused.items()))}


class _Tests:
    """The tests of a repository, in processes one after another: one that hangs or breaks is followed by one that goes on behind it."""

    def __init__(self, root: pathlib.Path, work: pathlib.Path, wanted: Mapping[tuple[str, int], KernelRow], settings: Settings) -> None:
        self._root, self._work, self._settings = root, work, settings
        lines: dict[str, list[list[int]]] = {}
        for (path, first), kernel in wanted.items():
            lines.setdefault(path, []).append([first, kernel.row["last_line"]])
        self._options = {"out": str(work / "out"), "root": str(root), "wanted": lines, "cases": settings.cases, "size": settings.size,
                         "test_seconds": settings.test_seconds, "programs": INTERPRETED_PROGRAMS if settings.device == "cpu" else 0,
                         "pretend_cuda": settings.device == "cpu"}
        (work / "out").mkdir()
        self.tensors, self._launches = work / "out" / "tensors", work / "out" / "launches.jsonl"
        self._launches.touch()

    def run(self) -> str:
        """Returns how they ended: `ended`, `late`, or `broken` if processes die without running a test."""
        deadline = time.monotonic() + self._settings.seconds
        for _ in range(MOST_PROCESSES):
            before = len(self._begun())
            if self._run_process(deadline):
                return "ended"
            if time.monotonic() >= deadline:
                return "late"
            if len(self._begun()) == before:
                return "broken"
        return "late"

    def rows(self) -> list[Row]:
        return [json.loads(line) for line in self._launches.read_text("utf-8").splitlines()]

    def _begun(self) -> list[str]:
        return [row["begun"] for row in self.rows() if "begun" in row]

    def _run_process(self, deadline: float) -> bool:
        """Runs what has not begun. Returns True if it ran to its end."""
        (self._work / "options.json").write_text(json.dumps({**self._options, "done": self._begun()}), encoding="utf-8")
        with (self._work / "pytest.log").open("ab") as log, subprocess.Popen(
                self._command(), cwd=self._root, env=self._environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True) as tests:
            try:
                begun = len(self._begun())
                while tests.poll() is None and time.monotonic() < deadline and not (self._hangs() and len(self._begun()) > begun):
                    time.sleep(0.5)
            finally:
                try:
                    os.killpg(tests.pid, 9)
                except ProcessLookupError:
                    pass
        return any("ended" in row for row in self.rows()[-1:])

    def _hangs(self) -> bool:
        """Returns True if a test has taken so long that its alarm cannot have reached it."""
        return time.time() - self._launches.stat().st_mtime > self._settings.test_seconds + 10

    def _command(self) -> list[str]:
        settings = self._settings
        return [settings.python, "-m", "pytest", "-q", "-p", "kernelmill.execution.recorder", "-p", "no:cacheprovider", "-p", "no:xdist",
                "--assert=plain", "--continue-on-collection-errors", "-W", "ignore", "-o", "addopts=", "-o", "log_cli=false", *settings.arguments,
                *settings.tests]

    def _environment(self) -> dict[str, str]:
        paths = [harness.PACKAGE.parent, *(self._root / each for each in self._settings.import_paths if (self._root / each).is_dir())]
        env = {**os.environ, "KERNELMILL_RECORD": str(self._work / "options.json"),
               "PYTHONPYCACHEPREFIX": str(self._work / "compiled"),  # the checkout stays as it is
               "TRITON_CACHE_DIR": str(self._work / "cache"),
               "PYTHONPATH": os.pathsep.join([*map(str, paths), *filter(None, [os.environ.get("PYTHONPATH")])])}
        return {**env, "TRITON_INTERPRET": "1"} if self._settings.device == "cpu" else env

    def keep_log(self, folder: str) -> None:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        name = f"{self._root.name}-{hashlib.sha256(' '.join(self._settings.tests).encode()).hexdigest()[:6]}"
        (pathlib.Path(folder) / f"{name}.log").write_bytes((self._work / "pytest.log").read_bytes()[-(1 << 18):])


def _bind(launch: Row, kernel: KernelRow, settings: Settings, toolchain: Row) -> Case:
    types = {view["dtype"] for view in Case({"arguments": launch["arguments"]}).tensors()}
    row = kernel.row
    recorded = {**{key: row[key] for key in ("repository", "commit", "path", "sha256")},
                **{key: launch[key] for key in ("test", "outcome", "inputs")}, "device": settings.device, "toolchain": toolchain}
    return Case.make(module_sha256=kernel.module_sha256, kernel=kernel.name, arguments=launch["arguments"], storages=launch["storages"],
                     grid=launch["grid"], options=launch["options"], environment=launch["environment"], outputs=launch["outputs"],
                     tolerance=_tolerance(kernel.module, types), ragged=launch["ragged"],
                     origin={"recorded": recorded}).check()


def _tolerance(module: str, types: set[str]) -> Row:
    """Returns the tolerance of each type. A GPU may multiply matrices of float32 in TF32, with ten bits after the point."""
    found = {each: elements.TOLERANCE[each] for each in sorted(types) if elements.is_float(each)}
    if "float32" in found and "dot(" in module and "ieee" not in module:
        found["float32"] = TF32_TOLERANCE
    return found


def _keep(launch: Row, tensors: pathlib.Path, evidence: Evidence) -> None:
    for each in (*launch["storages"], *launch["outputs"]):
        if "sha256" in each:
            evidence.put((tensors / each["sha256"]).read_bytes())
