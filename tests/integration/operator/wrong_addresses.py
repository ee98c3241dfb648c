"""Another server at an address than the one that is meant: who was asked what, and what is likely swapped."""

import contextlib
import http.server
import json
import pathlib
import tempfile
import time
import unittest

import harness
import trusted_cluster

PLAIN = {"PATH": "/usr/bin:/bin"}
JOB = "name: j\nsources:\n  - git: https://example.org/a\n"


class Silent(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass


class WrongAddresses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with contextlib.ExitStack() as stack:
            cls.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            cls.cluster = stack.enter_context(harness.Cluster(cls.folder))
            cls.store = f"127.0.0.1:{cls.cluster.store.port}"
            cls.coordinator = f"127.0.0.1:{cls.cluster.coordinator.port}"
            cls.job = cls.folder / "job.yaml"
            cls.job.write_text(JOB)
            cls.addClassCleanup(stack.pop_all().close)

    def client(self, *argv, reconnect=20):
        reconnects = [] if argv[0] == "store" else ["--reconnect-seconds", reconnect]
        begin = time.monotonic()
        done = harness.run(harness.BIN / "kernelmill", *argv, *reconnects, check=False, timeout=60, env=PLAIN)
        return done, time.monotonic() - begin

    def test_a_store_is_no_coordinator(self):
        done, _ = self.client("submit", self.job, "--coordinator", self.store)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{self.store} answers, but is not a coordinator", done.stderr)
        self.assertIn("it does not have kernelmill.v1.Crawl/Submit", done.stderr)
        self.assertIn("is --coordinator the store's address?", done.stderr)

    def test_a_coordinator_is_no_store(self):
        done, _ = self.client("store", "stat", "--store", self.coordinator)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{self.coordinator} answers, but is not a kernelmill-store", done.stderr)
        done, _ = self.client("similar", self.job, "--dataset", "a" * 64 + "/3", "--store", self.coordinator)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{self.coordinator} answers, but is not a content store", done.stderr)
        self.assertIn("is --store the coordinator's address?", done.stderr)

    def test_a_web_server_is_said_to_be_one_at_once(self):
        with harness.serving(Silent) as web:
            address = f"127.0.0.1:{web.server_address[1]}"
            for argv in (["jobs", "--coordinator", address], ["store", "stat", "--store", address]):
                done, seconds = self.client(*argv)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"{address} answers, but does not speak gRPC", done.stderr)
                self.assertLess(seconds, 8)

    def test_a_worker_with_swapped_addresses_ends_and_says_so(self):
        for coordinator, store, said in ((self.store, self.coordinator, "is --coordinator the store's address?"),
                                         (self.coordinator, self.coordinator, "is not a content store")):
            begin = time.monotonic()
            done = harness.run(harness.BIN / "kernelmill-extractor", "--listen", "127.0.0.1:0", "--metrics", "",
                               "--coordinator", coordinator, "--store", store, check=False, timeout=20, env=PLAIN)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertLess(time.monotonic() - begin, 20)
            last = json.loads(done.stderr.splitlines()[-1])
            self.assertEqual(last["level"], "error")
            self.assertIn(said, last["error"])

    def test_a_coordinator_says_that_its_store_is_none(self):
        with harness.Cluster(self.folder / "second") as other:
            holding = other.start("coordinator", "--data", self.folder / "holding", "--store", self.coordinator)
            harness.wait_until(lambda: "is not a kernelmill-store" in holding.log.read_text(), "a word on the store", 15)

    def test_a_server_with_tls_is_said_to_want_it(self):
        certificates = self.folder / "certificates"
        harness.run(trusted_cluster.CERTS, certificates)
        server = harness.Process(self.folder, "extractor", *trusted_cluster.identity(certificates, "extractor"),
                                 "--coordinator", self.coordinator, "--store", self.store)
        try:
            done, _ = self.client("jobs", "--coordinator", f"127.0.0.1:{server.port}", reconnect=1)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("a server with TLS does that if --tls-ca is missing", done.stderr)
            identity = trusted_cluster.identity(certificates, "client")
            done, _ = self.client("jobs", "--coordinator", self.coordinator, *identity, reconnect=1)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("answers, but without TLS", done.stderr)
        finally:
            server.stop()

    def test_a_job_file_beyond_the_limit_is_refused_with_it(self):
        large = self.folder / "large.yaml"
        large.write_text(JOB + "".join(f"  - git: https://example.org/{'r' * 200}/{i}\n" for i in range(90_000)))
        done, _ = self.client("submit", large, "--coordinator", self.coordinator)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"larger than \d+ bytes")
