"""A cluster whose processes and people have identities (deploy/certs.sh)."""

import pathlib
import tempfile
import unittest

import harness

CERTS = harness.ROOT / "deploy/certs.sh"


def identity(folder, name):
    return ["--tls-ca", folder / "ca.crt", "--tls-cert", folder / f"{name}.crt", "--tls-key", folder / f"{name}.key"]


class TrustedCluster(harness.Cluster):
    """Each process has a certificate of its own."""

    def __init__(self, folder, certificates, **options):
        self.certificates = certificates
        super().__init__(folder, **options)

    def start(self, role, *flags):
        grants = ["--grant-key", self.certificates / "grant.key"] if role in ("store", "coordinator") else []
        return super().start(role, *identity(self.certificates, role), *grants, *flags)


class TrustedCase(unittest.TestCase):
    """Tests that share a folder, and certificates for the processes of a cluster and for people."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.certificates = cls.folder / "certificates"
        harness.run(CERTS, cls.certificates)
