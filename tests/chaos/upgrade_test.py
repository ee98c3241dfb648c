"""The databases of older formats (tests/data/formats): the servers of this build upgrade them, also when they are killed in
the middle, and a job in the middle ends with the dataset of a quiet run."""

import contextlib
import json
import os
import pathlib
import shutil
import tempfile
import unittest

import cluster as clusters
import formats
import harness
import shim as shims

PREVIOUS = os.environ.get("KERNELMILL_PREVIOUS_BIN")
KILLS = 8


class OlderFormats(unittest.TestCase):
    COPY = "before-format-3"

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="kernelmill-formats-")))
        self.found = self.stack.enter_context(formats.unpacked(self.folder / "cluster"))
        self.middle, self.done = self.found["jobs"]
        self.shim = shims.Shim(self.folder / "shim")

    def cluster(self, folder):
        made = self.stack.enter_context(clusters.ChaosCluster(folder, shim=self.shim))
        made.coordinator.flags += ["--store", made.store.address]
        return made

    def servers(self, cluster):
        return cluster.store, cluster.coordinator

    def store_says(self, cluster, *argv):
        done = harness.run(harness.BIN / "kernelmill", "store", *argv, "--json", "--store", cluster.store.address)
        return json.loads(done.stdout)

    def assert_as_before(self, cluster):
        """Every blob and every job of the fixture is there."""
        verified = self.store_says(cluster, "verify")
        self.assertGreaterEqual(int(verified["blobs"]), self.found["blobs"])
        self.assertFalse(verified.get("damaged"))
        self.assertGreaterEqual(int(self.store_says(cluster, "stat")["action_results"]), self.found["action_results"])
        self.assertGreater(cluster.store.metric("kernelmill_store_action_result_bytes"), 100 * self.found["action_results"])
        jobs = {row["job"]: row for row in map(json.loads, cluster.client("jobs", "--json").stdout.splitlines())}
        self.assertEqual(set(jobs), set(self.found["jobs"]))
        self.assertEqual(jobs[self.done]["state"], "done")
        out = cluster.folder / "exported"
        cluster.client("export", self.done, "--out", out)
        self.assertEqual(harness.dataset_digest(out), self.found["dataset"])

    def assert_the_middle_ends(self, cluster):
        out = cluster.folder / "middle"
        cluster.client("watch", self.middle)
        cluster.client("export", self.middle, "--out", out)
        self.assertEqual(harness.dataset_digest(out), formats.crawl_digest(self.folder, "middle"))

    def test_servers_upgrade_and_the_job_in_the_middle_ends(self):
        cluster = self.cluster(self.folder / "cluster").start()
        for node in self.servers(cluster):
            self.assertIn(f"{node.flags[1]}/{self.COPY}", node.tail(), "the log does not name the copy")
        self.assert_as_before(cluster)
        self.assert_the_middle_ends(cluster)
        for node in self.servers(cluster):
            node.terminate()
            node.start()
            self.assertEqual(node.tail(10**6).count("upgrading the database;"), 1, "upgraded twice")

    def test_the_copy_is_the_old_database(self):
        cluster = self.cluster(self.folder / "cluster")
        for node in self.servers(cluster):
            node.start()
            node.terminate()
        for part in ("store", "coordinator"):
            shutil.copytree(self.folder / "cluster" / part / self.COPY, self.folder / "restored" / part)
        self.assertTrue((self.folder / "restored/coordinator/owner").exists())
        self.assert_as_before(self.cluster(self.folder / "restored").start())

    @unittest.skipUnless(PREVIOUS, "KERNELMILL_PREVIOUS_BIN names no folder of older programs")
    def test_the_older_release_runs_on_the_copy(self):
        cluster = self.cluster(self.folder / "cluster")
        for node in self.servers(cluster):
            node.start()
            node.terminate()
            node.program = pathlib.Path(PREVIOUS) / node.program.name
            node.spawn()
            node.popen.wait(clusters.DEADLINE)
            self.assertIn("format", node.tail(), "the older release does not say why it refuses the newer database")
            self.assertNotEqual(node.popen.returncode, 0)
            node.flags[1] = node.flags[1] / self.COPY
        cluster.start()
        cluster.client("watch", self.middle)

    def test_servers_killed_in_the_middle_of_an_upgrade_go_on(self):
        cluster = self.cluster(self.folder / "cluster")
        self.shim.sync_us = 20_000  # so that there is a middle
        for node in self.servers(cluster):
            for kill in range(KILLS):
                written = len(node.tail(10**7))
                node.spawn()
                harness.wait_until(lambda n=node, w=written: "upgrad" in n.tail(10**7)[w:] or "serving" in n.tail(10**7)[w:],
                                   f"{node.name} to upgrade", clusters.DEADLINE, pause=0.001 * kill)
                node.kill()
            self.assertIn("going on with an unfinished upgrade", node.tail(10**7), "no kill met the middle: no test")
        self.shim.sync_us = 0
        cluster.start()
        self.assert_as_before(cluster)
        self.assert_the_middle_ends(cluster)
        copies = sorted(p.name for p in (self.folder / "cluster/coordinator").glob("before-*"))
        self.assertEqual(copies[0], self.COPY)

    def test_a_crawl_upgrades_its_folder(self):
        data, out = self.folder / "cluster", self.folder / "out"
        done = harness.crawl(formats.PLACE / "done.yaml", out, data, "--json")
        self.assertEqual(harness.dataset_digest(out), formats.crawl_digest(self.folder, "done"))
        for part in ("store", "coordinator"):
            self.assertTrue((data / part / self.COPY).is_dir())
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
