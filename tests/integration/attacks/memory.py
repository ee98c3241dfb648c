"""Callers with a certificate who send what grows: each server keeps to the memory that compose gives it, and answers others."""

import os
import pathlib
import subprocess
import time
import unittest

import harness
from memory_group import MemoryGroup, compose_limits
from trusted_cluster import CERTS, TrustedCase, TrustedCluster, identity

CHAOS_CLIENT = harness.BIN / "chaos_client"
CAS, CACHE, STREAM = ("build.bazel.remote.execution.v2.ContentAddressableStorage", "build.bazel.remote.execution.v2.ActionCache",
                      "google.bytestream.ByteStream")
CRAWL, WORK = "kernelmill.v1.Crawl", "kernelmill.v1.Work"
# (who, what, method, size): bombs are inflated, in MiB; grains are parsed, in MiB; names stay, in bytes.
ATTACKS = {
    "coordinator": [
        ("client/mallory", "bombs", f"{CRAWL}/Submit", 256), ("worker/rogue", "bombs", f"{WORK}/Complete", 256),
        ("client/mallory", "grains", f"{CRAWL}/Submit", 15), ("worker/rogue", "grains", f"{WORK}/Complete", 15),
        ("worker/rogue", "grains", f"{WORK}/Lease", 15), ("worker/rogue", "grains", f"{WORK}/Renew", 15),
        ("client/mallory", "names", f"{CRAWL}/Watch", 15 << 20), ("client/mallory", "names", f"{CRAWL}/GetJob", 15 << 20)],
    "store": [
        ("worker/rogue", "bombs", f"{CAS}/BatchUpdateBlobs", 256), ("worker/rogue", "bombs", f"{STREAM}/Write", 256),
        ("worker/rogue", "grains", f"{CAS}/FindMissingBlobs", 15), ("worker/rogue", "grains", f"{CAS}/BatchUpdateBlobs", 15),
        ("client/mallory", "grains", f"{CAS}/BatchReadBlobs", 15), ("worker/rogue", "grains", f"{CACHE}/UpdateActionResult", 15),
        ("worker/rogue", "names", f"{STREAM}/QueryWriteStatus", 15 << 20)],
    "extractor": [
        ("client/mallory", "bombs", "kernelmill.v1.Extractor/Extract", 256),
        ("client/mallory", "grains", "kernelmill.v1.Extractor/Extract", 15)],
    "validator": [
        ("client/mallory", "bombs", "kernelmill.v1.Validator/Validate", 256),
        ("client/mallory", "grains", "kernelmill.v1.Validator/Validate", 15)],
    "deduplicator": [
        ("client/mallory", "bombs", "kernelmill.v1.Deduplicator/Deduplicate", 256),
        ("client/mallory", "grains", "kernelmill.v1.Deduplicator/Similar", 15)],
    "fetcher": [("client/mallory", "bombs", "grpc.health.v1.Health/Check", 256)],
}
# Messages at a time. A short form is common/rpc/request_gate_test.cc.
CALLS = {"bombs": 4, "grains": 48, "names": 48}
SECONDS = 30


class BoundedCluster(TrustedCluster):
    """Each server is alone in a group with compose's bound."""

    def __init__(self, folder, certificates):
        self.groups = {}
        super().__init__(folder, certificates)

    def start(self, role, *flags):
        group = self.groups[role] = MemoryGroup(role, compose_limits()[role])

        class Bounded(harness.Process):
            def command(self, *words):
                return group.command(super().command(*words))

        grants = ["--grant-key", self.certificates / "grant.key"] if role in ("store", "coordinator") else []
        process = Bounded(self.folder, role, *identity(self.certificates, role), *grants, *flags)
        self.processes.append(process)
        return process

    def __exit__(self, *words):
        super().__exit__(*words)
        for group in self.groups.values():
            group.close()


def highest_mebibytes(process):
    status = pathlib.Path(f"/proc/{process.popen.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) >> 10


class Memory(TrustedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        harness.run(CERTS, cls.certificates, "client/mallory", "worker/rogue")
        cls.cluster = BoundedCluster(cls.folder / "cluster", cls.certificates)
        cls.addClassCleanup(cls.cluster.__exit__)
        for role in cls.cluster.WORKERS:
            cls.cluster.start_worker(role)
        cls.job = harness.many_kernels_job(cls.folder, "genuine", 4, 2)

    def attack(self, process, who, what, method, size):
        """Sends CALLS messages at a time, until all are answered or for SECONDS; returns {code: count}."""
        who = who.split("/")[-1]
        names = {"CA": "ca.crt", "CERT": f"{who}.crt", "KEY": f"{who}.key"}
        env = dict(os.environ, **{f"KERNELMILL_TLS_{name}": str(self.certificates / file) for name, file in names.items()})
        argv = [CHAOS_CLIENT, "storm", f"127.0.0.1:{process.port}", CALLS[what], CALLS[what], what, "/" + method, size]
        done = subprocess.Popen([str(word) for word in argv], stdout=subprocess.PIPE, text=True, env=env)
        try:
            answers = done.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            done.kill()
            answers = done.communicate()[0]
        codes = [line.split("\t")[0] for line in answers.splitlines()[1:] if "\t" in line]
        return {code: codes.count(code) for code in sorted(set(codes))}

    def check(self, role):
        process = next(one for one in self.cluster.processes if one.role == role)
        for attack in ATTACKS[role]:
            before = highest_mebibytes(process)
            with self.subTest(attack=attack):
                answers = self.attack(process, *attack)
                self.assertEqual(self.cluster.groups[role].kills(), 0, f"{role} was killed for want of memory")
                self.assertIsNone(process.popen.poll(), f"{role} has ended: {process.log.read_text()[-1000:]}")
                print(f"{role}\t{attack[1]}\t{attack[2]}\t{before} -> {highest_mebibytes(process)} MiB\t{answers}", flush=True)
                self.assertNotIn("OK", answers)
        self.assertLess(highest_mebibytes(process) << 20, compose_limits()[role] * 9 // 10)
        begun = time.monotonic()
        who = identity(self.certificates, "client")
        self.cluster.client("submit", self.job, "--no-cache", "--wait", *who, timeout=60)
        print(f"{role}\ta job of another client took {time.monotonic() - begun:.1f} s afterwards", flush=True)


for role in ATTACKS:
    setattr(Memory, f"test_{role}_keeps_to_its_memory", lambda self, role=role: self.check(role))


if __name__ == "__main__":
    unittest.main()
