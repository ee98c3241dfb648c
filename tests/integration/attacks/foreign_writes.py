"""Checks that strangers and clients cannot collect the garbage of a store that datasets are made from."""

import harness
from trusted_cluster import TrustedCase, TrustedCluster, identity


class ForeignWrites(TrustedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster = TrustedCluster(cls.folder / "cluster", cls.certificates)
        cls.addClassCleanup(cls.cluster.__exit__)

    def test_collecting_garbage_is_refused_to_strangers_and_to_clients(self):
        address = f"127.0.0.1:{self.cluster.store.port}"
        for flags, code in (([], 3), (identity(self.certificates, "client"), 2)):
            done = harness.run(harness.BIN / "kernelmill", "store", "gc", "--target-bytes", "0", "--yes", "--store", address,
                               *flags, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
