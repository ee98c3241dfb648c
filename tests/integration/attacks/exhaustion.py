"""Checks how much of a cluster one caller can take, and what is left for the others."""

import contextlib
import os
import pathlib
import subprocess
import time
import unittest

import harness
from trusted_cluster import CERTS, TrustedCase, TrustedCluster, identity

CHAOS_CLIENT = pathlib.Path(os.environ.get("KERNELMILL_CHAOS_CLIENT", harness.ROOT / "build/release/bin/chaos_client"))
JOB = "name: genuine\nsources:\n  - git: https://git.example/genuine\n"
# A job of the most sources that a job may have, close to the largest message: 15 MB.
SOURCES, SOURCE_BYTES = 100_000, 140


def memory(process, key="VmRSS"):
    """In MB: VmRSS now, VmHWM at its highest."""
    status = pathlib.Path(f"/proc/{process.popen.pid}/status").read_text()
    return int(status.split(key + ":")[1].split()[0]) // 1024


class Exhaustion(TrustedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        harness.run(CERTS, cls.certificates, "client/mallory", "worker/rogue")
        (cls.folder / "genuine.yaml").write_text(JOB)

    @contextlib.contextmanager
    def coordinator(self, *flags):
        """One of its own for each test, on the data of the test."""
        process = harness.Process(self.folder, "coordinator", "--data", self.folder / self.id(), *flags,
                                  *identity(self.certificates, "coordinator"))
        try:
            yield process
        finally:
            process.stop()

    def storm(self, who, process, count, at_once, kind, *what):
        """Many calls at a time; a process that writes their answers."""
        names = {"KERNELMILL_TLS_CA": "ca.crt", "KERNELMILL_TLS_CERT": f"{who}.crt", "KERNELMILL_TLS_KEY": f"{who}.key"}
        environment = dict(os.environ, **{name: str(self.certificates / file) for name, file in names.items()})
        argv = [CHAOS_CLIENT, "storm", f"127.0.0.1:{process.port}", count, at_once, kind, *what]
        storm = subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE, text=True, env=environment)
        self.addCleanup(storm.stdout.close)
        self.addCleanup(storm.wait)
        self.addCleanup(storm.kill)
        self.assertEqual(storm.stdout.readline(), "begun\n")
        return storm

    def answers(self, storm):
        """Returns the [(code, message)] of a storm that ends by itself."""
        return [tuple(line.rstrip("\n").split("\t", 1)) for line in storm.stdout]

    def refusals(self, answers, limit, other=None):
        """Counts those by the limit; no other refusal may occur, except one that says `other`."""
        refused = [message for code, message in answers if code != "OK" and not (other and other in message)]
        self.assertLessEqual({code for code, _ in answers}, {"OK", "RESOURCE_EXHAUSTED"}, refused[:3])
        for message in refused:
            self.assertIn(f"--{limit} is ", message)
        return len(refused)

    def refused(self, process, storm, limit, other=None):
        """How often the process has refused, by that limit as far as the storm's first answers say: it stops when the pipe is full."""
        storm.terminate()
        self.refusals([answer for answer in self.answers(storm) if len(answer) == 2], limit, other)
        return harness.metric(process.metrics(), "kernelmill_limit_refusals_total")

    def client(self, process, *argv, who="client"):
        """How long a client's command takes."""
        begun = time.monotonic()
        harness.run(harness.BIN / "kernelmill", *argv, "--coordinator", f"127.0.0.1:{process.port}",
                    *identity(self.certificates, who), timeout=20)
        return time.monotonic() - begun

    def test_large_jobs_of_one_caller_leave_memory_and_room_for_others(self):
        with self.coordinator() as process:
            answers = self.answers(self.storm("mallory", process, 12, 12, "submits", SOURCES, SOURCE_BYTES))
            refused = self.refusals(answers, "max-queued-bytes-per-caller")
            print(f"{refused} of {len(answers)} large jobs refused; {memory(process)} MB, at most {memory(process, 'VmHWM')} MB")
            self.assertLess(memory(process, "VmHWM"), 900)  # compose gives it 1 GiB
            self.assertGreater(refused, 0)
            self.client(process, "submit", self.folder / "genuine.yaml")
            self.assertEqual(harness.metric(process.metrics(), "kernelmill_limit_refusals_total"), refused)
        with self.coordinator() as process:
            print(f"after a restart {memory(process)} MB, at most {memory(process, 'VmHWM')} MB")
            self.assertLess(memory(process, "VmHWM"), 500)
            again = self.answers(self.storm("mallory", process, 1, 1, "submits", SOURCES, SOURCE_BYTES))
            self.assertEqual(self.refusals(again, "max-queued-bytes-per-caller"), 1)
            self.client(process, "submit", self.folder / "genuine.yaml")

    def test_leases_that_wait_leave_threads_for_others(self):
        with self.coordinator() as process:
            storm = self.storm("rogue", process, 3000, 3000, "leases", "extract", 30_000)
            time.sleep(3)
            times = [self.client(process, "jobs") for _ in range(3)]
            print(f"jobs answered in {max(times):.2f} s beside 3,000 leases")
            self.assertGreaterEqual(self.refused(process, storm, "max-waiting-leases-per-caller"), 2000)

    def test_watches_leave_threads_for_others(self):
        with self.coordinator() as process:
            self.client(process, "submit", self.folder / "genuine.yaml", who="mallory")
            storm = self.storm("mallory", process, 3000, 3000, "watches", "genuine-000001", 0)
            time.sleep(3)
            times = [self.client(process, "jobs") for _ in range(3)]
            print(f"jobs answered in {max(times):.2f} s beside 3,000 watches")
            self.assertGreaterEqual(self.refused(process, storm, "max-watches-per-caller"), 2000)

    def test_extractions_of_one_caller_leave_memory_and_room_for_others(self):
        with TrustedCluster(self.folder / self.id(), self.certificates) as cluster:
            process = cluster.start_worker("extractor")
            before = memory(process)
            storm = self.storm("mallory", process, 200, 200, "extracts", (8 << 20) - 4096, 1)
            time.sleep(5)
            genuine = self.answers(self.storm("client", process, 1, 1, "extracts", 4096, 1))
            self.assertEqual(genuine, [("OK", "")])
            print(f"the extractor took {before} MB before, {memory(process, 'VmHWM')} MB at most under 200 calls of 8 MiB")
            self.assertLess(memory(process, "VmHWM"), 2048)  # compose gives it 2 GiB
            # An answer may not have all that is extracted of 8 MiB.
            refused = self.refused(process, storm, "max-calls-per-caller", other="an answer has at most ")
            self.assertGreaterEqual(refused, 150)
            process.kill()
            process.popen.wait()


if __name__ == "__main__":
    unittest.main()
