"""Row 14 of the faults: processes restarted with another build in the middle of a job. The next release,
which this build makes for the purpose (tests/chaos/next), has another version of the stage `extract`; the
previous one, where KERNELMILL_PREVIOUS_BIN names its programs, has written the data that this one finds."""

import os
import pathlib
import unittest

import cluster as clusters
import harness
import workload

PREVIOUS = os.environ.get("KERNELMILL_PREVIOUS_BIN")


def next_release(node):
    return harness.BIN / f"kernelmill-{node.role}-next"


class Versions(workload.ChaosTest):

    def replace(self, node, program):
        node.kill()
        node.program = program
        node.start()

    def test_a_newer_extractor_is_given_nothing_that_it_would_do_otherwise(self):
        with self.cluster() as cluster:
            extractor, = cluster.workers("extractor")
            now = extractor.program
            submission = self.submit(cluster)
            harness.wait_until(lambda: submission.stage("extract").get("done"), "an extract", clusters.DEADLINE)
            self.replace(extractor, next_release(extractor))
            done = submission.stage("extract")["done"]
            # All that does not wait for it is done; of its own stage it gets none.
            harness.wait_until(lambda: submission.stage("fetch").get("done") == 18, "fetches", clusters.DEADLINE)
            harness.wait_until(lambda: submission.stage("extract").get("running") == 0,
                               "the old one's lease to end", clusters.DEADLINE)
            self.assertTrue(submission.running())
            self.assertLessEqual(submission.stage("extract")["done"], done + 1)
            self.replace(extractor, now)
            self.assert_unharmed(submission)

    def test_a_newer_coordinator_plans_anew_and_an_older_one_again(self):
        with self.cluster() as cluster:
            extractor, = cluster.workers("extractor")
            now = {node: node.program for node in (cluster.coordinator, extractor)}
            first = self.submit(cluster, "first")
            first.wait_until_done(45)
            for node in now:
                self.replace(node, next_release(node))
            # The next release's own dataset: the same kernels, under another version.
            self.shim.file_delay_us = 0
            self.assertEqual(first.wait(), 0, first.log.read_text()[-2000:])
            workload.check_ledger(first.out)
            self.assertEqual(workload.rows(first.out), workload.rows(self.workload.quiet))
            self.assertNotEqual(harness.dataset_digest(first.out), harness.dataset_digest(self.workload.quiet))
            workload.check_status(cluster.status(first.job))
            # And back, in the middle of the next job, which waits for its extractor.
            extractor.kill()
            again = self.submit(cluster, "again")
            harness.wait_until(lambda: again.stage("fetch").get("done") == 18, "fetches", clusters.DEADLINE)
            self.replace(cluster.coordinator, now[cluster.coordinator])
            extractor.program = now[extractor]
            extractor.start()
            self.assert_unharmed(again)
            self.assertEqual(cluster.status(first.job)["dataset"], harness.dataset_digest(first.out), "an ended job changed")

    def test_the_workers_may_be_of_both_releases_at_once(self):
        with self.cluster() as cluster:
            cluster.add_worker("extractor", "newer", program=harness.BIN / "kernelmill-extractor-next").start()
            self.assert_unharmed(self.submit(cluster))

    def test_a_cluster_is_upgraded_process_by_process_in_mid_job(self):
        """Workers first, so that those of both releases are side by side, then the store and the coordinator."""
        with self.cluster(slow_ms=100) as cluster:
            old, = cluster.workers("extractor")
            submission = self.submit(cluster)
            submission.wait_until_done(40)
            cluster.add_worker("extractor", "newer", program=harness.BIN / "kernelmill-extractor-next").start()
            cluster.coordinator.program = next_release(cluster.coordinator)
            for node in (*(w for w in cluster.workers() if w.role != "extractor"), cluster.store, cluster.coordinator):
                self.assertEqual(node.terminate(), 0)
                node.start()
                if node is not cluster.coordinator:
                    submission.wait_until_done(submission.done() + 1)
            self.assertTrue(submission.running(), "the job was over before the upgrade")
            self.assertEqual(old.terminate(), 0)
            self.shim.file_delay_us = 0
            self.assertEqual(submission.wait(), 0, submission.log.read_text()[-2000:])
            workload.check_status(cluster.status(submission.job))
            workload.check_ledger(submission.out)
            self.assertEqual(workload.rows(submission.out), workload.rows(self.workload.quiet))
            # One version of each stage, and the dataset of a job that the new release has run alone.
            self.assertEqual(int(workload.report_of(submission.out)["stages"]["extract"]), 1000)
            cold = self.folder / "cold"
            cluster.client("submit", self.workload.job, "--no-cache", "--wait", "--out", cold)
            self.assertEqual(harness.dataset_digest(submission.out), harness.dataset_digest(cold))
            self.assertEqual(harness.tree_hashes(submission.out), harness.tree_hashes(cold))
            print(f"\nupgraded in mid-job: dataset {harness.dataset_digest(cold)}, as of the new release alone", flush=True)

    @unittest.skipUnless(PREVIOUS, "KERNELMILL_PREVIOUS_BIN names no folder of older programs")
    def test_the_data_of_the_previous_release_in_mid_job(self):
        def prepare(cluster):
            for role in clusters.WORKERS:
                cluster.add_worker(role)
            for node in cluster.nodes.values():
                node.now, node.program = node.program, pathlib.Path(PREVIOUS) / node.program.name

        with self.cluster(each=0, slow_ms=100, prepare=prepare) as cluster:
            submission = self.submit(cluster)
            submission.wait_until_done(45)
            for node in cluster.nodes.values():
                node.kill()
            for node in cluster.nodes.values():
                node.program = node.now
                node.start()
            self.assert_unharmed(submission)


if __name__ == "__main__":
    unittest.main(verbosity=2)
