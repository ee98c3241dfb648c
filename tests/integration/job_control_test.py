"""Uses the client on a real cluster as a person does: cancels, retries and deletes jobs, checks what the store holds
meanwhile, and runs stat, verify, gc, backup and restore on the store."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import textwrap
import unittest

import harness


class JobControl(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        harness.write_many_kernels(cls.folder / "many", 30, 3)
        cls.job = cls.folder / "job.yaml"
        cls.job.write_text(textwrap.dedent("""
            name: control
            sources:
              - path: ./many
                name: many
              - path: ./none
                name: none
            """).lstrip())
        cls.reference = cls.folder / "reference"
        done = harness.crawl(cls.job, cls.reference, cls.folder / "reference-data", check=False)
        assert done.returncode == 1, done.stderr  # ./none is not there

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def setUp(self):
        self.cluster = harness.Cluster(self.folder / self.id().rsplit(".", 1)[-1], store_flags=(
            "--backups", self.folder / "backups"), hold=True)
        self.addCleanup(self.cluster.__exit__)

    def client(self, *argv, code=0):
        done = self.cluster.client(*argv, check=False)
        self.assertEqual(done.returncode, code, f"{argv}: {done.stdout}\n{done.stderr}")
        return done

    def store(self, *argv, code=0):
        return self.offline(*argv, "--store", f"127.0.0.1:{self.cluster.store.port}", code=code)

    def collect(self, *argv):
        return self.store("gc", "--target-bytes", "0", "--coordinator", f"127.0.0.1:{self.cluster.coordinator.port}", *argv)

    def offline(self, *argv, code=0):
        done = harness.run(harness.BIN / "kernelmill", "store", *argv, check=False)
        self.assertEqual(done.returncode, code, f"{argv}: {done.stdout}\n{done.stderr}")
        return done

    def status(self, job):
        return json.loads(self.client("report", job, "--json").stdout)

    def holds(self):
        """{name without the coordinator's suffix: hold}"""
        stat = json.loads(self.store("stat", "--json").stdout)
        return {h["name"].partition("@")[0]: h for h in stat["holds"]}

    def wait_for_holds(self, *names):
        harness.wait_until(lambda: set(self.holds()) == set(names), f"the holds {names}, not {self.holds()}", 30)

    def run_job(self):
        """Runs the job to its end; returns its id."""
        out = self.cluster.folder / "out"
        self.client("submit", self.job, "--wait", "--out", out, code=1)
        self.assertEqual(harness.dataset_digest(out), harness.dataset_digest(self.reference))
        return self.cluster.jobs()[0]["job"]

    def test_a_job_is_cancelled_retried_and_deleted(self):
        # Without a fetcher, the job waits.
        for role in ("extractor", "validator", "deduplicator"):
            self.cluster.start_worker(role)
        waiter = subprocess.Popen([harness.BIN / "kernelmill", "submit", self.job, "--priority", "7", "--wait",
                                   *self.cluster.addresses()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True)
        self.addCleanup(waiter.kill)
        job = harness.wait_until(self.cluster.jobs, "the job")[0]["job"]
        self.assertEqual(self.status(job)["priority"], 7)
        self.wait_for_holds(f"job/{job}")
        self.client("delete", job, code=2)
        self.assertEqual(self.client("cancel", job).stdout, f"{job}  cancelled\n")
        shown, _ = waiter.communicate(timeout=60)
        self.assertEqual(waiter.returncode, 1)
        self.assertIn("cancelled", shown)
        self.assertEqual(self.client("cancel", job).stdout, f"{job}  cancelled\n")
        self.client("watch", job, code=1)
        self.wait_for_holds()

        self.cluster.start_worker("fetcher")
        out = self.cluster.folder / "out"
        self.client("retry", job, "--out", out, code=1)
        self.assertEqual(harness.dataset_digest(out), harness.dataset_digest(self.reference))
        status = self.status(job)
        self.assertEqual((status["state"], status["runs"], status["priority"]), ("done", 2, 7))
        self.assertEqual([f["source"] for f in status["failures"]], ["none"])
        self.assertRegex(self.client("jobs").stdout, rf"{job} +done .* 7 +2  \S+ +control\n")
        self.wait_for_holds(f"dataset/{job}")

        # The failed source is tried again; the rest comes from the cache.
        self.addCleanup(shutil.rmtree, self.folder / "none")
        harness.write_many_kernels(self.folder / "none", 1, 1)
        again = self.cluster.folder / "again"
        self.client("retry", job, "--wait", "--out", again)
        self.assertNotEqual(harness.dataset_digest(again), harness.dataset_digest(self.reference))
        stages = {s["stage"]: s for s in self.status(job)["stages"]}
        self.assertEqual(stages["extract"]["total"], stages["extract"]["cached"] + 1)

        self.assertEqual(self.client("delete", job).stdout, f"{job}  deleted\n")
        for command in ("report", "watch", "cancel", "retry", "delete"):
            self.client(command, job, code=2)
        self.wait_for_holds()

    def test_garbage_is_what_no_job_needs(self):
        self.cluster.start_workers()
        job = self.run_job()
        self.wait_for_holds(f"dataset/{job}")
        before = json.loads(self.store("stat", "--json").stdout)
        dropped = json.loads(self.collect("--json").stdout)
        self.assertGreater(int(dropped["dropped_blobs"]), 0)
        after = json.loads(self.store("stat", "--json").stdout)
        self.assertEqual(int(after["blobs"]), int(before["blobs"]) - int(dropped["dropped_blobs"]))
        kept = self.cluster.folder / "kept"
        self.client("export", job, "--out", kept, code=1)
        self.assertEqual(harness.tree_hashes(kept), harness.tree_hashes(self.cluster.folder / "out"))
        # The job makes the dropped blobs again.
        self.client("retry", job, "--out", self.cluster.folder / "again", code=1)
        self.assertEqual(harness.dataset_digest(self.cluster.folder / "again"),
                         harness.dataset_digest(self.reference))
        self.client("delete", job)
        self.wait_for_holds()
        self.collect()
        self.assertEqual(int(json.loads(self.store("stat", "--json").stdout)["blobs"]), 0)

    def test_a_backup_is_the_store_that_it_was_made_of(self):
        self.cluster.start_workers()
        job = self.run_job()
        self.wait_for_holds(f"dataset/{job}")
        self.assertIn("all are intact", self.store("verify").stdout)
        backup = json.loads(self.store("backup", "monday", "--json").stdout)
        self.store("backup", "../monday", code=2)
        self.assertEqual(self.cluster.store.stop(), 0)
        data = self.cluster.folder / "restored"
        self.offline("restore", "--from", backup["path"], "--data", data)
        self.offline("restore", "--from", backup["path"], "--data", data, code=2)  # it is not empty any more
        self.offline("restore", "--from", self.cluster.folder / "none", "--data", self.cluster.folder / "x", code=2)
        self.cluster.store = self.cluster.start("store", "--data", data)
        out = self.cluster.folder / "exported"
        self.client("export", job, "--out", out, code=1)
        self.assertEqual(harness.tree_hashes(out), harness.tree_hashes(self.cluster.folder / "out"))
        self.assertEqual(set(self.holds()), {f"dataset/{job}"})
        self.store("backup", "tuesday", code=2)  # started without a folder for them

    def test_a_store_out_of_reach_exits_3(self):
        self.cluster.store.stop()
        self.store("stat", code=3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
