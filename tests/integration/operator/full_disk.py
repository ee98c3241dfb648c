"""A store without room: jobs wait for it, say so, and lose nothing. tests/chaos/disk_test.py fills real disks."""

import pathlib
import subprocess
import tempfile
import unittest

import harness

NO_ROOM = 1 << 60  # more than any disk has free


def health(process, service=""):
    done = harness.run(harness.BIN / "chaos_client", "health", f"127.0.0.1:{process.port}", service, check=False)
    return done.stdout.strip()


class FullDisk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.job = harness.many_kernels_job(cls.folder, "waits", 8, 3)
        harness.crawl(cls.job, cls.folder / "reference", cls.folder / "data")

    def setUp(self):
        self.cluster = harness.Cluster(self.folder / self.id().rsplit(".", 1)[-1])
        self.addCleanup(self.cluster.__exit__)

    def restart_store(self, *flags):
        """The store anew, at its old address."""
        store = self.cluster.store
        store.stop()
        argv = store.command("--data", self.cluster.folder / "store", *flags)
        with open(store.log, "ab") as log:
            store.popen = subprocess.Popen([str(a) for a in argv], stdout=log, stderr=log)
        harness.wait_until(store.answers, "the store to come back")

    def wait_for_refusals(self, value):
        harness.wait_until(lambda: harness.metric(self.cluster.store.metrics(), "kernelmill_store_refuses_writes") == value,
                           f"the store's metric of refused writes to be {value}")

    def test_a_job_waits_for_a_store_without_room_says_so_and_loses_nothing(self):
        self.restart_store("--keep-free-bytes", NO_ROOM)
        self.cluster.start_workers()
        harness.wait_until(lambda: health(self.cluster.store, "ready") == "NOT_SERVING", "the store to be not ready")
        self.assertEqual(health(self.cluster.store), "SERVING", "it serves what it has")
        self.wait_for_refusals(1)
        job = self.cluster.client("submit", self.job).stdout.strip()
        said = "waits for the store: "
        harness.wait_until(lambda: said in self.cluster.client("jobs").stdout, "`jobs` to say what is waited for", 60)
        self.assertIn("the store's disk is full", self.cluster.client("jobs").stdout)
        watch = subprocess.Popen([str(a) for a in (harness.BIN / "kernelmill", "watch", job, *self.cluster.addresses())],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        line = ""
        while "the store's disk is full" not in line:
            line = watch.stderr.readline()
            self.assertNotEqual(line, "", "`watch` ended without a word of the disk")
        self.assertGreater(harness.metric(self.cluster.store.metrics(), 'kernelmill_store_blob_errors_total'), 0)
        self.restart_store()
        harness.wait_until(lambda: health(self.cluster.store, "ready") == "SERVING", "the store to be ready again")
        self.wait_for_refusals(0)
        watch.communicate(timeout=120)
        self.assertEqual(watch.returncode, 0)
        status = harness.last_status(self.cluster.client("report", job, "--json").stdout)
        self.assertEqual(status["state"], "done")
        self.assertFalse(status.get("failures"), status)
        self.cluster.client("export", job, "--out", self.folder / "out")
        self.assertEqual(harness.dataset_digest(self.folder / "out"), harness.dataset_digest(self.folder / "reference"))

    def test_a_worker_that_does_not_reach_its_store_or_coordinator_is_not_ready(self):
        worker = self.cluster.start_worker("validator")
        self.assertEqual(health(worker, "ready"), "SERVING")
        for process in (self.cluster.store, self.cluster.coordinator):
            process.kill()
            process.popen.wait()
            harness.wait_until(lambda: health(worker, "ready") == "NOT_SERVING", "the worker to be not ready")
            self.assertEqual(health(worker), "SERVING", "it lives")
            if process is self.cluster.store:
                self.restart_store()
                harness.wait_until(lambda: health(worker, "ready") == "SERVING", "the worker to be ready again")
        self.assertIn('"message":"not ready"', worker.log.read_text())
        self.assertIn("is unreachable", worker.log.read_text())
