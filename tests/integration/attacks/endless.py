"""Hosts whose answers never end: each is given up by bytes and by rate, keeps to its share of the fetchers, and the jobs of others go on."""

import contextlib
import json
import pathlib
import tempfile
import threading
import time
import unittest

import harness
from endless_hosts import endless_host
from memory_group import MemoryGroup, compose_limits

RATE, WINDOW = 20_000, 2  # bytes a second, seconds
FLAGS = ("--lowest-rate", RATE, "--rate-window-seconds", WINDOW)
SLOW, FAST = RATE // 4, 0
# Seconds that an endless answer may be listened to: two windows, or 128 MiB that git reads line by line, on a busy machine.
PATIENCE = {SLOW: 20, FAST: 120}
OVER_HTTP = ("refs", "progress", "pack", "old-refs", "old-progress", "old-pack")
BY_DAEMON = ("refs", "progress", "pack", "old-refs", "old-progress", "old-pack")
# Attacks that go as fast as they can. A pack or wheel may have gigabytes, and is a test of its adapter.
AT_ONCE = ("refs", "progress", "old-refs", "old-progress")
GIVEN_UP = {"DEADLINE_EXCEEDED", "FAILED_PRECONDITION"}


class Endless(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.folder = pathlib.Path(folder)
        (self.folder / "git").mkdir()
        harness.make_repository(harness.DEMO_SOURCES, self.folder / "git/good.git")
        good = self.enterContext(harness.git_server(self.folder / "git"))
        self.host = self.enterContext(endless_host())
        # Another host than 127.0.0.1, as far as limits go.
        self.write_job("good", [f"git: {good.url.replace('127.0.0.1', 'localhost')}/good.git"])

    def write_job(self, name, sources):
        lines = [f"  - {source}\n    name: {name}-{number}\n" for number, source in enumerate(sources)]
        (self.folder / f"{name}.yaml").write_text(f"name: {name}\nsources:\n" + "".join(lines))
        return self.folder / f"{name}.yaml"

    @contextlib.contextmanager
    def cluster(self, slots, attempts, index=""):
        """A cluster whose only fetcher has the memory that compose gives it."""
        group = MemoryGroup("fetcher", compose_limits()["fetcher"])

        class Bounded(harness.Cluster):
            def start(self, role, *flags):
                if role == "coordinator":
                    flags = (*flags, "--max-attempts", attempts)
                process = super().start(role, *flags)
                if role == "fetcher":
                    (group.folder / "cgroup.procs").write_text(str(process.popen.pid))
                return process

        with contextlib.ExitStack() as stack:
            stack.callback(group.close)
            cluster = stack.enter_context(Bounded(self.folder / "cluster", index_url=index, lease_ttl=5))
            cluster.start_worker("fetcher", "--slots", slots, *FLAGS)
            for role in ("extractor", "validator", "deduplicator"):
                cluster.start_worker(role)
            yield cluster
            self.assertEqual(group.kills(), 0, "the fetcher had too little memory")
            self.assertIsNone(cluster.processes[2].popen.poll(), "the fetcher has ended")

    def good_job(self, cluster):
        """How long a job of another client takes."""
        begun = time.monotonic()
        cluster.client("submit", self.folder / "good.yaml", "--no-cache", "--wait", "--json", timeout=60)
        return time.monotonic() - begun

    def attack(self, sources, index="", slots=6):
        """Runs a job of endless sources beside good ones; returns its failures by source."""
        job = self.write_job("endless", sources)
        with self.cluster(slots, attempts=1, index=index) as cluster:
            done, times = [], []
            attack = threading.Thread(target=lambda: done.append(
                cluster.client("submit", job, "--wait", "--json", check=False, timeout=400)))
            attack.start()
            while attack.is_alive():
                times.append(self.good_job(cluster))
                attack.join(2)
            report = json.loads(cluster.client("report", next(job["job"] for job in cluster.jobs() if job["job"].startswith("endless")), "--json", check=False).stdout)
        for name, seconds in sorted(self.host.held.items()):
            print(f"{name}\t{max(seconds):.1f} s", flush=True)
        print(f"jobs of another client meanwhile: {len(times)}, the longest {max(times):.1f} s", flush=True)
        self.assertLess(max(times), 30)
        return report

    def ends(self, sources, **options):
        report = self.attack(sources, **options)
        failures = report["status"]["failures"] if "status" in report else report["failures"]
        self.assertEqual(len(failures), len(sources), failures)
        self.assertLessEqual({failure["code"] for failure in failures}, GIVEN_UP, failures)
        for name, seconds in self.host.held.items():
            self.assertLess(max(seconds), PATIENCE[FAST if name.endswith(" 0") else SLOW], name)

    def test_answers_over_http_end(self):
        attacks = [(SLOW, name) for name in OVER_HTTP] + [(FAST, name) for name in AT_ONCE]
        self.ends([f"git: {self.host.http}/{pace}/{name}/a.git" for pace, name in attacks])

    def test_answers_of_a_git_daemon_end(self):
        attacks = [(SLOW, name) for name in BY_DAEMON] + [(FAST, name) for name in AT_ONCE]
        self.ends([f"git: {self.host.git}/{pace}/{name}/a.git" for pace, name in attacks])

    def test_pages_of_a_package_index_end(self):
        for pace in (SLOW, FAST):
            with self.subTest(pace=pace):
                self.ends(["package: a==1.0"], index=f"{self.host.http}/{pace}/page/simple", slots=2)

    def test_wheels_end(self):
        self.ends(["package: a==1.0", "package: b==1.0"], index=f"{self.host.http}/{SLOW}/wheel/simple", slots=2)

    def test_a_host_keeps_to_its_share_of_the_slots(self):
        """Packs that keep to the rate: they end with the command's timeout, and hold fewer slots than there are."""
        job = self.write_job("steady", [f"git: {self.host.http}/{RATE * 4}/pack/{n}.git" for n in range(6)])
        with self.cluster(slots=2, attempts=1) as cluster:
            cluster.client("submit", job)
            harness.wait_until(lambda: harness.metric(cluster.processes[2].metrics(), "kernelmill_worker_busy_slots") >= 1,
                               "the attack to begin")
            time.sleep(3)
            times = [self.good_job(cluster) for _ in range(3)]
            print(f"jobs beside a host that holds what it gets: {', '.join(f'{t:.1f}' for t in times)} s", flush=True)
            self.assertLess(max(times), 30)
            cluster.client("cancel", next(job["job"] for job in cluster.jobs() if job["job"].startswith("steady")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
