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
from kernelmill.execution.runner import code_environment

CONTAINERS = ("/.dockerenv", "/run/.containerenv")
# Prints what the tests run with.
DESCRIBE = """
import importlib.metadata, json, sys
def version(name):
    try: return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError: return ""
packages = sorted({f"{d.metadata['Name'].lower().replace('_', '-')}=={d.version}" for d in importlib.metadata.distributions() if d.metadata['Name']})
print(json.dumps({"toolchain": {n: version(n) for n in ("triton", "torch", "numpy")}, "packages": packages}))
"""


@dataclass(frozen=True)
class Settings:
    """How tests are run. `seconds` bounds a repository, `test_seconds` a test; `lock` names the packages that must be installed."""

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


@dataclass(frozen=True)
class Recording:
    """What a repository's tests gave. `refused`: kernels by the reason why a launch of theirs is no case."""

    row: Row
    cases: list[Case] = field(default_factory=list)


def check_container() -> None:
    """RequestError: this process is in no container. Tests of strangers may do what this user may."""
    if not any(os.path.exists(path) for path in CONTAINERS) and not os.environ.get("KUBERNETES_SERVICE_HOST"):
        raise RequestError("tests run code of a repository: run `kernelmill record` in a container, or pass --unsafe-no-container on a "
                           "machine that holds nothing else")


def record(dataset: str | os.PathLike[str], evidence: Evidence, repositories: Mapping[str, str], settings: Settings) -> list[Recording]:
    """Records the cases of repositories, given as {name: folder of the checkout}, into an evidence file, which is saved after each."""
    kernels = list(read_kernels(dataset))
    about = describe(settings)
    recordings = []
    for name, folder in repositories.items():
        rows = [each for each in kernels if each.row["repository"] == name]
        if not rows:
            raise RequestError(f"the dataset has no Triton kernels of {name}")
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
        wanted = {f"{name.lower().replace('_', '-')}=={version}" for name, version in re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.MULTILINE)}
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
            texts[path] = file.read_text("utf-8", "replace").split("\n") if inside and file.is_file() else []
        lines = "\n".join(texts[path][row["first_line"] - 1:row["last_line"]])
        if hashlib.sha256(row["source"].encode()).hexdigest() != row["sha256"] or lines.strip() != row["source"].strip():
            left_out["text_differs"] += 1
        else:
            found[path, row["first_line"]] = kernel
    return found, left_out


def _record(name: str, folder: str, rows: list[KernelRow], evidence: Evidence, settings: Settings, about: Row) -> Recording:
    root = pathlib.Path(folder).resolve()
    wanted, refused = find_wanted(rows, root)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kernelmill-record-") as work:
        status = _run_tests(root, pathlib.Path(work), wanted, settings)
        tests: Counter[str] = Counter()
        cases: list[Case] = []
        reached: set[tuple[str, int]] = set()
        for line in (pathlib.Path(work) / "out" / "launches.jsonl").read_text("utf-8").splitlines():
            said = json.loads(line)
            if "outcome" in said:
                tests[said["outcome"]] += 1
            elif "refused" in said:
                refused[said["refused"]] += 1
                reached.add((said["path"], said["line"]))
            elif "launch" in said:
                launch = said["launch"]
                place = (launch["path"], launch["line"])
                reached.add(place)
                if launch["outcome"] != "passed":
                    refused[f"test_{launch['outcome']}"] += 1
                elif "pointer_type" in wanted[place].module:
                    refused["pointers_in_tensor"] += 1
                else:
                    cases.append(_bind(launch, wanted[place], settings, about["toolchain"]))
                    _keep(launch, pathlib.Path(work) / "out" / "tensors", evidence)
    for case in cases:
        evidence.add(case.row)
    counts = Counter((case.module_sha256, case.kernel) for case in cases)
    ragged = {(case.module_sha256, case.kernel) for case in cases if case.row["ragged"]}
    row: Row = {
        "type": "recording", "repository": name, "commit": rows[0].row["commit"], "device": settings.device, "toolchain": about["toolchain"],
        "environment": code_environment(), "packages": hashlib.sha256("\n".join(about["packages"]).encode()).hexdigest(), "status": status,
        "tests": dict(sorted(tests.items())), "kernels": len(rows), "reached": len(reached), "recorded": len(counts), "cases": len(cases),
        "enough": sum(1 for each, count in counts.items() if count >= 3 and each in ragged),
        "refused": dict(sorted(refused.items())), "seconds": round(time.monotonic() - start)}
    evidence.add(row)
    return Recording(row, cases)


