"""Waiting for a job: what is shown of it, and how to come back to it."""

import json
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import harness

PLAIN = {"PATH": "/usr/bin:/bin"}
MISSING = "name: missing\nsources:\n" + "".join(f"  - git: http://127.0.0.1:1/{i}\n" for i in range(3))


class Lines:
    """Runs a client and keeps the lines that it writes to stderr, with the time of each."""

    def __init__(self, *argv):
        self.popen = subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      env=PLAIN)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.popen.stderr:
            self.lines.append(line.rstrip("\n"))

    def text(self):
        return "\n".join(self.lines)

    def end(self, how=None):
        if how:
            self.popen.send_signal(how)
        self.popen.wait(30)
        self.reader.join(10)
        return self.popen.returncode


class Watching(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.cluster = self.enterContext(harness.Cluster(self.folder / "cluster"))
        harness.write_many_kernels(self.folder / "kernels", 3, 2)
        self.job = self.folder / "job.yaml"
        self.job.write_text(f"name: kernels\nsources:\n  - path: {self.folder / 'kernels'}\n")

    def client(self, *argv):
        return Lines(harness.BIN / "kernelmill", *argv, *self.cluster.addresses())

    def submit(self, *flags, job=None):
        return self.cluster.client("submit", job or self.job, *flags, check=False)

    def test_what_a_pause_held_back_is_written_after_it(self):
        """Starts a worker for the first stages alone: the job then makes no progress, and the client shows its last state."""
        watch = self.client("submit", self.job, "--wait")
        try:
            harness.wait_until(lambda: "job kernels" in watch.text(), "the job's name")
            self.cluster.start_worker("fetcher")
            name = re.search(r"job (\S+)", watch.text())[1]

            def fetched():
                status = json.loads(self.cluster.client("report", name, "--json").stdout)
                return any(s["stage"] == "fetch" and int(s["done"]) == 1 for s in status["stages"])

            harness.wait_until(fetched, "the fetch")
            harness.wait_until(lambda: "fetch 1/1" in watch.text(), "the end of the fetch to be shown", 10)
        finally:
            watch.end(signal.SIGINT)

    def test_an_interrupt_says_that_the_job_goes_on_and_how_to_come_back(self):
        for argv in (["submit", self.job, "--wait"], ["watch"]):
            if argv == ["watch"]:
                argv.append(self.submit().stdout.strip())
            waiting = self.client(*argv)
            harness.wait_until(lambda: self.cluster.jobs(), "the job")
            time.sleep(1)
            self.assertEqual(waiting.end(signal.SIGINT), 130, waiting.text())
            job = self.cluster.jobs()[0]
            self.assertEqual(job["state"], "running")
            there = " ".join([job["job"], *self.cluster.addresses()])
            self.assertIn(f"job {job['job']} continues: `kernelmill watch {there}` follows it, "
                          f"`kernelmill cancel {there}` ends it", waiting.text())

    def test_a_job_whose_every_source_failed_is_not_plainly_done(self):
        self.cluster.start_workers()
        job = self.folder / "missing.yaml"
        job.write_text(MISSING)
        done = self.submit("--wait", job=job)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("done, all 3 sources failed", done.stdout)
        table = self.cluster.client("jobs").stdout.splitlines()
        self.assertRegex(table[0], r"\bfailures\b")
        self.assertRegex(table[1], r"done, all 3 sources failed .* \d+ +0 +1  \S+ +missing$")

    def test_a_request_id_makes_one_job(self):
        first = self.submit("--request-id", "nightly")
        again = self.submit("--request-id", "nightly")
        self.assertEqual((first.returncode, again.returncode), (0, 0), again.stderr)
        self.assertEqual(first.stdout, again.stdout)
        self.assertIn("request nightly is job kernels-", again.stderr)
        self.assertEqual(len(self.cluster.jobs()), 1)
        other = self.folder / "other.yaml"
        other.write_text(self.job.read_text().replace("name: kernels", "name: other"))
        refused = self.submit("--request-id", "nightly", job=other)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("--request-id nightly belongs to job kernels-", refused.stderr)
        self.assertEqual(len(self.cluster.jobs()), 1)
