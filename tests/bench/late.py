#!/usr/bin/env python3
"""Measures the coordinator, the store, resolve, manifest and export on made results of the stages before. Not a test.

usage: late.py [--sources 10] [--shards 10] [--kernels 100] [--statements 20] [--workers 2] [--restart] [--folder DIR] [--keep]

made_worker answers pin, fetch, extract, link, validate, sign and pair: a source is SHARDS shards of KERNELS kernels, three in ten of
them near duplicates. Everything else is real. Prints one line of JSON: seconds of processor and wall, peak of memory, bytes, and the dataset.
--restart kills the coordinator with SIGKILL when the made stages are half done, and times its start.
"""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402
import made_sources  # noqa: E402

FILE_KERNELS = 10
HOSTS = 64  # a host is asked a few things at a time
TICKS = os.sysconf("SC_CLK_TCK")
MADE = ("pin", "fetch", "extract", "link", "validate", "sign", "pair")


def write_template(folder, kernels, statements):
    """The files of a shard, with placeholders as made_results.h describes them."""
    (folder / "LICENSE").write_text(harness.MIT_TEXT)
    draw, constants = random.Random(36), iter(range(1, 100_000))
    for first in range(0, kernels, FILE_KERNELS):
        names = [f"{draw.choice(made_sources.WORDS)}_{draw.choice(made_sources.WORDS)}_7700000077_{k}_kernel"
                 for k in range(first, min(first + FILE_KERNELS, kernels))]
        lines = ["import torch", "import triton", "import triton.language as tl", ""]
        for name in names:
            lines += made_sources.kernel_text(name, draw, (2, statements))
        lines += ["", "", "def run(x):", "    y = torch.empty_like(x)",
                  f"    {names[0]}[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK_SIZE=256)", "    return y", ""]
        text = re.sub(r"(?<= )\d+(?=\)|\.5)", lambda _: f"770{next(constants):05}77", "\n".join(lines))
        (folder / f"kernels_7700000077_{first // FILE_KERNELS:04}.py").write_text(text)


def write_job(path, sources):
    path.write_text("name: late\nsources:\n" + "".join(
        f"  - git: https://h{n % HOSTS}.invalid/made/s{n:06}\n" for n in range(sources)))


def cost(process):
    """Seconds of processor so far, and the peak of memory in MiB."""
    proc = pathlib.Path(f"/proc/{process.popen.pid}")
    fields = (proc / "stat").read_text().rsplit(")", 1)[1].split()
    peak = int(re.search(r"VmHWM:\s+(\d+)", (proc / "status").read_text())[1]) // 1024
    return (int(fields[11]) + int(fields[12])) / TICKS, peak


def reset_peak(process):
    pathlib.Path(f"/proc/{process.popen.pid}/clear_refs").write_text("5")


class MadeWorker(harness.Process):
    def command(self, *flags):
        return [harness.BIN / "made_worker", "--listen", f"127.0.0.1:{self.port}", "--metrics", f"127.0.0.1:{self.metrics_port}",
                "--log-level", "warning", *flags]


class Stopwatch:
    """The cost of processes from its start."""

    def __init__(self, **processes):
        self.processes, self.begin = processes, time.monotonic()
        for process in processes.values():
            reset_peak(process)
        self.before = {name: cost(process)[0] for name, process in processes.items()}

    def read(self):
        result = {"wall_s": round(time.monotonic() - self.begin, 2)}
        for name, process in self.processes.items():
            seconds, peak = cost(process)
            result[name] = {"processor_s": round(seconds - self.before[name], 2), "peak_mib": peak}
        return result


def stages(cluster, job):
    for process in cluster.processes:
        if process.popen.poll():
            raise SystemExit(f"late.py: {process.role} ended with {process.popen.returncode}; log: {process.log}")
    status, = (j for j in cluster.jobs() if j["job"] == job)
    if status["state"] not in ("running", "done"):
        raise SystemExit(f"late.py: the job is {status['state']}")
    return {s["stage"]: (int(s.get("done", 0)), int(s.get("total", 0))) for s in status["stages"]}


def wait_for(cluster, job, condition, pause):
    while not condition(stages(cluster, job)):
        time.sleep(pause)