def _run_tests(root: pathlib.Path, work: pathlib.Path, wanted: Mapping[tuple[str, int], KernelRow], settings: Settings) -> str:
    """Runs the tests. Returns how they ended: `ended`, or `late`; the exit code is theirs and says nothing here."""
    lines: dict[str, list[list[int]]] = {}
    for (path, first), kernel in wanted.items():
        lines.setdefault(path, []).append([first, kernel.row["last_line"]])
    options = {"out": str(work / "out"), "root": str(root), "wanted": lines, "cases": settings.cases, "size": settings.size,
               "test_seconds": settings.test_seconds, "pretend_cuda": settings.device == "cpu"}
    (work / "options.json").write_text(json.dumps(options), encoding="utf-8")
    (work / "out").mkdir()
    (work / "out" / "launches.jsonl").touch()
    paths = [str(harness.PACKAGE.parent), *(str(root / each) for each in settings.import_paths if (root / each).is_dir())]
    env = {**os.environ, "KERNELMILL_RECORD": str(work / "options.json"), "PYTHONDONTWRITEBYTECODE": "1", "TRITON_CACHE_DIR": str(work / "cache"),
           "PYTHONPATH": os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])])}
    if settings.device == "cpu":
        env["TRITON_INTERPRET"] = "1"
    command = [settings.python, "-m", "pytest", "-q", "-p", "kernelmill.execution.recorder", "-p", "no:cacheprovider", "-p", "no:xdist",
               "--continue-on-collection-errors", "--tb=line", "-W", "ignore", "-o", "addopts=", *settings.arguments, *settings.tests]
    with (work / "pytest.log").open("wb") as log, subprocess.Popen(command, cwd=root, env=env, stdin=subprocess.DEVNULL, stdout=log,
                                                                   stderr=subprocess.STDOUT, start_new_session=True) as tests:
        try:
            tests.wait(settings.seconds)
            status = "ended"
        except subprocess.TimeoutExpired:
            status = "late"
        finally:
            try:
                os.killpg(tests.pid, 9)
            except ProcessLookupError:
                pass
    if log_folder := os.environ.get("KERNELMILL_RECORD_LOGS"):
        pathlib.Path(log_folder).mkdir(parents=True, exist_ok=True)
        (pathlib.Path(log_folder) / f"{root.name}.log").write_bytes((work / "pytest.log").read_bytes()[-1 << 20:])
    return status


def _bind(launch: Row, kernel: KernelRow, settings: Settings, toolchain: Row) -> Case:
    types = {view["dtype"] for view in Case({"arguments": launch["arguments"]}).tensors()}
    row = kernel.row
    recorded = {"repository": row["repository"], "commit": row["commit"], "path": row["path"], "sha256": row["sha256"], "test": launch["test"],
                "outcome": launch["outcome"], "inputs": launch["inputs"], "device": settings.device, "toolchain": toolchain}
    return Case.make(module_sha256=kernel.module_sha256, kernel=kernel.name, arguments=launch["arguments"], storages=launch["storages"],
                     grid=launch["grid"], options=launch["options"], environment=code_environment(), outputs=launch["outputs"],
                     tolerance={each: elements.TOLERANCE.get(each, 0) for each in sorted(types)}, ragged=launch["ragged"],
                     origin={"recorded": recorded}).check()


def _keep(launch: Row, tensors: pathlib.Path, evidence: Evidence) -> None:
    for each in (*launch["storages"], *launch["outputs"]):
        if "sha256" in each:
            evidence.put((tensors / each["sha256"]).read_bytes())
