"""Drops blobs of a dataset from the store: clients that ask for the dataset learn what is missing and which command
rebuilds it, and that command does."""

import pathlib
import re
import tempfile
import unittest

import harness

TREE = harness.ROOT / "tests/data/kernels-repo"


class LostDataset(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.cluster = cls.enterClassContext(harness.Cluster(cls.folder / "cluster"))
        cls.cluster.start_workers()
        job = cls.folder / "job.yaml"
        job.write_text(f"name: lost\nsources:\n  - path: {TREE}\n    name: kernels\n")
        cls.before = cls.folder / "before"
        cls.cluster.client("submit", job, "--out", cls.before)
        cls.job = cls.cluster.jobs()[0]["job"]

    def setUp(self):
        # No coordinator holds blobs in this store, so the collection drops all of them.
        harness.run(harness.BIN / "kernelmill", "store", "gc", "--target-bytes", "0", "--yes", "--store",
                    f"127.0.0.1:{self.cluster.store.port}")

    def assert_told(self, done):
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"no blob [0-9a-f]{64}/[0-9]+")
        told = re.search(r"`kernelmill (retry [^`]+)` rebuilds it", done.stderr)
        self.assertTrue(told, done.stderr)
        return told[1].split()

    def test_similar_says_how_to_get_it_back(self):
        query = TREE / "kernels/softmax.py"
        words = self.assert_told(self.cluster.client("similar", query, "--job", self.job, check=False))
        self.assertEqual(words, ["retry", self.job, *self.cluster.addresses()])

    def test_export_says_how_to_get_it_back_and_that_does(self):
        out = self.folder / "after"
        words = self.assert_told(self.cluster.client("export", self.job, "--out", out, check=False))
        self.assertFalse(out.exists())
        harness.run(harness.BIN / "kernelmill", *words, "--wait")
        self.cluster.client("export", self.job, "--out", out)
        self.assertEqual(harness.tree_hashes(out), harness.tree_hashes(self.before))


if __name__ == "__main__":
    unittest.main(verbosity=2)