def is_done(stage):
    return lambda found: found[stage][1] > 0 and found[stage][0] == found[stage][1]


def kill_coordinator(cluster):
    """Seconds until it answers again."""
    old = cluster.coordinator
    old.kill()
    old.popen.wait()
    begin = time.monotonic()
    with open(old.log, "ab") as log:
        old.popen = subprocess.Popen(old.popen.args, stderr=log, stdout=log)
    harness.wait_until(old.answers, "the coordinator to listen", 600)
    return round(time.monotonic() - begin, 2)


def folder_bytes(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def run_export(cluster, job, out):
    """The export's cost; the store's is measured beside it."""
    log = out.with_suffix(".log")
    command = [harness.BIN / "kernelmill", "export", job, "--out", out, *cluster.addresses()]
    watch = Stopwatch(store=cluster.store)
    with open(log, "wb") as text:
        process = subprocess.Popen([str(part) for part in command], stdout=text, stderr=text)
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"late.py: the export failed: {log.read_text()[-2000:]}")
    return {**watch.read(), "client": {"processor_s": round(usage.ru_utime + usage.ru_stime, 2), "peak_mib": usage.ru_maxrss // 1024},
            "bytes": folder_bytes(out)}


def measure(folder, options):
    template = folder / "template"
    template.mkdir()
    write_template(template, options.kernels, options.statements)
    write_job(folder / "job.yaml", options.sources)
    kernels = options.sources * options.shards * options.kernels
    results = {"kernels": kernels, "sources": options.sources, "shards": options.sources * options.shards, "workers": options.workers}
    with harness.Cluster(folder / "cluster", lease_ttl=60, hold=True) as cluster:
        watch = Stopwatch(coordinator=cluster.coordinator, store=cluster.store)
        job = cluster.client("submit", folder / "job.yaml").stdout.strip()
        for _ in range(options.workers):
            worker = MadeWorker(cluster.folder, "made", "--coordinator", f"127.0.0.1:{cluster.coordinator.port}",
                                "--store", f"127.0.0.1:{cluster.store.port}", "--template", template, "--shards", options.shards, "--slots", 2)
            cluster.processes.append(worker)
        if options.restart:
            wait_for(cluster, job, lambda found: found["sign"][0] >= options.sources * options.shards // 2, 1)
            results["before_restart"] = watch.read()
            results["restart_s"] = kill_coordinator(cluster)
            watch = Stopwatch(coordinator=cluster.coordinator, store=cluster.store)
        wait_for(cluster, job, is_done("pair"), 1)
        results["made"] = watch.read()
        tasks = sum(done for stage, (done, _) in stages(cluster, job).items() if stage in MADE)
        results["made"]["tasks"] = tasks
        results["store_bytes"] = folder_bytes(cluster.folder / "store")
        results["coordinator_bytes"] = folder_bytes(cluster.folder / "coordinator")
        for process in cluster.processes[2:]:
            process.stop()
        late = cluster.start_worker("deduplicator")
        for stage in ("resolve", "manifest"):
            watch = Stopwatch(worker=late, coordinator=cluster.coordinator, store=cluster.store)
            wait_for(cluster, job, is_done(stage), 0.1)
            results[stage] = watch.read()
        out = folder / "out"
        results["export"] = run_export(cluster, job, out)
        results["dataset"] = harness.dataset_digest(out)
    for stage, process in (("resolve", "worker"), ("manifest", "worker"), ("export", "client")):
        results[stage]["us_a_kernel"] = round(results[stage][process]["processor_s"] * 1e6 / kernels, 1)
    print(json.dumps(results), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=int, default=10)
    parser.add_argument("--shards", type=int, default=10, help="each source has")
    parser.add_argument("--kernels", type=int, default=100, help="each shard has")
    parser.add_argument("--statements", type=int, default=20, help="the most that a kernel has")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--restart", action="store_true")
    parser.add_argument("--folder", help="the folder to write to; default: a temporary one")
    parser.add_argument("--keep", action="store_true", help="keep the files")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(dir=options.folder))
    try:
        measure(folder, options)
    finally:
        if not options.keep:
            subprocess.run(["rm", "-rf", folder], check=False)


if __name__ == "__main__":
    main()
