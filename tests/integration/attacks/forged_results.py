"""Workers that hand in what is not so: another repository's pin, foreign text under a genuine path, a wrong hash, a
dataset that lies. None of it is in a dataset that anybody exports, and the record is named."""

import pathlib
import subprocess
import tempfile
import unittest

import harness

FOREIGN = "@triton.jit\ndef stolen_kernel(x):\n    tl.store(x, 666)\n"
TREE = harness.ROOT / "tests/data/kernels-repo"


class Forger:
    """`chaos_client forge`: what workers hand in through it is changed on its way."""

    def __init__(self, cluster, *lie):
        self.port = harness.free_port()
        self.log = cluster.folder / f"forge-{self.port}.log"
        words = [f"127.0.0.1:{p}" for p in (self.port, cluster.coordinator.port, cluster.store.port)] + [*lie]
        with open(self.log, "wb") as log:
            self.popen = subprocess.Popen([harness.BIN / "chaos_client", "forge", *words], stdout=log, stderr=log)
        harness.wait_until(lambda: "serving" in self.log.read_text(), "the forger to listen")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.popen.terminate()
        self.popen.wait()

    def start_worker(self, cluster, role):
        """An honest worker that a liar speaks for."""
        flags = ["--coordinator", f"127.0.0.1:{self.port}", "--store", f"127.0.0.1:{cluster.store.port}"]
        return cluster.start(role, *flags, *(["--allow-local", "/", "--allow-private"] if role == "fetcher" else []))

    def lies(self):
        """["STAGE CODE"] of what was handed in."""
        return [line.removeprefix("forged ") for line in self.log.read_text().splitlines() if line.startswith("forged ")]


class ForgedResults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.job = cls.folder / "job.yaml"
        cls.job.write_text(f"name: forged\nsources:\n  - path: {TREE}\n    name: kernels\n")
        cls.honest = cls.folder / "honest"
        harness.crawl(cls.job, cls.honest, cls.folder / "data")

    def cluster(self, liar, *lie):
        """Starts a cluster in which the only worker of one role is a liar; returns (cluster, forger)."""
        cluster = self.enterContext(harness.Cluster(self.folder / self.id().rsplit(".")[-1]))
        forger = self.enterContext(Forger(cluster, *lie))
        for role in cluster.WORKERS:
            worker = forger.start_worker(cluster, role) if role == liar else cluster.start_worker(role)
            if role == liar:
                self.liar = worker
        return cluster, forger

    def submit(self, cluster, job=None):
        done = cluster.client("submit", job or self.job, "--wait", "--json", check=False)
        return done, cluster.jobs()[0]

    def assert_nothing_foreign(self, out):
        for path in filter(pathlib.Path.is_file, pathlib.Path(out).rglob("*")):
            self.assertNotIn("stolen_kernel", path.read_text(errors="replace"), path)

    def assert_the_job_fails_by_name_and_a_retry_mends_it(self, cluster, what):
        done, job = self.submit(cluster)
        self.assertEqual(job["state"], "failed", done.stdout[-2000:])
        failures = harness.last_status(cluster.client("report", job["job"], "--json").stdout)["failures"]
        told = " ".join(f"{failure['code']} {failure['message']}" for failure in failures)
        for words in ("DATA_LOSS", 'source 0: "kernels"', '.py": line ', what, "kernelmill retry JOB --no-cache"):
            self.assertIn(words, told)
        export = cluster.client("export", job["job"], "--out", self.folder / "never", check=False)
        self.assertNotEqual(export.returncode, 0)
        self.assertFalse((self.folder / "never").exists())
        # Honest workers again: what they write is what a cluster without a liar writes.
        self.assertEqual(self.liar.stop(), 0)
        cluster.start_worker(self.liar.role)
        out = cluster.folder / "mended"
        cluster.client("retry", job["job"], "--out", out)
        self.assertEqual(harness.tree_hashes(out), harness.tree_hashes(self.honest))
        self.assert_nothing_foreign(out)

    def test_foreign_text_under_a_genuine_path_fails_the_job(self):
        cluster, forger = self.cluster("extractor", "source", FOREIGN)
        self.assert_the_job_fails_by_name_and_a_retry_mends_it(cluster, "differ from byte")
        self.assertIn("extract OK", forger.lies())

    def test_a_hash_of_another_text_fails_the_job(self):
        cluster, forger = self.cluster("extractor", "hash", FOREIGN)
        self.assert_the_job_fails_by_name_and_a_retry_mends_it(cluster, "the source has SHA-256")
        self.assertIn("link OK", forger.lies())

    def test_a_dataset_that_lies_is_not_exported(self):
        cluster, forger = self.cluster("deduplicator", "manifest", FOREIGN)
        done, job = self.submit(cluster)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(forger.lies(), ["manifest OK"])
        out = self.folder / "lying"
        export = cluster.client("export", job["job"], "--out", out, check=False)
        self.assertEqual(export.returncode, 1, export.stderr)
        for words in ('source 0: "kernels"', ".py\": line ", "differ from byte", "kernelmill retry JOB --no-cache"):
            self.assertIn(words, export.stderr)
        self.assertFalse(out.exists())

    def test_a_forged_pin_is_refused_and_another_worker_pins_the_source(self):
        repositories = self.folder / "repositories"
        repositories.mkdir()
        harness.make_repository(TREE, repositories / "good.git")
        evil_tree = self.folder / "evil-tree"
        evil_tree.mkdir()
        (evil_tree / "evil.py").write_text("import triton\nimport triton.language as tl\n\n\n" + FOREIGN)
        (evil_tree / "LICENSE").write_text(harness.MIT_TEXT)
        harness.make_repository(evil_tree, repositories / "evil.git")
        commits = {name: harness.git("rev-parse", "main", cwd=repositories / f"{name}.git") for name in ("good", "evil")}
        with harness.git_server(repositories) as server:
            job = self.folder / "git.yaml"
            job.write_text(f"name: pinned\nsources:\n  - git: {server.url}/good.git\n")
            cluster, forger = self.cluster("fetcher", "pin", f"{server.url}/evil.git", commits["evil"])
            out = self.folder / "pinned"
            with subprocess.Popen([harness.BIN / "kernelmill", "submit", job, "--out", out, *cluster.addresses()],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as waiting:
                harness.wait_until(forger.lies, "a pin to be forged")
                self.assertEqual(set(forger.lies()), {"pin INVALID_ARGUMENT"})
                self.liar.stop()
                cluster.start_worker("fetcher")
                self.assertEqual(waiting.wait(60), 0, waiting.stderr.read())
            self.assert_nothing_foreign(out)
            commit = {record["commit"] for record in harness.ledger(out)}
            self.assertEqual(commit, {commits["good"]})
            self.assertIn("pin: expected the source", cluster.coordinator.log.read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
