"""Runs a job with a file that kills every process that reads it: the file's shard is halved until the file is alone in
it, the file is quarantined with its reason, and the job ends with everything else and says so."""

import unittest

import cluster as clusters
import harness
import workload

MARKER = "KILLS-ITS-READER"


class Poison(workload.ChaosTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # In the middle of a shard, at its first and at its last place; of kernels that no other has.
        cls.poisonous = [f"d05/kernels_{5 * workload.FILES + 4:05}.py", f"d09/kernels_{9 * workload.FILES:05}.py",
                         f"d09/kernels_{10 * workload.FILES - 1:05}.py"]
        for path in cls.poisonous:
            with open(cls.workload.folder / "many" / path, "a", encoding="utf-8") as file:
                file.write(f"# {MARKER}\n")
        cls.quiet = cls.workload.folder / "quiet-with-marker"
        harness.crawl(cls.workload.job, cls.quiet, cls.workload.folder / "marker-data", "--workers", "2")

    def run_poisoned(self, extractors):
        """The job's export; extractors that die are started again under their names."""
        self.shim.poison, self.shim.poisoned = MARKER, 0
        with self.cluster(slow_ms=0, lease_ttl=5, max_attempts=5) as cluster:
            for _ in range(extractors - 1):
                cluster.add_worker("extractor").start()
            submission = self.submit(cluster)
            deaths = 0

            def ended():
                nonlocal deaths
                for worker in cluster.workers():
                    if not worker.running():
                        self.assertEqual((worker.role, worker.popen.returncode), ("extractor", -9), worker.tail())
                        deaths += 1
                        worker.spawn()
                return not submission.running()

            harness.wait_until(ended, "the job to end", 2 * clusters.DEADLINE)
            self.assertEqual(submission.wait(), 1, submission.log.read_text()[-2000:])
            self.assertGreaterEqual(deaths, len(self.poisonous))
            self.assertEqual(self.shim.poisoned, deaths)
            status = cluster.status(submission.job)
            print(f"[{deaths} deaths] ", end="", flush=True)
        return submission, status

    def test_poisonous_files_are_quarantined_alone_whoever_met_them(self):
        digests = []
        for extractors in (1, 2):
            self.folder = self.workload.folder / f"poison-{extractors}"
            self.folder.mkdir()
            submission, status = self.run_poisoned(extractors)
            self.assert_only_the_poisonous_are_missing(submission.out, status)
            digests.append(harness.dataset_digest(submission.out))
        self.assertEqual(digests[0], digests[1])

    def assert_only_the_poisonous_are_missing(self, out, status):
        self.assertEqual(status["state"], "done")
        workload.check_ledger(out)
        failures = workload.report_of(out)["failures"]
        listed = sorted(str(f) for f in failures)
        self.assertEqual(len(listed), len(self.poisonous), listed)
        for path in self.poisonous:
            self.assertEqual(sum(path in row for row in listed), 1, (path, listed))
        self.assertEqual(workload.report_of(out)["files"]["failed"], len(self.poisonous))
        rows = lambda folder: sorted(  # noqa: E731
            (r["path"], r["first_line"], r["repository"], r["fate"], r["sha256"]) for r in harness.ledger(folder))
        expected = [row for row in rows(self.quiet) if row[0] not in self.poisonous]
        self.assertLess(len(expected), len(rows(self.quiet)))
        self.assertEqual(rows(out), expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
