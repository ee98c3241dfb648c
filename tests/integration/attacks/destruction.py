"""Collections of garbage that would take datasets with them, and copies without end."""

import json

import harness
from trusted_cluster import TrustedCase, TrustedCluster, identity


class Destruction(TrustedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.job = harness.many_kernels_job(cls.folder, "kept", 4, 2)

    def start(self, **options):
        cluster = TrustedCluster(self.folder / self.id().rsplit(".", 1)[-1], self.certificates, **options)
        self.addCleanup(cluster.__exit__)
        return cluster

    def run_job(self, cluster):
        """Its name; the dataset is there."""
        cluster.start_workers()
        who = identity(self.certificates, "client")
        cluster.client("submit", self.job, "--wait", *who)
        return json.loads(cluster.client("jobs", "--json", *who).stdout.splitlines()[0])["job"]

    def gc(self, cluster, *flags, code, coordinator=None):
        argv = ["store", "gc", "--target-bytes", "0", "--store", f"127.0.0.1:{cluster.store.port}",
                *identity(self.certificates, "operator"), *flags]
        address = coordinator or f"127.0.0.1:{cluster.coordinator.port}"
        done = harness.run(harness.BIN / "kernelmill", *argv, "--coordinator", address, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def export(self, cluster, job, code=0):
        done = cluster.client("export", job, "--out", self.folder / self.id() / "out",
                              *identity(self.certificates, "client"), check=False)
        self.assertEqual(done.returncode == 0, code == 0, done.stdout + done.stderr)

    def test_a_collection_that_would_drop_a_dataset_names_it_and_asks(self):
        cluster = self.start()  # its coordinator holds nothing
        job = self.run_job(cluster)
        said = self.gc(cluster, code=2)
        self.assertIn("nothing was dropped", said)
        self.assertIn(job, said)
        self.assertIn("--yes", said)
        nobody = f"127.0.0.1:{harness.free_port()}"
        said = self.gc(cluster, code=2, coordinator=nobody)
        self.assertIn(f"cannot ask the coordinator {nobody}", said)
        self.export(cluster, job)
        self.gc(cluster, "--yes", code=0, coordinator=nobody)
        self.assertIn('"call":"CollectGarbage"', cluster.store.log.read_text())
        self.export(cluster, job, code=2)

    def test_a_collection_beside_datasets_that_are_held_needs_no_yes(self):
        cluster = self.start(hold=True)
        job = self.run_job(cluster)
        held = f"dataset/{job}@"
        stat = lambda: harness.run(harness.BIN / "kernelmill", "store", "stat",  # noqa: E731
                                   "--store", f"127.0.0.1:{cluster.store.port}",
                                   *identity(self.certificates, "operator")).stdout
        harness.wait_until(lambda: held in stat() and f"job/{job}" not in stat(), "the dataset alone to be held")
        self.assertIn("dropped", self.gc(cluster, code=0))
        self.assertNotIn("gc-check", stat())
        self.export(cluster, job)

    def test_backups_are_bounded_and_pruned(self):
        cluster = self.start(store_flags=("--backups", self.folder / "backups", "--max-backups", "2"))

        def store(*argv, code=0):
            done = harness.run(harness.BIN / "kernelmill", "store", *argv, "--store", f"127.0.0.1:{cluster.store.port}",
                               *identity(self.certificates, "operator"), check=False)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
            return done.stdout + done.stderr

        store("backup", "one")
        store("backup", "two")
        self.assertIn("--max-backups", store("backup", "three", code=1))
        store("backup", "two")
        self.assertEqual({path.name for path in (self.folder / "backups").iterdir()}, {"one", "two"})
        self.assertIn("one", store("backup", "two", "--prune", "1"))
        self.assertEqual({path.name for path in (self.folder / "backups").iterdir()}, {"two"})
        self.assertIn('"call":"PruneBackups"', cluster.store.log.read_text())
        self.assertIn("two", store("stat"))
        store("prune", code=2)
