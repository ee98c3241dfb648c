"""The contenders of the fetch benchmark. Each contender brings a repository's state here: `cold` has nothing of it
yet, `unchanged` and `changed` follow in the same place. A contender's `fetch` takes the seconds that it says."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.request

from repositories import environment

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "integration"))
import harness  # noqa: E402

PATIENCE_SECONDS = 900
LEAST_LEASE_SECONDS = 60  # so that no task is given out twice on a busy machine


class Lab:
    """tests/bench/fetch/git_lab.py as a process of its own."""

    def __init__(self, folder, delay_ms, hosts=1):
        script = pathlib.Path(__file__).with_name("git_lab.py")
        self.process = subprocess.Popen([sys.executable, script, folder, "--delay-ms", str(delay_ms), "--hosts",
                                         str(hosts)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.urls = json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(30)

    def counters(self):
        """Bytes down and up, connections, requests, and seconds of processor time, since the start."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def processor_seconds(pid):
    """Returns the processor time so far of a process and of the children that it has waited for."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(f) for f in fields[11:15]) / os.sysconf("SC_CLK_TCK")


class GitClone:
    """The git program, as scripts use it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def __enter__(self):
        self.folder.mkdir(parents=True)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def git(self, *argv, cwd):
        done = subprocess.run(["git", *argv], cwd=cwd, capture_output=True, text=True, env=environment())
        if done.returncode != 0:
            raise SystemExit(f"{self.name}: git {' '.join(argv)}: {done.stderr}")

    def fetch(self, repository, state, url):
        clone = self.folder / repository.name.replace("/", "+")
        began = time.monotonic()
        (self.clone if state == "cold" else self.update)(repository, url, clone)
        return {"seconds": time.monotonic() - began}


class Sparse(GitClone):
    """The seeds' recipe; an update is what a person would type in the clone that it made."""
    name = "sparse"

    def clone(self, repository, url, clone):
        self.git("clone", "-q", "--filter=blob:none", "--sparse", url, str(clone), cwd=self.folder)
        folders = repository.folders()
        self.git("sparse-checkout", *(["set", "--cone", *folders] if folders else ["disable"]), cwd=clone)
        self.git("checkout", "-q", "main", cwd=clone)

    def update(self, repository, url, clone):
        self.git("pull", "-q", "--ff-only", cwd=clone)


class Shallow(GitClone):
    """Everything of the newest commit."""
    name = "shallow"

    def clone(self, repository, url, clone):
        self.git("clone", "-q", "--depth", "1", url, str(clone), cwd=self.folder)

    def update(self, repository, url, clone):
        self.git("fetch", "-q", "--depth", "1", "origin", "main", cwd=clone)
        self.git("reset", "-q", "--hard", "FETCH_HEAD", cwd=clone)


class Kernelmill:
    """Our store, coordinator and fetchers as processes, without an extractor. A job is submitted by the client, as
    a user does, and cancelled when all its sources are fetched. `seconds` run from the start of the client until
    the last result is accepted; `stages` is the part of them that the stages pin and fetch took."""
    name = "ours"

    def __init__(self, folder, fetchers=1):
        self.folder, self.fetchers = pathlib.Path(folder), fetchers

    def __enter__(self):
        self.cluster = harness.Cluster(self.folder, lease_ttl=LEAST_LEASE_SECONDS)
        self.workers = []
        for _ in range(self.fetchers):
            self.workers.append(self.cluster.start_worker("fetcher"))
        return self

    def __exit__(self, *_):
        self.cluster.__exit__()
        shutil.rmtree(self.folder, ignore_errors=True)

    def totals(self):
        """(tasks that ended, seconds in stages) of all fetchers so far."""
        texts = [w.metrics() for w in self.workers]
        return tuple(sum(harness.metric(t, name) for t in texts) for name in
                     ("kernelmill_worker_tasks_total", "kernelmill_worker_stage_seconds_sum"))

    def processor_seconds(self):
        return {p.role: sum(processor_seconds(q.popen.pid) for q in self.cluster.processes if q.role == p.role)
                for p in self.cluster.processes}

    def fetch_all(self, sources):
        """Fetches {name: (url, include)}; every source is two tasks, pin and fetch."""
        job = self.folder / "job.yaml"
        job.write_text("name: bench\nsources:\n" + "".join(
            f"  - git: {url}\n    name: {name}\n    ref: main\n    include: {json.dumps(include)}\n"
            for name, (url, include) in sources.items()))
        tasks, stages = self.totals()
        began = time.monotonic()
        submitted = self.cluster.client("submit", job).stdout.split()
        while self.totals()[0] < tasks + 2 * len(sources):
            if time.monotonic() > began + PATIENCE_SECONDS:
                raise SystemExit(f"ours: not fetched after {PATIENCE_SECONDS} s: {sorted(sources)[:3]}...")
            time.sleep(0.002)
        seconds = time.monotonic() - began
        status = json.loads(self.cluster.client("report", submitted[-1], "--json", check=False).stdout)
        self.cluster.client("cancel", submitted[-1], check=False)
        if status.get("failures") or status.get("troubled"):
            raise SystemExit(f"ours: {status.get('failures')} {status.get('troubled')}")
        counters = status.get("counters", {})
        return {"seconds": seconds, "stages": self.totals()[1] - stages, "files": counters.get("files.seen", 0)}

    def fetch(self, repository, state, url):
        fetched = self.fetch_all({repository.name: (url, repository.include)})
        if state == "cold" and fetched["files"] != len(repository.files):
            raise SystemExit(f"{repository.name}: {fetched['files']} files fetched, not {len(repository.files)}")
        return fetched
