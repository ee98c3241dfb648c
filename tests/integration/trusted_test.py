"""A cluster whose callers have identities: TLS on every connection, a role for every call, and what strangers get."""

import json
import pathlib
import tempfile
import unittest

import harness
from trusted_cluster import CERTS, TrustedCluster, identity

class Trusted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.certificates, cls.foreign = cls.folder / "certificates", cls.folder / "foreign"
        for folder in (cls.certificates, cls.foreign):
            harness.run(CERTS, folder)
        cls.job = harness.many_kernels_job(cls.folder, "trusted", 8, 3)
        harness.crawl(cls.job, cls.folder / "reference", cls.folder / "data")
        cls.cluster = TrustedCluster(cls.folder / "cluster", cls.certificates, hold=True)
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.cluster.start_workers()

    def client(self, *argv, who="client", folder=None, code=0):
        flags = identity(folder or self.certificates, who) if who else ["--tls-ca", self.certificates / "ca.crt"]
        done = self.cluster.client(*argv, *flags, check=False)
        self.assertEqual(done.returncode, code, f"{argv}: {done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def store(self, *argv, who, code=0):
        done = harness.run(harness.BIN / "kernelmill", "store", *argv, "--store", f"127.0.0.1:{self.cluster.store.port}",
                           *identity(self.certificates, who), check=False)
        self.assertEqual(done.returncode, code, f"{argv}: {done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def test_a_job_over_tls_gives_the_digest_of_one_process(self):
        self.client("submit", self.job, "--wait", "--out", self.folder / "out")
        self.assertEqual(harness.dataset_digest(self.folder / "out"), harness.dataset_digest(self.folder / "reference"))

    def test_only_operators_collect_garbage_and_back_up(self):
        for who in ("client", "extractor", "coordinator"):
            said = self.store("gc", "--target-bytes", "0", who=who, code=2)
            self.assertIn("needs the role operator", said)
        self.assertIn("needs the role coordinator or operator", self.store("stat", who="client", code=2))  # holds name jobs
        self.store("stat", who="operator")

    def test_a_client_uses_its_own_jobs_and_an_operator_all(self):
        harness.run(CERTS, self.certificates, "client/alice", "client/bob")
        job = self.client("submit", self.job, "--request-id", "request-1", who="alice").split()[0]
        said = self.client("submit", self.job, "--request-id", "request-1", who="bob", code=2)
        self.assertIn("belongs to another client", said)
        self.assertIn(job, self.client("jobs", who="alice"))
        self.assertNotIn(job, self.client("jobs", who="bob"))
        self.assertNotIn(job, self.client("workers", who="bob"))
        out = self.folder / "of_bob"
        for call in (["watch", job], ["cancel", job], ["retry", job], ["delete", job], ["report", job],
                     ["report", job, "--timeline"], ["export", job, "--out", out]):
            said = self.client(*call, who="bob", code=2)
            self.assertIn("belongs to another client; only that client and operators may use it", said, call)
        self.assertFalse(out.exists())
        self.assertLessEqual({"Watch", "Cancel", "Retry", "Delete", "GetJob", "Timeline"}, self.refused_calls("bob", job))
        self.assertEqual(self.refused_calls("alice", job), set())
        self.assertIn("client alice", self.client("jobs", who="operator"))
        self.client("watch", job, who="operator")
        self.client("export", job, "--out", self.folder / "of_alice", who="alice")
        self.client("delete", job, who="operator")

    def refused_calls(self, caller, job):
        """The calls to a job that the audit log says were refused to a client."""
        lines = [json.loads(line) for line in self.cluster.coordinator.log.read_text().splitlines() if '"audit"' in line]
        return {line["call"] for line in lines
                if (line["role"], line["caller"], line["of"], line["status"]) == ("client", caller, job, "PERMISSION_DENIED")}

    def test_a_worker_submits_no_job(self):
        self.assertIn("needs the role client or operator", self.client("submit", self.job, who="extractor", code=2))

    def test_a_caller_without_certificate_is_told_what_it_lacks(self):
        said = self.client("jobs", who=None, code=3)
        self.assertIn("neither a certificate with a role nor a known token", said)
        self.assertIn("over TLS, with neither a certificate (--tls-cert, --tls-key) nor a token (--token-file)", said)
        self.assertNotIn("refused this certificate", said)

    def test_a_foreign_certificate_is_refused_and_both_sides_say_so(self):
        said = self.client("jobs", "--reconnect-seconds", "0.1", folder=self.foreign, code=3)
        self.assertIn("certificate verify failed", said)
        half = self.folder / "half"  # believes the server, which does not believe it
        harness.run("cp", "-r", self.foreign, half)
        harness.run("cp", self.certificates / "ca.crt", half)
        said = self.client("jobs", "--reconnect-seconds", "0.1", folder=half, code=3)
        self.assertIn("has refused this certificate", said)
        self.assertIn("certificate verify failed", self.cluster.coordinator.log.read_text())

    def test_a_client_without_tls_is_told_that_the_server_has_it(self):
        done = self.cluster.client("jobs", "--reconnect-seconds", "0.1", check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("--tls-ca", done.stderr)

    def test_expired_certificates_are_refused(self):
        expired = self.folder / "expired"
        harness.run("cp", "-r", self.certificates, expired)
        harness.run(CERTS, expired, "--days", "-1", "client/client")
        said = self.client("jobs", folder=expired, code=2)
        self.assertIn("client.crt expired on ", said)


class Untrusted(unittest.TestCase):
    def test_a_server_without_tls_does_not_listen_to_other_machines(self):
        with tempfile.TemporaryDirectory() as folder:
            for role, flags in (("store", ["--data", folder]), ("coordinator", ["--data", folder]), ("extractor", [])):
                done = harness.run(harness.BIN / f"kernelmill-{role}", "--listen", "0.0.0.0:0", "--metrics", "", *flags,
                                   check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("--insecure", done.stderr)


if __name__ == "__main__":
    unittest.main()
