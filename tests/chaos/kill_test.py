"""Rows 1 to 3 and 15 of the faults: processes that are killed, stopped or told to end in the middle of a
job. The dataset is that of a quiet run, and nothing that was acknowledged is lost."""

import signal
import time
import unittest

import cluster as clusters
import harness
import workload


class Killed(workload.ChaosTest):

    def test_a_coordinator_killed_in_a_loop_loses_nothing_that_it_acknowledged(self):
        with self.cluster(lease_ttl=5) as cluster:
            submission = self.submit(cluster)
            kills = done = 0
            while kills < 6 and submission.running():
                # Killed soon after it is back, and after ever more time: while it recovers, while workers
                # come back to it, in the middle of completions.
                time.sleep(0.05 * kills)
                cluster.coordinator.kill()
                kills += 1
                cluster.coordinator.start()
                status = cluster.status(submission.job)
                self.assertIsNotNone(status, "the acknowledged job is gone")
                now = sum(int(row["done"]) for row in status["stages"])
                self.assertGreaterEqual(now, done, "completions that were told are gone")
                done = now
                submission.wait_until_done(done + 3)
            self.assertEqual(kills, 6, "the job was over before the kills")
            self.assert_unharmed(submission)

    def test_every_submit_that_was_acknowledged_survives_a_kill(self):
        small = self.workload.write_job("small.yaml", workload.job_text(self.workload.url, range(1), "small"))
        with self.cluster() as cluster:
            for worker in cluster.workers():
                worker.end()  # nothing runs: the jobs are what the coordinator remembers
            told = []
            for _ in range(4):
                for _ in range(3):
                    told.append(cluster.client("submit", small).stdout.strip())
                cluster.coordinator.kill()
                cluster.coordinator.start()
                listed = [line.split()[0] for line in cluster.client("jobs").stdout.splitlines()]
                self.assertEqual([job for job in told if job not in listed], [])
            self.assertEqual(len(set(told)), 12)

    def test_a_watch_only_pauses_while_the_coordinator_is_away(self):
        with self.cluster() as cluster:
            submission = self.submit(cluster)
            submission.wait_until_done(5)
            cluster.coordinator.kill()
            time.sleep(1)  # the client finds no coordinator
            self.assertTrue(submission.running(), submission.log.read_text())
            cluster.coordinator.start()
            self.assert_unharmed(submission)

    def test_workers_killed_in_turn_change_nothing(self):
        with self.cluster(lease_ttl=1) as cluster:
            submission = self.submit(cluster)
            kills = 0
            for role in clusters.WORKERS:
                worker = cluster.workers(role)[0]
                stage = {"fetcher": "fetch", "extractor": "extract", "validator": "validate",
                         "deduplicator": "sign"}[role]
                for _ in range(2):
                    harness.wait_until(lambda: submission.stage(stage).get("running") or not submission.running(),
                                       f"a {stage} that runs", clusters.DEADLINE, pause=0.001)
                    worker.kill()
                    kills += 1
                    worker.start()
            self.assertEqual(kills, 8)
            self.assert_unharmed(submission)

    def test_a_killed_workers_task_goes_to_another_with_its_attempt_counted(self):
        with self.cluster(lease_ttl=1) as cluster:
            first, = cluster.workers("extractor")
            self.shim.file_delay_us = 300_000  # holds its lease for seconds
            submission = self.submit(cluster)
            submission.wait_until_leased("extract")
            first.kill()
            self.shim.file_delay_us = 0
            cluster.add_worker("extractor", "second").start()
            self.assert_unharmed(submission)
            metrics = cluster.coordinator.metrics()
            leases = harness.metric(metrics, "kernelmill_coordinator_leases_total")
            completions = harness.metric(metrics, "kernelmill_coordinator_completions_total")
            self.assertGreater(leases, completions, "the worker held no lease when it was killed")

    def test_a_worker_that_slept_past_its_lease_is_refused(self):
        with self.cluster(lease_ttl=1) as cluster:
            sleeper, = cluster.workers("extractor")
            self.shim.file_delay_us = 100_000
            submission = self.submit(cluster)
            submission.wait_until_leased("extract")
            sleeper.signal(signal.SIGSTOP)
            self.shim.file_delay_us = 0
            cluster.add_worker("extractor", "second").start()
            # All the others' tasks and the sleeper's are done by the second: its lease was given away.
            harness.wait_until(lambda: not submission.running(), "the second to do the sleeper's work",
                               clusters.DEADLINE)
            sleeper.signal(signal.SIGCONT)
            self.assert_unharmed(submission)
            harness.wait_until(lambda: clusters.lost_leases(sleeper), "the sleeper to be told", clusters.DEADLINE)


class Drained(workload.ChaosTest):
    DRAIN = 20

    def health(self, node):
        return harness.run(harness.BIN / "chaos_client", "health", node.address, "", check=False).stdout.strip()

    def test_every_process_drains_in_the_middle_of_a_job_and_the_job_goes_on(self):
        with self.cluster(lease_ttl=30, slow_ms=150) as cluster:
            submission = self.submit(cluster)
            for name in list(cluster.nodes):
                node = cluster.nodes[name]
                submission.wait_until_done(submission.done() + 2)
                self.assertTrue(submission.running(), f"the job was over before {name} was told to end")
                began = time.monotonic()
                self.assertEqual(node.terminate(), 0, node.tail())
                self.assertLess(time.monotonic() - began, self.DRAIN + 10)
                node.start()
            # With a lease of 30 s: a drain that left one behind would be felt, not just a delay.
            self.assert_unharmed(submission)

    def test_a_draining_worker_takes_no_lease_and_finishes_what_it_holds(self):
        with self.cluster(lease_ttl=30) as cluster:
            extractor, = cluster.workers("extractor")
            self.shim.file_delay_us = 150_000
            submission = self.submit(cluster)
            submission.wait_until_leased("extract")
            self.assertEqual(self.health(extractor), "SERVING")
            before = submission.stage("extract")["done"]
            extractor.signal(signal.SIGTERM)
            harness.wait_until(lambda: self.health(extractor) == "NOT_SERVING" or not extractor.running(),
                               "health to say NOT_SERVING", clusters.DEADLINE, pause=0.005)
            self.assertTrue(extractor.running(), "it ended without finishing its task")
            self.assertEqual(extractor.popen.wait(clusters.DEADLINE), 0)
            now = submission.stage("extract")
            self.assertEqual(now["running"], 0, "it took a lease with it")
            self.assertEqual(now["done"], before + 1, "it did not finish its task, or took another")
            self.shim.file_delay_us = 0
            extractor.start()
            self.assert_unharmed(submission)

    def test_a_worker_that_cannot_finish_in_time_hands_its_task_back(self):
        with self.cluster(lease_ttl=60) as cluster:
            extractor, = cluster.workers("extractor")
            extractor.end()
            self.shim.file_delay_us = 5_000_000  # a minute a task
            extractor.start("--drain-seconds", 1)
            submission = self.submit(cluster)
            submission.wait_until_leased("extract")
            began = time.monotonic()
            self.assertEqual(extractor.terminate(), 0)
            self.assertLess(time.monotonic() - began, 30)
            self.assertEqual(submission.stage("extract")["running"], 0, "it took a lease with it")
            self.shim.file_delay_us = 0
            extractor.start()
            # A lease lasts a minute: were it not handed back, the job would still wait for it.
            self.assert_unharmed(submission, seconds=50)


if __name__ == "__main__":
    unittest.main(verbosity=2)
