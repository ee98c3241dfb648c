"""Backups of the coordinator and the store, made at different times of a live job. Both servers are lost and restored, and the
job ends with the dataset of a quiet run."""

import json
import unittest

import cluster as clusters
import harness
import workload


class Backups(workload.ChaosTest):

    def backed_up_cluster(self):
        def prepare(cluster):
            for node in (cluster.store, cluster.coordinator):
                node.flags += ["--backups", self.folder / "backups" / node.role]
            cluster.coordinator.flags += ["--store", cluster.store.address]  # for holds
        return self.cluster(slow_ms=100, prepare=prepare)

    def run_on(self, node, *argv):
        return harness.run(harness.BIN / "kernelmill", node.role, *argv, f"--{node.role}", node.address)

    def back_up(self, node):
        self.run_on(node, "backup", "now")

    def restore(self, node):
        """Loses the folder's data, and starts the server on what the backup has."""
        folder = self.folder / f"restored-{node.role}"
        harness.run(harness.BIN / "kernelmill", node.role, "restore", "--from", self.folder / "backups" / node.role / "now",
                    "--data", folder)
        node.flags[1] = folder
        node.start()

    def lose_both(self, first, second, submission):
        """Backs up one server, then the other; and restores both later."""
        submission.wait_until_done(12)
        self.back_up(first)
        submission.wait_until_done(submission.done() + 12)
        self.back_up(second)
        submission.wait_until_done(submission.done() + 6)
        self.assertTrue(submission.running(), "the job was over before the servers were lost")
        cluster = submission.cluster
        for node in (cluster.coordinator, cluster.store):
            node.kill()
        for node in (cluster.store, cluster.coordinator):
            self.restore(node)
        self.assert_unharmed(submission)
        return int(cluster.status(submission.job)["runs"])

    def test_the_coordinator_first_and_then_the_store(self):
        cluster = self.backed_up_cluster()
        runs = self.lose_both(cluster.coordinator, cluster.store, self.submit(cluster))
        self.assertEqual(runs, 1, "the store has all that the coordinator names, and the job began again")

    def test_the_store_first_and_then_the_coordinator(self):
        cluster = self.backed_up_cluster()
        runs = self.lose_both(cluster.store, cluster.coordinator, self.submit(cluster))
        self.assertEqual(runs, 2, "the coordinator names no lost blob: no test")

    def test_a_coordinator_keeps_its_name_and_lists_its_backups(self):
        cluster = self.backed_up_cluster()
        submission = self.submit(cluster)
        self.assert_unharmed(submission)

        def holds():
            return [row["name"] for row in json.loads(self.run_on(cluster.store, "stat", "--json").stdout)["holds"]]
        before = harness.wait_until(lambda: [h for h in holds() if h.startswith("dataset/")], "the dataset's hold", clusters.DEADLINE)
        self.back_up(cluster.coordinator)
        self.assertIn("  now ", self.run_on(cluster.coordinator, "backups").stdout)
        cluster.coordinator.kill()
        self.restore(cluster.coordinator)
        cluster.client("delete", submission.job)
        harness.wait_until(lambda: not set(before) & set(holds()), "the restored coordinator to release the hold",
                           clusters.DEADLINE)
        self.run_on(cluster.coordinator, "prune", "--older-than-days", "0.001")
        self.assertIn("backups dropped  0", self.run_on(cluster.coordinator, "prune", "--keep", "1").stdout)
        for name in ("second", "third"):
            self.run_on(cluster.coordinator, "backup", name, "--prune", "2")
        self.assertNotIn(" now ", self.run_on(cluster.coordinator, "backups").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
