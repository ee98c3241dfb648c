#!/usr/bin/env python3
"""Every panel and the alerts that can be provoked in minutes, against a real cluster, a real Prometheus and a crawl with faults.
usage: live.py [--json FILE]

Runs a job, then provokes: a poison file, a git host that answers 429, a caller beyond a limit, a stopped kind of worker, a full
store disk, a killed store. Prints each panel with the number of series that it returned, and each alert that fired.
Exit 1: a panel returned an error, or no data (error panels: whose metric does not exist), or a provoked alert did not fire.
Needs root (a small disk is mounted), and Debian's prometheus."""

import argparse
import contextlib
import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "chaos"), str(HERE.parent / "integration")]

import definitions  # noqa: E402

import cluster as clusters  # noqa: E402
import harness  # noqa: E402
import lab  # noqa: E402
import shim as shims  # noqa: E402

MARKER = "KILLS-ITS-READER"
ROLES = ("coordinator", "store", *clusters.WORKERS)
PROVOKED = ("NoWorkerForStage", "FilesQuarantined", "WorkersLost", "HostLimitsUs", "StoreDiskFull",
            "WorkersWaitForStore", "ProcessDown", "StoreDown", "CallersRefused")
# What these show need not have happened: an expression over what is there, and zero, is enough.
MAY_BE_EMPTY = ("Errors", "Errors by stage", "Leases lost", "Blobs that failed", "Evictions", "Refused by a limit",
                "Calls that failed", "Errors by method", "Requests that failed", "Left alone", "Found")


class Prometheus:
    """A server that scrapes the cluster's processes, with our rules."""

    def __init__(self, folder, nodes):
        self.folder, self.port = pathlib.Path(folder), harness.free_port()
        self.folder.mkdir()
        shutil.copytree(definitions.RULES, self.folder / "rules")
        jobs = []
        for role in ROLES:
            targets = [f"127.0.0.1:{node.metrics_port}" for node in nodes if node.role == role]
            jobs.append({"job_name": role, "static_configs": [{"targets": targets}]})
        config = {"global": {"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "5s"},
                  "rule_files": ["rules/*.yml"], "scrape_configs": jobs}
        (self.folder / "prometheus.yml").write_text(json.dumps(config))
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={self.folder / 'prometheus.yml'}", f"--storage.tsdb.path={self.folder / 'data'}",
             f"--web.listen-address=127.0.0.1:{self.port}", "--enable-feature=exemplar-storage"],
            stdout=self.log, stderr=self.log)
        harness.wait_until(lambda: self.get("query", query="vector(1)") is not None, "Prometheus to answer", 60)

    def get(self, what, **parameters):
        """The data of an API call; None while it does not answer. ValueError: it is wrong."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{what}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it starts
                return None
            raise ValueError(error.read().decode()) from None
        except OSError:
            return None

    def firing(self):
        return {alert["labels"]["alertname"] for alert in self.get("alerts")["alerts"] if alert["state"] == "firing"}

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()


class Busy(http.server.BaseHTTPRequestHandler):
    """A git host that answers 429 to all."""

    def do_GET(self):
        self.send_response(429)
        self.send_header("Retry-After", "1")
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def busy_host():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Busy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_address[1]}"
    server.shutdown()


def series_of(prometheus, expression, minutes):
    """How many series with data the panel's expression gave in the last minutes."""
    for name, value in (("$__rate_interval", "1m"), ("$__range", "30m"), ("${stage:regex}", ".*"), ("$stage", ".*"),
                        ("$role", ".*"), ("$host", ".*")):
        expression = expression.replace(name, value)
    now = time.time()
    data = prometheus.get("query_range", query=expression, start=now - 60 * minutes, end=now, step=5)
    return sum(any(value != "NaN" for _, value in series["values"]) for series in data["result"])


def check_panels(prometheus, minutes):
    """[(dashboard, panel, series, problem)]"""
    rows = []
    for dashboard in definitions.dashboards():
        for panel in definitions.panels(dashboard):
            problem, found = "", 0
            for target in panel["targets"]:
                try:
                    found += series_of(prometheus, target["expr"], minutes)
                except ValueError as error:
                    problem = str(error)
            if not found and not problem and panel["title"] not in MAY_BE_EMPTY:
                problem = "no data"
            rows.append((dashboard["title"], panel["title"], found, problem))
    return rows


