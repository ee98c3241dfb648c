"""Strangers who open connections and say nothing, or little: servers answer others meanwhile, or as soon as the strangers have gone."""

import contextlib
import resource
import socket
import ssl
import time
import unittest

import harness
from trusted_cluster import TrustedCase, identity

SERVER_DESCRIPTORS = 1024
SILENT = 6000
PATIENCE = 20  # with a stranger: connections that fail
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # and empty SETTINGS


class FewDescriptors(harness.Process):
    """A server with fewer descriptors than the strangers have."""

    def command(self, *flags):
        return ["prlimit", f"--nofile={SERVER_DESCRIPTORS}:{SERVER_DESCRIPTORS}", *super().command(*flags)]


class Connections(TrustedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(before[1], SILENT + 1000), before[1]))
        cls.addClassCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, before)

    def start(self):
        process = FewDescriptors(self.folder, "coordinator", "--data", self.folder / self.id(),
                                 *identity(self.certificates, "coordinator"))
        self.addCleanup(process.stop)
        return process

    def list_jobs(self, process):
        return harness.run(harness.BIN / "kernelmill", "jobs", "--coordinator", f"127.0.0.1:{process.port}",
                           *identity(self.certificates, "client"), check=False, timeout=60)

    def ask(self, process, within=10):
        """Asserts that a genuine client is answered, and how long it took."""
        begun = time.monotonic()
        done = self.list_jobs(process)
        self.assertEqual(done.returncode, 0, f"{done.stderr}\n{process.log.read_text()[-2000:]}")
        self.assertLess(time.monotonic() - begun, within)
        return time.monotonic() - begun

    def connect(self, process, count, speak=None):
        """Opens connections, and has `speak` say something on each."""
        connections = self.enterContext(contextlib.ExitStack())
        failed = 0
        while count > 0 and failed < PATIENCE:
            count -= 1
            try:
                connection = connections.enter_context(socket.create_connection(("127.0.0.1", process.port), timeout=1))
                if speak:
                    connections.enter_context(speak(connection))
            except OSError:  # refused, or closed at once
                failed += 1
        return connections

    def shake_hands(self, connection):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        secret = context.wrap_socket(connection)
        secret.sendall(PREFACE)
        return secret

    def test_silent_connections_keep_nobody_out_and_a_server_lives_on(self):
        process = self.start()
        for _ in range(2):
            strangers = self.connect(process, SILENT)
            print(f"answered in {self.ask(process):.2f} s beside {SILENT} silent connections")
            strangers.close()
            self.ask(process)

    def test_half_a_handshake_ends_in_seconds(self):
        process = self.start()

        def begin(connection):
            connection.sendall(b"\x16\x03\x01")
            return contextlib.nullcontext()

        self.connect(process, SILENT, begin)
        begun = time.monotonic()
        harness.wait_until(lambda: harness.metric(process.metrics(), "process_open_fds") < 200, "the handshakes to end", 30)
        print(f"half handshakes ended {time.monotonic() - begun:.1f} s after the last")
        self.ask(process)

    def test_strangers_after_a_handshake_are_bounded_and_leave_no_trace(self):
        process = self.start()
        strangers = self.connect(process, SERVER_DESCRIPTORS, self.shake_hands)
        self.assertLess(harness.metric(process.metrics(), "process_open_fds"), SERVER_DESCRIPTORS * 3 / 4)
        self.assertGreater(harness.metric(process.metrics(), "kernelmill_connections"), SERVER_DESCRIPTORS / 4)
        self.assertGreater(harness.metric(process.metrics(), "kernelmill_connections_refused_total"), 0)
        strangers.close()
        harness.wait_until(lambda: harness.metric(process.metrics(), "process_open_fds") < 200, "the connections to close", 30)
        print(f"answered in {self.ask(process, within=5):.2f} s, after the strangers had gone")


if __name__ == "__main__":
    unittest.main()
