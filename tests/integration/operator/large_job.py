"""A job of 100,000 sources, the most that one may have: its failures and its lock are larger than a message, and every
command on it works and is quick. tests/bench/large_job.py is the same with kernels, and measures."""

import json
import pathlib
import subprocess
import tempfile
import time
import unittest

import harness

SOURCES = 100_000
MESSAGE_BYTES = 16 << 20
QUICK = 60  # seconds that no command may take, on a machine that does much else


class LargeJob(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        # A path as people have them, a hundred characters and more: what names it grows with it.
        cls.folder = pathlib.Path(cls.temporary.name) / ("corpus-of-repositories-" * 4)
        cls.folder.mkdir()
        cls.job_file = cls.folder / "large.yaml"
        cls.job_file.write_text("name: large\nsources:\n" + "".join(f"  - path: s{n:06}\n" for n in range(SOURCES)))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def quickly(self, cluster, *argv, codes=(0,)):
        begin = time.monotonic()
        done = cluster.client(*argv, check=False, timeout=QUICK)
        self.assertIn(done.returncode, codes, done.stderr[-500:])
        self.assertLess(time.monotonic() - begin, QUICK, argv)
        return done.stdout

    def failed(self, cluster):
        """How many sources are known to have failed."""
        status, = cluster.jobs()
        return next(int(s["failed"]) for s in status["stages"] if s["stage"] == "pin")

    def first_line_of_watch(self, cluster, job):
        watch = subprocess.Popen([harness.BIN / "kernelmill", "watch", job, "--json", *cluster.addresses()],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            return json.loads(watch.stderr.readline())
        finally:
            watch.kill()
            watch.wait()
            watch.stderr.close()

    def check_report(self, cluster, job, state):
        text = self.quickly(cluster, "report", job, "--json")
        status = json.loads(text)
        self.assertEqual(status["state"], state)
        sources = {f["source"] for f in status["failures"]}
        self.assertEqual(len(sources), len(status["failures"]), "a failure is named twice")
        self.assertEqual(int(status["failure_count"]), len(sources))
        return sources, len(text)

    def test_every_command_on_it_works_while_it_runs_and_when_it_has_ended(self):
        with harness.Cluster(self.folder / "cluster", lease_ttl=30, hold=True) as cluster:
            job = self.quickly(cluster, "submit", self.job_file).strip()
            for role in ("fetcher", "fetcher", "deduplicator"):
                cluster.start_worker(role)
            harness.wait_until(lambda: self.failed(cluster) > SOURCES // 2, "half of the sources", 120, pause=0.2)
            status = self.first_line_of_watch(cluster, job)
            self.assertIn("stages", status, status)
            self.assertEqual(len(status["failures"]), 100)
            self.assertGreaterEqual(int(status["failure_count"]), SOURCES // 2)
            sources, _ = self.check_report(cluster, job, "running")
            self.assertGreaterEqual(len(sources), SOURCES // 2)

            harness.wait_until(lambda: cluster.jobs()[0]["state"] != "running", "the end", 120, pause=0.2)
            sources, size = self.check_report(cluster, job, "done")
            self.assertEqual(len(sources), SOURCES)
            self.assertGreater(size, MESSAGE_BYTES)
            summary = json.loads(self.quickly(cluster, "watch", job, "--json", codes=(1,)))
            self.assertEqual(int(summary["job"]["failure_count"]), SOURCES)
            self.assertIn("and 99994 more: ", self.quickly(cluster, "watch", job, codes=(1,)))
            self.check_export(cluster, job)

            self.assertEqual(json.loads(self.quickly(cluster, "retry", job, "--json"))["runs"], 2)
            self.assertEqual(json.loads(self.quickly(cluster, "cancel", job, "--json"))["state"], "cancelled")
            self.check_report(cluster, job, "cancelled")
            self.quickly(cluster, "delete", job)
            self.assertEqual(cluster.jobs(), [])

    def check_export(self, cluster, job):
        out = self.folder / "out"
        self.quickly(cluster, "export", job, "--out", out, codes=(1,))
        report = json.loads((out / "report.json").read_text())
        self.assertEqual(len(report["failures"]), SOURCES)
        lock = (out / "job.lock.yaml").read_text()
        self.assertGreater(len(lock), MESSAGE_BYTES)
        self.assertEqual(lock.count("- path: "), SOURCES)

    def test_the_action_of_a_whole_job_may_be_larger_than_a_message(self):
        """A manifest's action has each source with its URL three times: here 25 MB."""
        job_file = self.folder / "long.yaml"
        job_file.write_text("name: long\nsources:\n  - list: long.txt\n")
        # Each of a host of its own, which no fetcher calls on.
        (self.folder / "long.txt").write_text(
            "".join(f"https://127.1.{n // 250}.{n % 250 + 1}/{'r' * 4000}\n" for n in range(2100)))
        with harness.Cluster(self.folder / "cluster-long", lease_ttl=30, hold=True) as cluster:
            job = self.quickly(cluster, "submit", job_file).strip()
            for role in ("fetcher", "fetcher", "deduplicator"):
                cluster.start_worker(role)
            harness.wait_until(lambda: cluster.jobs()[0]["state"] != "running", "the end", 120, pause=0.2)
            sources, _ = self.check_report(cluster, job, "done")
            self.assertEqual(len(sources), 2100)


if __name__ == "__main__":
    unittest.main(verbosity=2)
