"""Row 9 of the faults: processes in network namespaces of their own that cannot hear each other, or only
sometimes, or only one way. Nothing is lost meanwhile, and after healing the job goes on to the same
dataset."""

import time
import unittest

import cluster as clusters
import harness
import lab
import workload


class Partitions(workload.ChaosTest):
    HOST = "0.0.0.0"
    URL_HOST = lab.HUB

    @classmethod
    def setUpClass(cls):
        cls.network = lab.Network()
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.stack.callback(lambda: self.network.heal())

    def start(self, **kwargs):
        return self.cluster(place=self.place, **kwargs)

    def place(self, name):
        return self.network.place(name if name == "client" else f"{self._testMethodName[-20:]}-{name}")

    def of(self, name):
        """The name of a node's namespace."""
        return f"{self._testMethodName[-20:]}-{name}"

    def test_a_worker_cut_off_from_the_coordinator_loses_its_task_to_another(self):
        with self.start(lease_ttl=1, slow_ms=100) as cluster:
            submission = self.submit(cluster)
            submission.wait_until_leased("extract")
            self.network.cut(self.of("extractor-1"), self.of("coordinator"))
            cluster.add_worker("extractor").start()
            harness.wait_until(lambda: "was silent until the lease expired" in cluster.coordinator.tail(), "the lease to run out",
                               clusters.DEADLINE)
            self.network.heal()
            harness.wait_until(lambda: clusters.lost_leases(cluster.nodes["extractor-1"]),
                               "the first to hear that its lease is over", clusters.DEADLINE)
            self.assert_unharmed(submission)

    def test_a_store_that_nobody_reaches_only_delays(self):
        with self.start(lease_ttl=2) as cluster:
            submission = self.submit(cluster)
            submission.wait_until_done(8)
            for worker in cluster.workers():
                self.network.cut(self.of("store"), self.of(worker.name))
            time.sleep(3)  # longer than a lease: workers wait for the store and renew meanwhile
            self.assertTrue(submission.running())
            self.network.heal()
            self.assert_unharmed(submission)

    def test_answers_that_do_not_arrive_lose_nothing(self):
        with self.start(lease_ttl=1) as cluster:
            submission = self.submit(cluster)
            for worker in cluster.workers():
                submission.wait_until_done(submission.done() + 2)
                self.assertTrue(submission.running(), "the job was over before")
                # The coordinator and the store hear the worker, but the worker does not hear their answers.
                self.network.deafen(self.of(worker.name), self.of("coordinator"))
                self.network.deafen(self.of(worker.name), self.of("store"))
                harness.wait_until(lambda w=worker: self.network.dropped(self.of(w.name)) > 3,
                                   "answers that are dropped", clusters.DEADLINE)
                time.sleep(1.2)  # past the lease
                self.network.heal(self.of(worker.name))
            self.assert_unharmed(submission)

    def test_a_network_that_loses_a_tenth_of_all_packets(self):
        with self.start(lease_ttl=3, slow_ms=5) as cluster:
            submission = self.submit(cluster)
            for node in cluster.nodes:
                self.network.lose(self.of(node), 0.1)
            self.assert_unharmed(submission, seconds=240)
            dropped = sum(self.network.dropped(self.of(node)) for node in cluster.nodes)
            self.assertGreater(dropped, 50)

    def test_a_network_that_delays_reorders_and_repeats(self):
        with self.start(lease_ttl=3, slow_ms=5) as cluster:
            if not self.network.delay(self.of("store"), "delay", "20ms", "10ms", "reorder", "25%",
                                      "duplicate", "5%"):
                self.skipTest("this kernel has no tc netem")
            for node in cluster.nodes:
                self.network.delay(self.of(node), "delay", "20ms", "10ms", "reorder", "25%", "duplicate", "5%")
            self.assert_unharmed(self.submit(cluster), seconds=240)


if __name__ == "__main__":
    lab.enter()
    unittest.main(verbosity=2)
