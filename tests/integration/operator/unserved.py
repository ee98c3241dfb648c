"""Nothing moves: who says why? A cluster without a worker of a stage, or with those of another release alone."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import harness

JOB = f"""name: unserved
sources:
  - path: {harness.DEMO_SOURCES}
"""
GRACE = 30  # seconds; the coordinator's own is 5


class Unserved(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = pathlib.Path(temporary.name)
        self.job_file = folder / "job.yaml"
        self.job_file.write_text(JOB)
        self.cluster = harness.Cluster(folder / "cluster")
        self.addCleanup(self.cluster.__exit__)
        for role in ("fetcher", "validator", "deduplicator"):
            self.cluster.start_worker(role)

    def submit(self):
        return self.cluster.client("submit", self.job_file).stdout.strip()

    def wait_for_jobs_to_say(self, words):
        return harness.wait_until(lambda: re.search(words, self.cluster.client("jobs").stdout),
                                  f"`jobs` to say {words}", GRACE, pause=0.3)

    def metric(self, name, **labels):
        for line in self.cluster.coordinator.metrics().splitlines():
            if line.startswith(name + "{") and all(f'{k}="{v}"' in line for k, v in labels.items()):
                return float(line.rsplit(" ", 1)[1])
        return None

    def log(self, words):
        lines = [json.loads(line) for line in self.cluster.coordinator.log.read_text().splitlines()]
        return [line for line in lines if words in line["message"]]

    def watch(self, job):
        """Follows the job; returns the process, with its output in a file."""
        out = self.cluster.folder / "watch.log"
        with open(out, "wb") as file:
            watch = subprocess.Popen([harness.BIN / "kernelmill", "watch", job, *self.cluster.addresses()],
                                     stdout=file, stderr=file)
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        return watch, out

    def test_a_stage_without_a_worker_is_named_until_one_comes(self):
        self.assertEqual(self.metric("kernelmill_coordinator_unserved_tasks", stage="extract"), 0, "from the start")
        job = self.submit()
        watch, out = self.watch(job)
        line = r"no worker runs stage extract \d+; start kernelmill-extractor: \d+ tasks? waiting"
        harness.wait_until(lambda: re.search(line, out.read_text()), f"`watch` to say {line}", GRACE)
        self.wait_for_jobs_to_say(line)
        self.assertRegex(self.cluster.client("report", job).stdout, line)
        harness.wait_until(lambda: self.metric("kernelmill_coordinator_unserved_tasks", stage="extract"),
                           "the metric", 10)
        said = self.log("no worker runs this stage; start one")
        self.assertEqual([entry["stage"] for entry in said], ["extract"], "once, not at each look")
        self.cluster.start_worker("extractor")
        self.assertEqual(watch.wait(60), 0, out.read_text())
        self.assertEqual(self.metric("kernelmill_coordinator_unserved_tasks", stage="fetch"), 0)
        harness.wait_until(lambda: self.log("a stage has a worker again"), "the log to say so", 10)
        self.assertNotRegex(self.cluster.client("jobs").stdout, "no worker")

    def test_workers_of_another_version_are_counted_and_listed(self):
        port, store = self.cluster.coordinator.port, self.cluster.store.port
        other = harness.BIN / "kernelmill-extractor-next"
        workers = [subprocess.Popen(
            [other, "--name", f"next-{i}", "--listen", "127.0.0.1:0", "--metrics", "", "--slots", "3",
             "--coordinator", f"127.0.0.1:{port}", "--store", f"127.0.0.1:{store}"],
            stderr=subprocess.DEVNULL) for i in range(2)]
        for worker in workers:
            self.addCleanup(worker.wait)
            self.addCleanup(worker.kill)
        self.submit()
        self.wait_for_jobs_to_say(r"no worker runs stage extract \d+ \(2 workers run version 1000\)")
        listed = [json.loads(line) for line in self.cluster.client("workers", "--json").stdout.splitlines()]
        newer = [worker for worker in listed if worker["name"].startswith("next-")]
        self.assertEqual([worker["name"] for worker in newer], ["next-0", "next-1"])
        self.assertEqual(newer[0]["slots"], 3)
        self.assertIn({"stage": "extract", "version": 1000}, newer[0]["stages"])
        self.assertTrue(newer[0]["version"], "the build's")
        self.assertIn("extract 1000", self.cluster.client("workers").stdout)
        self.assertEqual(len(listed), 5)
        self.assertEqual(self.metric("kernelmill_coordinator_workers", stage="extract", version="other", state="idle"), 2)
        self.assertEqual(self.metric("kernelmill_coordinator_worker_slots", stage="extract", version="other"), 6)
        told = self.log("a worker has different versions of stages")
        self.assertEqual(sorted(entry["worker"] for entry in told), ["next-0", "next-1"])
        self.assertRegex(told[0]["stages"], r"extract 1000 \(not \d+\)")
        for worker in workers:
            worker.kill()
        # Gone, and after a while no longer counted as connected.
        self.wait_for_jobs_to_say(r"no worker runs stage extract \d+; start kernelmill-extractor")


if __name__ == "__main__":
    unittest.main(verbosity=2)
