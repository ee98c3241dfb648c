"""One caller opens as many uploads and streams as it can, and goes on with none of them."""

import pathlib
import socket
import subprocess
import tempfile
import unittest

import harness

STREAMS = 1200  # half of them uploads, half of them reads


class BothFamilies(harness.Process):
    """A store that hears IPv4 and IPv6: without TLS the two are different callers."""

    def command(self, *flags):
        argv = super().command(*flags)
        argv[argv.index("--listen") + 1] = f"[::]:{self.port}"
        return [*argv, "--insecure"]


class Uploads(unittest.TestCase):
    def setUp(self):
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", 0))
        except OSError:
            self.skipTest("this machine has no IPv6")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.store = BothFamilies(self.folder, "store", "--data", self.folder / "data")
        self.addCleanup(self.store.stop)

    def put(self, host, count, size):
        """Uploads blobs as another caller; returns the store's answer to each."""
        return harness.run(harness.BIN / "chaos_client", "put", f"{host}:{self.store.port}", 5, count, size,
                           timeout=40).stdout

    def test_a_caller_that_opens_all_the_uploads_it_can_leaves_room_for_others(self):
        attack = subprocess.Popen(
            [str(harness.BIN / "chaos_client"), "stall", f"127.0.0.1:{self.store.port}", str(STREAMS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(attack.wait)
        self.addCleanup(attack.kill)
        self.addCleanup(attack.stdout.close)
        self.addCleanup(attack.stdin.close)
        self.assertEqual(attack.stdout.readline(), "stalled\n")
        refused = ('grpc_server_handled_total{grpc_code="ResourceExhausted",grpc_method="Write",'
                   'grpc_service="google.bytestream.ByteStream"}')
        harness.wait_until(lambda: harness.metric(self.store.metrics(), refused) > 0, "the caller to be refused")
        said = self.put("[::1]", 5, 6 << 20)  # larger than a batch: as streams
        self.assertEqual(said.count("stored"), 5, said)
        self.assertNotIn("RESOURCE_EXHAUSTED", said)