class Run:
    def __init__(self, stack, folder):
        self.folder, self.fired, self.shim = folder, {}, shims.Shim(folder / "shim")
        self.began = time.monotonic()
        self.disk = lab.SmallDisk(folder / "cluster/store", 1500)
        stack.callback(self.disk.close)
        self.cluster = clusters.ChaosCluster(folder / "cluster", lease_ttl=5, shim=self.shim, max_attempts=5)
        stack.callback(self.cluster.__exit__)
        self.cluster.coordinator.flags += ["--store", self.cluster.store.address, "--max-jobs", "8"]
        self.cluster.start()
        self.prometheus = Prometheus(folder / "prometheus", self.cluster.nodes.values())
        stack.callback(self.prometheus.close)
        self.git = stack.enter_context(harness.git_server(folder / "git"))
        self.busy = stack.enter_context(busy_host())

    def say(self, text):
        print(f"{time.monotonic() - self.began:6.0f} s  {text}", flush=True)

    def note_alerts(self):
        for alert in self.prometheus.firing() - set(self.fired):
            self.fired[alert] = time.monotonic() - self.began
            self.say(f"fires: {alert}")

    def wait_for(self, alerts, seconds):
        """Waits until they have fired."""
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up and set(alerts) - set(self.fired):
            self.note_alerts()
            self.keep_extractors()
            time.sleep(2)
        missing = set(alerts) - set(self.fired)
        self.say(f"did not fire: {', '.join(sorted(missing))}" if missing else f"all of {', '.join(alerts)} fired")

    def keep_extractors(self):
        """As a supervisor would: who was killed by the poison is started again."""
        for worker in self.cluster.workers("extractor"):
            if worker.popen is not None and worker.popen.poll() == -9 and not getattr(worker, "stopped", False):
                worker.spawn()

    def job(self, name, sources):
        path = self.folder / f"{name}.yaml"
        path.write_text(f"name: {name}\nsources:\n" + "".join(f"  - {source}\n" for source in sources))
        return path

    def submit(self, name, sources, out=None):
        return self.cluster.submit(self.job(name, sources), out or self.folder / f"out-{name}", name)


def make_sources(folder):
    (folder / "git").mkdir()
    for name, files in (("many", 60), ("more", 40)):
        harness.write_many_kernels(folder / name, files, 3)
        harness.make_repository(folder / name, folder / f"git/{name}.git")
    harness.write_many_kernels(folder / "poison", 12, 2)
    with open(sorted((folder / "poison").glob("*.py"))[5], "a", encoding="utf-8") as file:
        file.write(f"# {MARKER}\n")


def provoke(run, stack):
    url = f"http://127.0.0.1:{run.git.server_address[1]}"
    time.sleep(8)  # rates need what was before: some scrapes of series that stand at 0
    run.say("a job of three sources")
    run.submit("good", [f"git: {url}/many.git", f"git: {url}/more.git", f"{{path: {run.folder / 'many'}, name: twice}}"]).wait()
    run.submit("again", [f"git: {url}/many.git"]).wait()
    run.note_alerts()
    run.say("a poison file, a host that answers 429, and more jobs than the limit")
    run.shim.poison, run.shim.poisoned = MARKER, 0
    poisoned = run.submit("poison", [f"path: {run.folder / 'poison'}"])
    stack.callback(poisoned.abandon)
    limited = run.submit("limited", [f"git: {run.busy}/{i}.git" for i in range(6)])
    stack.callback(limited.abandon)
    for i in range(12):
        run.cluster.client("submit", run.job(f"many{i}", [f"git: {run.busy}/{i}.git"]), check=False)
    run.wait_for(["FilesQuarantined", "WorkersLost", "HostLimitsUs", "CallersRefused"], 300)
    run.shim.poison = ""
    run.say("no extractor runs")
    for worker in run.cluster.workers("extractor"):
        worker.stopped = True
        worker.end()
    left = run.submit("unserved", [f"path: {run.folder / 'more'}"])
    stack.callback(left.abandon)
    run.wait_for(["NoWorkerForStage", "ProcessDown"], 300)
    for worker in run.cluster.workers("extractor"):
        worker.stopped = False
        worker.start()
    run.say("the store's disk is full")
    run.disk.fill()
    harness.write_many_kernels(run.folder / "late", 30, 3)
    late = run.submit("late", [f"path: {run.folder / 'late'}"])
    stack.callback(late.abandon)
    run.wait_for(["StoreDiskFull", "WorkersWaitForStore"], 480)
    run.disk.free()
    late.wait()
    run.say("the store is killed")
    run.cluster.store.kill()
    run.wait_for(["StoreDown"], 180)
    run.cluster.store.start()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", help="where to leave the rows")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kernelmill-live-")))
        make_sources(folder)
        run = Run(stack, folder)
        provoke(run, stack)
        minutes = (time.monotonic() - run.began) / 60 + 1
        rows = check_panels(run.prometheus, minutes)
        for dashboard, panel, found, problem in rows:
            print(f"{dashboard:30} {panel:34} {found:4}  {problem}")
        missing = sorted(set(PROVOKED) - set(run.fired))
        print(f"{len(rows)} panels, {sum(bool(row[3]) for row in rows)} with a problem; "
              f"{len(run.fired)} alerts fired; not provoked though asked for: {', '.join(missing) or 'none'}")
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps({"panels": rows, "alerts": run.fired}, indent=1))
        sys.exit(bool(missing or any(row[3] for row in rows)))


if __name__ == "__main__":
    main()
