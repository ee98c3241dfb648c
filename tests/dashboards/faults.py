"""Provokes every alert once, with a real fault, on a cluster that a Prometheus watches."""

import contextlib
import http.server
import signal
import socket
import subprocess
import threading
import time

import cluster as clusters
import damage
import harness
import lab
import prometheus
import shim as shims

MARKER = "KILLS-ITS-READER"


def answering(code, **headers):
    """Returns a handler for a git host that gives every request this answer."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_):
            pass

    return Handler


@contextlib.contextmanager
def host(name, handler):
    server = http.server.ThreadingHTTPServer((name, 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://{name}:{server.server_address[1]}"
    server.shutdown()


class Run:
    """A cluster, a Prometheus, and what has fired: {alert: (fault, seconds from the fault on)}."""

    def __init__(self, stack, folder, patience=None):
        self.stack, self.folder, self.fired, self.shims = stack, folder, {}, {}
        self.began = self.fault_began = time.monotonic()
        self.fault = "start"
        self.disk = lab.SmallDisk(folder / "cluster/store", 1500)
        stack.callback(self.disk.close)
        self.cluster = clusters.ChaosCluster(folder / "cluster", lease_ttl=5, max_attempts=5)
        stack.callback(self.cluster.__exit__)
        for role in clusters.WORKERS:
            self.cluster.add_worker(role)
        for node in self.cluster.nodes.values():
            self.shims[node.name] = shims.Shim(folder / f"shim-{node.name}")
            node.env = self.shims[node.name].env()
        self.store, self.coordinator = self.cluster.store, self.cluster.coordinator
        self.coordinator.flags += ["--store", self.store.address, "--max-jobs", "8"]
        self.extractor, = self.cluster.workers("extractor")
        self.validator, = self.cluster.workers("validator")
        for node in self.cluster.nodes.values():
            node.start()
        self.prometheus = prometheus.Prometheus(folder / "prometheus", self.cluster.nodes.values(), patience)
        stack.callback(self.prometheus.close)
        time.sleep(8)  # rates need earlier values: some scrapes of series that are still 0
        harness.wait_until(lambda: not self.prometheus.firing(), "no alert, while nothing is wrong", clusters.DEADLINE)
        self.git = stack.enter_context(harness.git_server(folder / "git"))

    def say(self, text):
        print(f"{time.monotonic() - self.began:6.0f} s  {text}", flush=True)

    def note_alerts(self):
        for alert in self.prometheus.firing() - set(self.fired):
            self.fired[alert] = (self.fault, time.monotonic() - self.fault_began)
            self.say(f"fires: {alert}")

    def begin(self, fault):
        """Begins a fault: later alerts belong to it, and alerts that fired until now belong to the fault before it."""
        self.note_alerts()
        self.fault, self.fault_began = fault, time.monotonic()
        self.say(fault)

    def await_alerts(self, alerts, seconds, meanwhile=lambda: None):
        """Waits until the alerts have fired; calls `meanwhile` every second until then."""
        give_up = time.monotonic() + seconds
        self.note_alerts()
        while time.monotonic() < give_up and set(alerts) - set(self.fired):
            meanwhile()
            time.sleep(1)
            self.note_alerts()

    def job(self, name, sources):
        path = self.folder / f"{name}.yaml"
        path.write_text(f"name: {name}\nsources:\n" + "".join(f"  - {source}\n" for source in sources))
        return path

    def submit(self, name, sources):
        submission = self.cluster.submit(self.job(name, sources), self.folder / f"out-{name}", name)
        self.stack.callback(submission.abandon)
        return submission

    def tree(self, name, files=12):
        """Writes a folder of kernels that no job has seen; returns it as a source."""
        harness.write_many_kernels(self.folder / name, files, 3)
        for path in (self.folder / name).glob("*.py"):
            path.write_text(path.read_text().replace("def ", f"def {name}_"))
        return f"path: {self.folder / name}"


def nothing_moves(run):
    for worker in run.cluster.workers():
        worker.terminate()
    run.submit("stands", [run.tree("stands")])
    yield
    run.shims["coordinator"].clock_offset_ns = int(1860e9)
    yield
    run.shims["coordinator"].clock_offset_ns = 0
    for worker in run.cluster.workers():
        worker.start()


def good_jobs(run):
    url = f"http://127.0.0.1:{run.git.server_address[1]}"
    run.submit("good", [f"git: {url}/many.git", f"git: {url}/more.git", f"{{path: {run.folder / 'many'}, name: twice}}"]).wait(300)
    run.submit("again", [f"git: {url}/many.git"]).wait(300)
    yield


def keep_extractor(run):
    """Restarts an extractor that the poison killed, as a supervisor does."""
    if not run.extractor.running():
        run.extractor.spawn()


def a_poison_file(run):
    source = run.tree("poison")
    with open(sorted((run.folder / "poison").glob("*.py"))[5], "a", encoding="utf-8") as file:
        file.write(f"# {MARKER}\n")
    run.shims[run.extractor.name].poison = MARKER
    run.submit("poison", [source])
    yield lambda: keep_extractor(run)
    run.shims[run.extractor.name].poison = ""
    keep_extractor(run)
    harness.wait_until(run.extractor.answers, "the extractor to listen", clusters.DEADLINE)


def a_busy_host(run):
    with host("localhost", answering(429, Retry_After="1")) as url:
        job = run.submit("limited", [f"git: {url}/{i}.git" for i in range(6)])
        yield
        run.cluster.client("cancel", job.job)


def a_broken_host(run):
    with host("127.0.0.2", answering(500)) as url:
        run.submit("broken", [f"git: {url}/{i}.git" for i in range(6)])
        yield


def too_many_jobs(run):
    with host("localhost", answering(429, Retry_After="60")) as url:
        for i in range(8):
            run.cluster.client("submit", run.job(f"many{i}", [f"git: {url}/{i}.git"]))
        refused = subprocess.Popen([harness.BIN / "kernelmill", "submit", run.job("refused", [f"git: {url}/9.git"]),
                                    *run.cluster.addresses()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        yield
        refused.kill()
        refused.wait()
        for line in run.cluster.client("jobs").stdout.splitlines():
            if line.startswith("many"):
                run.cluster.client("cancel", line.split()[0], check=False)


def restarts(run):
    for _ in range(5):
        run.validator.kill()
        run.validator.start()
        time.sleep(5)  # a scrape of each life
    yield


def two_releases(run):
    now = run.extractor.program
    run.extractor.terminate()
    run.extractor.program = harness.BIN / "kernelmill-extractor-next"
    run.extractor.start()
    yield
    run.extractor.terminate()
    run.extractor.program = now
    run.extractor.start()


def open_connections(run):
    run.validator.terminate()
    run.validator.prefix = ["prlimit", "--nofile=256"]
    run.validator.start()
    opened = []

    def connect():  # the server ends some after minutes
        while run.validator.metric("process_open_fds") < 220:
            opened.append(socket.create_connection(("127.0.0.1", run.validator.port), timeout=5))

    yield connect
    for connection in opened:
        connection.close()
    run.validator.kill()
    run.validator.prefix = []
    run.validator.start()


def a_lying_worker(run):
    port = harness.free_port()
    words = [f"127.0.0.1:{p}" for p in (port, run.coordinator.port, run.store.port)]
    log = run.folder / "forger.log"
    with open(log, "wb") as out:
        forger = subprocess.Popen([harness.BIN / "chaos_client", "forge", *words, "hash", "@triton.jit\ndef stolen(): pass\n"],
                                  stdout=out, stderr=out)
    run.stack.callback(forger.kill)
    harness.wait_until(lambda: "serving" in log.read_text(), "the forger to listen")
    honest = list(run.extractor.flags)
    run.extractor.terminate()
    run.extractor.flags[run.extractor.flags.index(run.coordinator.address)] = words[0]
    run.extractor.start()
    run.submit("lies", [run.tree("lies")])
    yield
    run.extractor.terminate()
    run.extractor.flags = honest
    run.extractor.start()


def a_full_disk(run):
    run.disk.fill()
    late = run.submit("late", [run.tree("late", 30)])
    yield
    run.disk.free()
    late.wait(300)


def a_slow_disk(run):
    run.shims["store"].table_sync_us = 12_000_000
    putting = [subprocess.Popen([harness.BIN / "chaos_client", "put", run.store.address, str(seed), "100", str(1 << 20)],
                                stdout=subprocess.DEVNULL) for seed in range(4)]
    for popen in putting:
        run.stack.callback(popen.kill)
    yield
    run.shims["store"].table_sync_us = 0
    for popen in putting:
        popen.wait(300)


def damaged_blobs(run):
    run.store.terminate()
    for file in damage.files(run.folder / "cluster/store", ".blob")[:3]:
        for at in range(4096, file.stat().st_size, 100_000):
            damage.flip(file, at)
    run.store.start()
    verified = harness.run(harness.BIN / "kernelmill", "store", "verify", "--store", run.store.address, check=False, timeout=300)
    assert verified.returncode == 1, verified.stderr  # it has found damage
    yield
    check = [harness.BIN / "chaos_client", "check", run.store.address, "0", "20", str(1 << 20)]
    yield lambda: subprocess.run(check, stdout=subprocess.DEVNULL, timeout=120)


def a_killed_store(run):
    run.store.kill()
    yield
    run.store.start()


def a_killed_coordinator(run):
    run.coordinator.signal(signal.SIGKILL)
    yield


# A generator each: it stops where alerts have to fire, with what is to be done meanwhile.
FAULTS = (
    # Runs before any task has ended: its alert looks at the last quarter of an hour.
    (nothing_moves, (("every worker stopped, a job submitted", ("ProcessDown", "NoWorkerForStage", "NothingMoves")),
                     ("the coordinator's clock 31 min later", ("TasksWaitLong",)))),
    (good_jobs, (("jobs without faults", ()),)),
    (a_busy_host, (("a git host that answers 429", ("HostLimitsUs",)),)),
    (a_broken_host, (("a git host that answers 500", ("HostFails",)),)),
    (too_many_jobs, (("a ninth job where 8 may run", ("CallersRefused",)),)),
    (a_poison_file, (("a file that kills its extractor", ("WorkersLost", "FilesQuarantined")),)),
    (restarts, (("the validator killed five times", ("ProcessRestarts",)),)),
    (two_releases, (("an extractor of the next release", ("VersionsMixed",)),)),
    (open_connections, (("idle connections to a validator that may have 256 descriptors", ("DescriptorsRunOut",)),)),
    (a_lying_worker, (("an extractor that hands in forged hashes", ("JobsFail",)),)),
    (a_full_disk, (("the store's disk is full", ("StoreNearlyFull", "StoreRefusesWrites", "StoreDiskFull", "WorkersWaitForStore")),)),
    (a_slow_disk, (("tables take 12 s to sync, 400 MB uploaded", ("StoreStalls",)),)),
    (damaged_blobs, (("bits flipped in blob files, `store verify`", ("StoreDamaged",)),
                     ("damaged blobs read again and again", ("CallsFail",)))),
    (a_killed_store, (("the store killed", ("StoreDown",)),)),
    (a_killed_coordinator, (("the coordinator killed", ("CoordinatorDown",)),)),
)


def provoke(run, only=()):
    """Provokes all faults, or those of these names."""
    for fault, steps in FAULTS:
        if only and fault.__name__ not in only:
            continue
        generator = None
        for what, alerts in steps:
            run.begin(what)
            generator = generator or fault(run)
            meanwhile = next(generator)
            run.await_alerts(alerts, 600, *([meanwhile] if meanwhile else []))
        next(generator, None)  # and makes it good
