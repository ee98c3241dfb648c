"""A cluster whose processes can be killed, stopped, drained and started again at their old address, each
with flags, environment and network of its own; and jobs that run meanwhile."""

import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402

WORKERS = ("fetcher", "extractor", "validator", "deduplicator")
# Below what the kernel hands out to outgoing connections: a process that is down must find its port free
# when it comes back.
PORTS = range(20000, 32000)
DEADLINE = 120  # how long anything may take on a machine that is busy; no test waits for it to pass


_given = set()


def take_ports(count):
    """Returns ports that no process listens at now and that this test has not given out before: a process that has
    not started yet does not listen at its own."""
    taken = []
    while len(taken) < count:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("0.0.0.0", port))
            except OSError:
                continue
        if port not in _given:
            _given.add(port)
            taken.append(port)
    return taken


class Node:
    """A kernelmill program at an address that stays its own through every restart. Its log is one file for
    all its lives."""

    def __init__(self, folder, role, name, flags, env=None, prefix=(), host="127.0.0.1", program=None):
        self.role, self.name, self.flags, self.env = role, name, list(flags), dict(env or {})
        self.prefix, self.host = list(prefix), host
        self.program = program or harness.BIN / f"kernelmill-{role}"
        self.port, self.metrics_port = take_ports(2)
        self.log = pathlib.Path(folder) / f"{name}.log"
        self.popen = None
        self.starts = 0
        self.spawned = 0.0

    @property
    def address(self):
        return f"{self.host}:{self.port}"

    def spawn(self, *more):
        """Starts it without waiting; `more` are flags for this life alone."""
        argv = [*self.prefix, self.program, "--listen", self.address,
                "--metrics", f"{self.host}:{self.metrics_port}", *self.flags, *more]
        if not self.host.startswith("127."):
            argv.append("--insecure")  # the lab's networks are the test's own
        with open(self.log, "ab") as log:
            self.popen = subprocess.Popen([str(a) for a in argv], stdout=log, stderr=log,
                                          env={**os.environ, **self.env})
        self.starts += 1
        self.spawned = time.monotonic()
        return self

    def start(self, *more):
        self.spawn(*more)
        harness.wait_until(self.answers, f"{self.name} to listen; {self.tail()}", DEADLINE)
        return self

    def answers(self):
        if self.popen.poll() is not None:
            raise AssertionError(f"{self.name} exited {self.popen.returncode}: {self.tail()}")
        try:
            self.metrics()
            with socket.create_connection((self.host, self.port), timeout=5):
                return True
        except OSError:
            return False

    def running(self):
        return self.popen is not None and self.popen.poll() is None

    def tail(self, size=3000):
        return self.log.read_text(errors="replace")[-size:] if self.log.exists() else ""

    def metrics(self):
        with urllib.request.urlopen(f"http://{self.host}:{self.metrics_port}/metrics", timeout=5) as reply:
            return reply.read().decode()

    def metric(self, name):
        return harness.metric(self.metrics(), name)

    def signal(self, number):
        self.popen.send_signal(number)

    def kill(self):
        """kill -9, and waits until it is gone."""
        self.popen.kill()
        self.popen.wait(DEADLINE)

    def terminate(self, seconds=DEADLINE):
        """SIGTERM; returns the exit status."""
        self.popen.terminate()
        return self.popen.wait(seconds)

    def end(self):
        """Whatever state it is in, it is gone afterwards."""
        if self.running():
            self.kill()


def lost_leases(worker):
    """Counts the tasks for which a worker was told that their lease is over."""
    rows = [line for line in worker.metrics().splitlines() if line.startswith("kernelmill_worker_tasks_total")]
    return sum(float(row.rsplit(" ", 1)[1]) for row in rows if '"lost"' in row or '"refused"' in row)


