"""An action's digest is no secret: who may write its result, and how a store that was poisoned is mended."""

import json
import os
import pathlib
import tempfile
import unittest

import harness
from trusted_cluster import CERTS, TrustedCluster, identity

FORGER = harness.ROOT / "build/release/bin/cache_forger"
if (harness.BIN / "cache_forger").exists():
    FORGER = harness.BIN / "cache_forger"


class Attack(unittest.TestCase):
    """A job of a few kernels, and the digest of the dataset that it gives without an attack."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.job = harness.many_kernels_job(cls.folder, "cached", 4, 2)
        harness.crawl(cls.job, cls.folder / "reference", cls.folder / "data")
        cls.honest = harness.dataset_digest(cls.folder / "reference")

    def forge(self, *argv, who=None, check=True):
        """Lines of cache_forger, as the certificate `who`."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("KERNELMILL_TLS")}
        if who:
            files = dict(zip(("CA", "CERT", "KEY"), identity(self.certificates, who)[1::2]))
            env.update({f"KERNELMILL_TLS_{name}": str(path) for name, path in files.items()})
        return harness.run(FORGER, *argv, env=env, check=check).stdout.splitlines()

    def poison(self, action, grant="-", who=None):
        """Writes a forged blob and result; returns the store's answer to each."""
        return self.forge("poison", self.store_address, action, "extract", grant, who=who)

    @property
    def store_address(self):
        return f"127.0.0.1:{self.cluster.store.port}"

    def run_job(self, *argv, flags=()):
        """The dataset that the command's job gives; empty where it gives none."""
        done = self.cluster.client(*argv, "--wait", "--json", *flags, check=False)
        return self.dataset(done.stdout)

    @staticmethod
    def dataset(text):
        return json.loads(text.splitlines()[-1]).get("dataset") or ""


class WithoutTls(Attack):
    """A cluster without TLS: every caller may write. --no-cache and `store forget` mend a poisoned cache."""

    def setUp(self):
        self.cluster = harness.Cluster(self.folder / self.id().rsplit(".", 1)[-1])
        self.addCleanup(self.cluster.__exit__)
        self.cluster.start_worker("fetcher")
        self.cluster.client("submit", self.job)
        leased = self.forge("lease", f"127.0.0.1:{self.cluster.coordinator.port}", "extract")
        self.action, grant = leased[0].split()
        self.assertEqual(grant, "-", "without a key there are no grants")
        for role in ("extractor", "validator", "deduplicator"):
            self.cluster.start_worker(role)
        self.assertEqual(self.run_job("submit", self.job), self.honest)
        self.assertEqual([line.strip() for line in self.poison(self.action)], ["OK", "OK"])

    def forget(self, *argv):
        done = harness.run(harness.BIN / "kernelmill", "store", "forget", *argv, "--json", "--store", self.store_address)
        return int(json.loads(done.stdout).get("results", 0))

    def test_no_cache_gives_the_true_dataset_and_mends_the_cache(self):
        self.assertNotEqual(self.run_job("submit", self.job), self.honest, "the attack must have worked")
        self.assertEqual(self.run_job("submit", self.job, "--no-cache"), self.honest)
        self.assertEqual(self.run_job("submit", self.job), self.honest, "the poisoned results were replaced")

    def test_retry_without_cache_gives_the_true_dataset(self):
        bad = self.cluster.client("submit", self.job, "--wait", "--json", check=False)
        self.assertNotEqual(self.dataset(bad.stdout), self.honest)
        job = self.cluster.jobs()[0]["job"]
        self.assertEqual(self.run_job("retry", job, "--no-cache"), self.honest)

    def test_forgotten_results_are_made_anew(self):
        self.assertEqual(self.forget("--worker", "nobody of this name"), 0)
        self.assertEqual(self.forget("--worker", "a good worker", "--dry-run"), 1)
        self.assertNotEqual(self.run_job("submit", self.job), self.honest, "a trial forgets nothing")
        self.assertEqual(self.forget("--stage", "extract", "--version", "1"), 0)
        self.assertEqual(self.forget("--stage", "extract"), 1)
        self.assertEqual(self.run_job("submit", self.job), self.honest)
        self.assertIn('"call":"ForgetResults"', self.cluster.store.log.read_text().replace(" ", ""))


