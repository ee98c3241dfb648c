"""A store that loses what running jobs need, as one that was restored from a backup has: the jobs begin again by themselves,
and their datasets are those of a store that lost nothing."""

import pathlib
import tempfile
import unittest

import harness

TREE = harness.ROOT / "tests/data/kernels-repo"


class LostInputs(unittest.TestCase):
    def test_a_running_job_makes_what_was_lost_again(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        job, whole, out = folder / "job.yaml", folder / "whole", folder / "out"
        job.write_text(f"name: lost\nsources:\n  - path: {TREE}\n    name: kernels\n")
        harness.crawl(job, whole, folder / "data")
        cluster = self.enterContext(harness.Cluster(folder / "cluster"))
        for role in ("fetcher", "extractor"):
            cluster.start_worker(role)
        cluster.client("submit", job)
        name = cluster.jobs()[0]["job"]

        def stages():
            status = harness.last_status(cluster.client("report", name, "--json").stdout)
            return {stage["stage"]: stage for stage in status["stages"]}

        # The store loses linked kernels while they wait for a deduplicator and a validator.
        harness.wait_until(lambda: int(stages().get("link", {}).get("done", 0)) > 0, "linked kernels")
        harness.run(harness.BIN / "kernelmill", "store", "gc", "--target-bytes", "0", "--yes", "--store",
                    f"127.0.0.1:{cluster.store.port}")
        for role in ("validator", "deduplicator"):
            cluster.start_worker(role)
        cluster.client("watch", name)
        status = harness.last_status(cluster.client("report", name, "--json").stdout)
        self.assertEqual(status["state"], "done")
        self.assertEqual(status["runs"], 2)
        self.assertEqual(status.get("failures", []), [])
        cluster.client("export", name, "--out", out)
        self.assertEqual(harness.tree_hashes(out), harness.tree_hashes(whole))


if __name__ == "__main__":
    unittest.main(verbosity=2)