class ChaosCluster:
    """Store, coordinator and workers. Nothing starts by itself but what start() is asked for."""

    def __init__(self, folder, lease_ttl=2.0, shim=None, place=None, max_attempts=1000):
        """`place(name)`: the prefix of a node's command line and the host that it listens at."""
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.shim, self.place = shim, place or (lambda name: ((), "127.0.0.1"))
        self.nodes = {}
        self.store = self.add("store", "store", "--data", self.folder / "store")
        self.coordinator = self.add("coordinator", "coordinator", "--data", self.folder / "coordinator",
                                    "--lease-ttl-seconds", lease_ttl, "--max-attempts", max_attempts)

    def add(self, role, name, *flags, **kwargs):
        prefix, host = self.place(name)
        kwargs.setdefault("env", self.shim.env() if self.shim else {})
        self.nodes[name] = Node(self.folder, role, name, flags, prefix=prefix, host=host, **kwargs)
        return self.nodes[name]

    def add_worker(self, role, name=None, *flags, **kwargs):
        name = name or f"{role}-{sum(n.role == role for n in self.nodes.values()) + 1}"
        if role == "fetcher":
            flags = ("--allow-local", "/", "--allow-private", *flags)
        return self.add(role, name, "--name", name, *self.addresses(), *flags, **kwargs)

    def start(self, each=1):
        """Starts store, coordinator and `each` workers of every role, together."""
        for _ in range(each):
            for role in WORKERS:
                self.add_worker(role)
        for node in self.nodes.values():
            node.spawn()
        for node in self.nodes.values():
            harness.wait_until(node.answers, f"{node.name} to listen", DEADLINE)
        return self

    def workers(self, role=None):
        return [n for n in self.nodes.values() if n.role in WORKERS and role in (None, n.role)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes.values():
            node.end()

    def addresses(self):
        return ["--coordinator", self.coordinator.address, "--store", self.store.address]

    def client(self, *argv, check=True, timeout=DEADLINE):
        prefix, _ = self.place("client")
        return harness.run(*prefix, harness.BIN / "kernelmill", *argv, *self.addresses(), check=check,
                           timeout=timeout)

    def status(self, job):
        """The job's status as `report --json` prints it; None while the coordinator is away."""
        done = self.client("report", job, "--json", check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def submit(self, job_file, out, name="submit"):
        return Submission(self, job_file, out, name)


class Submission:
    """`kernelmill submit JOB --wait --out DIR` in the background."""

    def __init__(self, cluster, job_file, out, name):
        prefix, _ = cluster.place("client")
        self.cluster, self.out = cluster, pathlib.Path(out)
        self.log = cluster.folder / f"{name}.log"
        argv = [*prefix, harness.BIN / "kernelmill", "submit", job_file, "--json", "--out", out,
                "--reconnect-seconds", 600, *cluster.addresses()]
        with open(self.log, "wb") as log:
            self.popen = subprocess.Popen([str(a) for a in argv], stdout=subprocess.DEVNULL, stderr=log)
        self.job = harness.wait_until(self._job, f"the job to be accepted: {self.log}", DEADLINE)

    def _job(self):
        """The job's id, once the coordinator has acknowledged it."""
        for line in self.log.read_text(errors="replace").splitlines():
            for word in line.replace('"', " ").replace("}", " ").split():
                if word.rsplit("-", 1)[-1].isdigit() and len(word.rsplit("-", 1)[-1]) == 6:
                    return word
        if self.popen.poll() not in (None, 0, 1):
            raise AssertionError(f"submit exited {self.popen.returncode}: {self.log.read_text()}")
        return None

    def running(self):
        return self.popen.poll() is None

    def wait(self, seconds=DEADLINE):
        """The exit status of the client that watched the job to its end."""
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            status = self.cluster.status(self.job)
            raise AssertionError(f"the job did not end: {json.dumps(status)[:3000]}\n"
                                 f"{self.log.read_text()[-1500:]}") from None

    def abandon(self):
        if self.running():
            self.popen.kill()
        self.popen.wait()

    def stage(self, name):
        """The counts of a stage now; {} if the coordinator is away or the stage is not known yet."""
        status = self.cluster.status(self.job) or {}
        for row in status.get("stages", []):
            if row["stage"] == name:
                return {k: int(v) for k, v in row.items() if k != "stage"}
        return {}

    def wait_until_leased(self, stage):
        harness.wait_until(lambda: self.stage(stage).get("running") or not self.running(),
                           f"a lease on a task of {stage}", DEADLINE)
        assert self.running(), f"the job was over before a lease on a task of {stage} was seen"

    def done(self):
        """Tasks done so far."""
        status = self.cluster.status(self.job) or {}
        return sum(int(row["done"]) for row in status.get("stages", []))

    def wait_until_done(self, tasks):
        harness.wait_until(lambda: self.done() >= tasks or not self.running(), f"{tasks} tasks done", DEADLINE)