class WithTls(Attack):
    """A cluster with TLS: a caller without a grant for the action cannot write its result."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.certificates = cls.folder / "certificates"
        harness.run(CERTS, cls.certificates)

    def setUp(self):
        name = self.id().rsplit(".", 1)[-1]
        self.cluster = TrustedCluster(self.folder / name, self.certificates)
        self.addCleanup(self.cluster.__exit__)
        self.cluster.start_worker("fetcher")

    def client(self, *argv, who="client", code=0):
        done = self.cluster.client(*argv, *identity(self.certificates, who), check=False)
        self.assertEqual(done.returncode, code, f"{argv}: {done.stdout}\n{done.stderr}")
        return done.stdout

    def forget(self, *argv, who="operator", code=0):
        done = harness.run(harness.BIN / "kernelmill", "store", "forget", *argv, "--json", "--store", self.store_address,
                           *identity(self.certificates, who), check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr

    def forgotten(self, *argv):
        return int(json.loads(self.forget(*argv)).get("results", 0))

    def lease(self):
        """The extraction of a new job and its grant, as the extractor."""
        self.client("submit", self.job)
        leased = self.forge("lease", f"127.0.0.1:{self.cluster.coordinator.port}", "extract", who="extractor")
        self.assertNotEqual(leased, ["none"])
        return leased[0].split()

    def refused(self, why, action, grant="-", who=None, code="PERMISSION_DENIED"):
        result = self.poison(action, grant, who=who)[-1]
        self.assertTrue(result.startswith(code), f"{result}\nnot refused as: {why}")
        self.assertIn(why, result)

    def finish(self):
        """The honest workers run a job: it must give the honest dataset."""
        for role in ("extractor", "validator", "deduplicator"):
            self.cluster.start_worker(role)
        return self.run_job("submit", self.job, flags=identity(self.certificates, "client"))

    def test_no_result_is_written_without_the_grant_of_its_task(self):
        action, grant = self.lease()
        self.refused("", action, grant, who=None, code="UNAVAILABLE")  # the handshake
        self.refused("needs the role worker", action, grant, who="client")
        self.refused("needs the role worker", action, grant, who="operator")
        self.refused("the grant is missing", action, who="extractor")
        self.refused("given to worker extractor", action, grant, who="validator")
        self.refused("not signed", action, ("1" if grant[0] != "1" else "2") + grant[1:], who="extractor")
        other = "0" * 64 + "/7"
        self.refused("is for extract", other, grant, who="extractor")
        log = self.cluster.store.log.read_text()
        self.assertIn("refused an action result", log)
        self.assertIn("worker validator", log)
        self.assertEqual(self.finish(), self.honest)
        self.assertNotIn("cannot cache the result", "".join(p.log.read_text() for p in self.cluster.processes))

    def test_what_a_worker_with_the_grant_poisoned_is_forgotten_by_its_name(self):
        action, grant = self.lease()
        self.assertEqual([line.strip() for line in self.poison(action, grant, who="extractor")], ["OK", "OK"])
        self.assertNotEqual(self.finish(), self.honest, "whoever runs a task is believed")
        self.assertIn("needs the role operator", self.forget("--worker", "extractor", who="client", code=2))
        self.assertEqual(self.forgotten("--worker", "a good worker"), 0, "the store knows who wrote it")
        self.assertGreaterEqual(self.forgotten("--worker", "extractor"), 1)
        self.assertEqual(self.run_job("submit", self.job, flags=identity(self.certificates, "client")), self.honest)


if __name__ == "__main__":
    unittest.main()
