"""What a server says when it cannot start."""

import json
import subprocess
import tempfile
import time
import unittest

import harness

SERVERS = ("store", "coordinator", "fetcher", "extractor", "validator", "deduplicator")
PLAIN = {"PATH": "/usr/bin:/bin"}


def start(role, folder, *flags):
    """Runs a server that is not to start; the process, and how long it took to end."""
    data = ["--data", f"{folder}/{role}"] if role in ("store", "coordinator") else []
    begin = time.monotonic()
    done = harness.run(harness.BIN / f"kernelmill-{role}", *data, *flags, check=False, timeout=30, env=PLAIN)
    return done, time.monotonic() - begin


class Starting(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def test_a_port_in_use_is_one_clear_line_at_once(self):
        with harness.Cluster(self.folder) as cluster:
            taken = f"127.0.0.1:{cluster.store.port}"
            for role in SERVERS:
                for flags in (["--listen", taken, "--metrics", ""], ["--listen", "127.0.0.1:0", "--metrics", taken]):
                    done, seconds = start(role, f"{self.folder}/second", *flags)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    lines = done.stderr.splitlines()
                    self.assertEqual(len(lines), 1, done.stderr)
                    line = json.loads(lines[0])
                    self.assertIn(f"cannot listen on {taken}: address in use; is another kernelmill-{role} running?",
                                  line["error"])
                    self.assertIn("--metrics" if flags[0] == "--listen" and flags[1] != taken else "--listen",
                                  line["error"])
                    self.assertLess(seconds, 10)

    def test_on_a_terminal_it_is_said_in_plain_words(self):
        with harness.Cluster(self.folder) as cluster:
            program = harness.BIN / "kernelmill-coordinator"
            command = f"{program} --data {self.folder}/x --metrics '' --listen 127.0.0.1:{cluster.store.port}"
            shown = subprocess.run(["script", "-qec", command, "/dev/null"], capture_output=True, text=True, timeout=30)
            self.assertRegex(shown.stdout, "(?m)^kernelmill-coordinator: cannot listen on 127.0.0.1:")

    def test_without_metrics_nothing_serves_them(self):
        log = open(f"{self.folder}/log", "w+b")
        port = harness.free_port()
        process = subprocess.Popen([harness.BIN / "kernelmill-store", "--data", f"{self.folder}/store", "--listen",
                                    f"127.0.0.1:{port}", "--metrics", ""], stderr=log)
        try:
            harness.wait_until(lambda: b'"serving"' in (log.seek(0), log.read())[1], "the store to serve")
        finally:
            process.terminate()
            self.assertEqual(process.wait(30), 0)
            log.close()
