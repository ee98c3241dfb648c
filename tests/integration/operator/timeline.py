"""Checks the timelines, traces and logs that show where a job's time went and which worker ran each task."""

import json
import pathlib
import tempfile
import unittest

import harness

JOB = f"""name: timed
sources:
  - name: demo
    path: {harness.DEMO_SOURCES}
  - name: nowhere
    path: /nonexistent
"""
NAMES = {"job", "task", "stage", "worker", "attempt", "error"}


def lines(process):
    return [json.loads(line) for line in process.log.read_text().splitlines() if line.startswith("{")]


class Timeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.job_file = cls.folder / "job.yaml"
        cls.job_file.write_text(JOB)
        cls.cluster = harness.Cluster(cls.folder / "cluster")
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.workers = [cls.cluster.start_worker(role, "--name", f"{role}-1") for role in harness.Cluster.WORKERS]
        cls.job = cls.cluster.client("submit", cls.job_file).stdout.strip()
        cls.cluster.client("watch", cls.job, check=False)

    def spans(self):
        done = self.cluster.client("report", self.job, "--timeline", "--json")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_every_attempt_says_when_it_waited_ran_and_ended(self):
        spans = self.spans()
        status = json.loads(self.cluster.client("report", self.job, "--json").stdout)
        for stage in status["stages"]:
            tasks = {span["task"] for span in spans if span["stage"] == stage["stage"]}
            self.assertEqual(len(tasks), int(stage["total"]), stage)
        for span in spans:
            self.assertLessEqual(span["ready_unix_ms"], span["leased_unix_ms"], span)
            self.assertLessEqual(span["leased_unix_ms"], span["ended_unix_ms"], span)
            self.assertIn(span["outcome"], ("done", "cached", "failed"), span)
        extract = next(span for span in spans if span["stage"] == "extract")
        self.assertEqual((extract["source"], extract["worker"]), ("demo", "extractor-1"))
        self.assertGreater(extract["run_us"], 0)
        self.assertLess(extract["run_us"], 1000 * (extract["ended_unix_ms"] - extract["leased_unix_ms"] + 100))
        failed = [span for span in spans if span["outcome"] == "failed"]
        self.assertEqual({span["source"] for span in failed}, {"nowhere"})

    def test_the_chart_has_a_line_a_stage_and_the_slowest(self):
        chart = self.cluster.client("report", self.job, "--timeline").stdout
        for word in ("queued p50/p95/max", "fetch ", "extract ", "manifest ", "slowest", "of demo, task "):
            self.assertIn(word, chart)

    def test_a_trace_has_a_row_a_slot_and_waits_that_end(self):
        file = self.folder / "trace.json"
        self.cluster.client("report", self.job, "--trace", file)
        events = json.loads(file.read_text())["traceEvents"]
        self.check_trace(events)
        processes = {e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertEqual(processes, {"queue", *(f"{role}-1" for role in harness.Cluster.WORKERS)})

    def check_trace(self, events):
        """The form that Chrome's importer asks for."""
        slices = [e for e in events if e["ph"] == "X" and "args" in e]
        self.assertTrue(slices)
        rows = {}
        for event in events:
            self.assertIn(event["ph"], "MXbe")
            self.assertIsInstance(event["pid"], int)
            self.assertIsInstance(event["tid"], int)
            if event["ph"] != "M":
                self.assertGreaterEqual(event["ts"], 0)
        for event in slices:
            row = (event["pid"], event["tid"])
            self.assertGreaterEqual(event["ts"], rows.get(row, 0), f"overlaps: {event}")
            rows[row] = event["ts"] + event["dur"]
        named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
        self.assertEqual(named, set(rows))
        opened = sorted(e["id"] for e in events if e["ph"] == "b")
        self.assertEqual(opened, sorted(e["id"] for e in events if e["ph"] == "e"))
        self.assertTrue(opened)

    def test_a_crawl_in_one_process_writes_a_trace_too(self):
        file, out = self.folder / "crawl.json", self.folder / "out"
        harness.crawl(self.job_file, out, self.folder / "data", "--trace", file, check=False)
        self.check_trace(json.loads(file.read_text())["traceEvents"])
        self.assertNotIn("unix_ms", (out / "report.json").read_text(), "the dataset knows no time")

    def test_logs_of_both_sides_join(self):
        """Each task that was leased: the coordinator's lines, and those of the worker that it names."""
        ours = [line for line in lines(self.cluster.coordinator) if "task" in line]
        theirs = {}
        for worker in self.workers:
            for line in lines(worker):
                if "task" in line:
                    theirs.setdefault((line["job"], line["task"], line["worker"], line["attempt"]), []).append(line)
        leased = [line for line in ours if line["message"] == "task leased"]
        self.assertGreater(len(leased), 8)
        for line in leased:
            self.assertLessEqual(NAMES, set(line))
            key = (line["job"], line["task"], line["worker"], line["attempt"])
            there = theirs.get(key, [])
            self.assertEqual([entry["message"] for entry in there][:1], ["task started"], key)
            self.assertIn(there[-1]["message"], ("task ended", "task failed"), key)
            self.assertLessEqual(NAMES - {"error"}, set(there[0]))
            self.assertLessEqual(NAMES, set(there[-1]))
            ended = [entry for entry in ours if entry["task"] == line["task"] and entry["attempt"] == line["attempt"]
                     and entry["message"] in ("task done", "attempt failed")]
            self.assertEqual(len(ended), 1, key)
            self.assertEqual(bool(ended[0]["error"]), bool(there[-1]["error"]), key)
        warned = [line for line in ours if line["level"] == "warning"]
        self.assertTrue(all(line["error"] for line in warned), warned)
        self.assertTrue(any(line["message"] == "task given up" for line in warned), warned)


class Restart(unittest.TestCase):
    def test_what_ended_is_known_after_a_restart_of_the_coordinator_and_gone_with_the_job(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            job_file = folder / "job.yaml"
            job_file.write_text(JOB)
            with harness.Cluster(folder / "cluster") as cluster:
                cluster.start_workers()
                job = cluster.client("submit", job_file).stdout.strip()
                cluster.client("watch", job, check=False)
                before = cluster.client("report", job, "--timeline", "--json").stdout
                self.assertTrue(before)
                cluster.coordinator.kill()
                cluster.coordinator.popen.wait()
                cluster.coordinator = cluster.start("coordinator", "--data", folder / "cluster/coordinator")
                self.assertEqual(cluster.client("report", job, "--timeline", "--json").stdout, before)
                cluster.client("delete", job)
                gone = cluster.client("report", job, "--timeline", check=False)
                self.assertEqual(gone.returncode, 2, gone.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
