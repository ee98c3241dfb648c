"""Leases that are not yours."""

import pathlib
import socket
import tempfile
import unittest

import harness

CHAOS_CLIENT = harness.BIN / "chaos_client"
FIRST_TASK = (1 << 32) + 1  # the first job's


class Leases(unittest.TestCase):
    def test_no_guess_of_a_token_ends_the_task_of_another(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))  # a git host that takes connections and never answers
            silent.listen(8)
            job = pathlib.Path(folder) / "job.yaml"
            job.write_text(f"name: held\nsources:\n  - git: http://127.0.0.1:{silent.getsockname()[1]}/a.git\n")
            with harness.Cluster(pathlib.Path(folder) / "cluster") as cluster:
                cluster.start_worker("fetcher")
                cluster.client("submit", job)
                harness.wait_until(lambda: self.leased(cluster), "the pin to be leased")
                guessed = harness.run(CHAOS_CLIENT, "guess", f"127.0.0.1:{cluster.coordinator.port}", FIRST_TASK, 8192)
                self.assertEqual(guessed.stdout, "FAILED_PRECONDITION\t8192\n")
                self.assertTrue(self.leased(cluster), "its worker has it still")
                cluster.client("cancel", cluster.jobs()[0]["job"])

    def leased(self, cluster):
        return harness.metric(cluster.coordinator.metrics(), "kernelmill_coordinator_leases") == 1


if __name__ == "__main__":
    unittest.main()
