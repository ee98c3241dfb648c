"""Row 10 of the faults: the wall clock jumps by an hour, both ways, under every process. Leases run on the
monotonic clock: none is lost by it, and the job ends as if nothing had happened."""

import unittest

import cluster as clusters
import harness
import workload

HOUR = 3600 * 10**9


class ClockJumps(workload.ChaosTest):

    def test_jumps_in_the_middle_of_a_job_cost_no_lease(self):
        with self.cluster(lease_ttl=10, slow_ms=100) as cluster:
            submission = self.submit(cluster)
            for offset in (HOUR, -HOUR, 0, -HOUR, HOUR):
                submission.wait_until_leased("extract")
                read = self.shim.shifted_reads
                self.shim.clock_offset_ns = offset
                # Live within far less than the hour by which a deadline of the wall clock would be off. Two tasks
                # a jump: the job has 18 shards to extract, and nothing else is done meanwhile.
                submission.wait_until_done(submission.done() + 2)
                self.assertTrue(submission.running(), "the job was over before the jump")
                if offset:
                    self.assertGreater(self.shim.shifted_reads, read, "nobody looked at the clock: no test")
            self.assert_unharmed(submission)
            self.assertEqual([w.name for w in cluster.workers() if clusters.lost_leases(w)], [])
            metrics = cluster.coordinator.metrics()
            self.assertEqual(harness.metric(metrics, "kernelmill_coordinator_leases_total"),
                             harness.metric(metrics, "kernelmill_coordinator_completions_total"),
                             "a lease ran out when the clock jumped")

    def test_a_lease_still_ends_when_the_clock_jumps_back(self):
        with self.cluster(lease_ttl=1, slow_ms=200) as cluster:
            first, = cluster.workers("extractor")
            submission = self.submit(cluster)
            submission.wait_until_leased("extract")
            self.shim.clock_offset_ns = -HOUR
            first.kill()
            cluster.add_worker("extractor", "second").start()
            self.assert_unharmed(submission)

    def test_processes_that_start_at_odd_times_work_together(self):
        with self.cluster(lease_ttl=5) as cluster:
            submission = self.submit(cluster)
            for offset, name in ((HOUR, "store"), (-HOUR, "coordinator"), (HOUR, "extractor-1")):
                submission.wait_until_done(submission.done() + 2)
                self.shim.clock_offset_ns = offset
                cluster.nodes[name].kill()
                cluster.nodes[name].start()
            self.assert_unharmed(submission)


if __name__ == "__main__":
    unittest.main(verbosity=2)
