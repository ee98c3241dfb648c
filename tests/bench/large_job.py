#!/usr/bin/env python3
"""A job with as many sources as a job may have, on a real cluster: how long each command takes beside it and on it,
and what the coordinator needs. Prints a figure a line.
usage: large_job.py [--sources N] [--real N] [--workers N] [--until pins|end] [--folder DIR]

Sources are local folders: the first --real have a kernel each, the others are not there."""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402

KERNEL = """import triton
import triton.language as tl


@triton.jit
def kernel_{n}(x_ptr, y_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
{body}
    tl.store(y_ptr + offsets, x, mask=mask)
"""


def write_sources(folder, real):
    """`real` folders with a file of one kernel; of any two few do the same."""
    for n in range(real):
        source = folder / f"s{n:06}"
        source.mkdir()
        (source / "LICENSE").write_text(harness.MIT_TEXT)
        body = "\n".join(f"    x = tl.{op}(x) * {n + 2 + i}" for i, op in enumerate(harness.operations_of(n) * 2))
        (source / "kernel.py").write_text(KERNEL.format(n=n, body=body))


def write_job(folder, sources, name="large"):
    """A job of the folders s000000 and on, whether or not they are there; returns its file."""
    job = folder / f"{name}.yaml"
    job.write_text(f"name: {name}\nsources:\n" + "".join(f"  - path: s{n:06}\n" for n in range(sources)))
    return job


def resident_mb(process):
    status = pathlib.Path(f"/proc/{process.popen.pid}/status").read_text()
    return {key: int(re.search(rf"{key}:\s+(\d+) kB", status)[1]) // 1024 for key in ("VmRSS", "VmHWM")}


class Sampler(threading.Thread):
    """Asks for the jobs again and again, and keeps how long each answer took."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.cluster, self.seconds, self.done = cluster, [], threading.Event()
        self.start()

    def run(self):
        while not self.done.wait(0.2):
            begin = time.monotonic()
            self.cluster.client("jobs", "--json", check=False)
            self.seconds.append(time.monotonic() - begin)

    def take(self):
        taken, self.seconds = self.seconds, []
        if not taken:
            return "-"
        return f"{len(taken)} calls, median {statistics.median(taken):.3f} s, longest {max(taken):.3f} s"


def show(what, value):
    print(f"{what:<44} {value}", flush=True)


def timed(what, call):
    begin = time.monotonic()
    done = call()
    took = time.monotonic() - begin
    code = getattr(done, "returncode", 0)
    show(what, f"{took:.2f} s" + (f", exit {code}: {done.stderr[-300:].strip()}" if code > 1 else ""))
    return done


def first_line_of_watch(cluster, job):
    """Seconds until `watch` shows the job; None: it ended without."""
    begin = time.monotonic()
    watch = subprocess.Popen([harness.BIN / "kernelmill", "watch", job, "--json", *cluster.addresses()],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    line = watch.stderr.readline()
    took = time.monotonic() - begin
    watch.kill()
    watch.wait()
    return f"{took:.2f} s, {len(line)} bytes" + (f": {line[:200]}" if b'"stages"' not in line else "")


def tasks(cluster, job):
    """{stage: progress} of a job."""
    status, = (j for j in cluster.jobs() if j["job"] == job)
    return status["state"], {s["stage"]: {k: int(v) for k, v in s.items() if k != "stage"} for s in status["stages"]}


def wait_for(cluster, job, condition, seconds=4 * 3600):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        state, stages = tasks(cluster, job)
        if state != "running" or condition(stages):
            return state
        time.sleep(1)
    raise SystemExit(f"waited {seconds} s")


def ask(cluster, job, when):
    timed(f"jobs, {when}", lambda: cluster.client("jobs", check=False))
    show(f"watch's first line, {when}", first_line_of_watch(cluster, job))
    report = timed(f"report, {when}", lambda: cluster.client("report", job, "--json", check=False))
    if report.returncode == 0:
        status = json.loads(report.stdout)
        show(f"failures, {when}", f"{len(status['failures'])}, {len(report.stdout) >> 20} MiB of JSON")


def restart(cluster):
    old = cluster.coordinator
    flags = old.popen.args[1:]
    old.kill()
    old.popen.wait()
    begin = time.monotonic()
    popen = subprocess.Popen([old.popen.args[0], *flags], stderr=open(old.log, "ab"))
    old.popen = popen
    harness.wait_until(old.answers, "the coordinator to listen", 600)
    show("restart of the coordinator", f"{time.monotonic() - begin:.2f} s")
    show("coordinator, MiB", resident_mb(cluster.coordinator))


def measure(folder, options):
    write_sources(folder, options.real)
    job_file = write_job(folder, options.sources)
    with harness.Cluster(folder / "cluster", lease_ttl=30, hold=True) as cluster:
        submitted = timed("submit", lambda: cluster.client("submit", job_file))
        job = submitted.stdout.strip()
        show("coordinator, MiB", resident_mb(cluster.coordinator))
        ask(cluster, job, "before any worker")
        for _ in range(options.workers):
            cluster.start_worker("fetcher")
        for role in cluster.WORKERS[1:]:
            cluster.start_worker(role)
        sampler, begin = Sampler(cluster), time.monotonic()
        wait_for(cluster, job, lambda stages: stages["pin"]["done"] + stages["pin"]["failed"] >= options.sources)
        took = time.monotonic() - begin
        show("all pins", f"{took:.1f} s, {1000 * took / options.sources:.2f} ms a source")
        show("jobs meanwhile", sampler.take())
        show("coordinator, MiB", resident_mb(cluster.coordinator))
        if tasks(cluster, job)[0] == "running":
            ask(cluster, job, "running")
        if options.until == "pins":
            restart(cluster)
            timed("cancel", lambda: cluster.client("cancel", job, check=False))
        else:
            state = wait_for(cluster, job, lambda stages: False)
            show("to the end", f"{time.monotonic() - begin:.1f} s, {state}")
            show("jobs meanwhile", sampler.take())
            timed("cancel of the ended job", lambda: cluster.client("cancel", job, check=False))
        show("coordinator, MiB", resident_mb(cluster.coordinator))
        ask(cluster, job, "ended")
        export = timed("export", lambda: cluster.client("export", job, "--out", folder / "out", check=False, timeout=3600))
        if export.returncode <= 1:
            show("export", {p.name: f"{p.stat().st_size >> 10} KiB" for p in sorted((folder / "out").glob("*")) if p.is_file()})
        restart(cluster)
        timed("jobs, after it", lambda: cluster.client("jobs", check=False))
        timed("retry", lambda: cluster.client("retry", job, check=False))
        timed("cancel of the retry", lambda: cluster.client("cancel", job, check=False))
        timed("delete", lambda: cluster.client("delete", job, check=False))
        sampler.done.set()
        show("jobs meanwhile", sampler.take())
        show("store, MiB", resident_mb(cluster.store))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=int, default=100_000)
    parser.add_argument("--real", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2, help="fetchers")
    parser.add_argument("--until", choices=("pins", "end"), default="end")
    parser.add_argument("--folder", help="where to work; default: a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        # A path as people have them: a hundred characters.
        work = pathlib.Path(folder) / ("corpus-of-repositories-" * 4)
        work.mkdir()
        measure(work, options)


if __name__ == "__main__":
    main()
