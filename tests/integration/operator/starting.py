"""Checks what a server says when it cannot start, and what every program says about a wrong value."""

import json
import re
import subprocess
import tempfile
import time
import unittest

import harness

SERVERS = ("store", "coordinator", "fetcher", "extractor", "validator", "deduplicator")
PLAIN = {"PATH": "/usr/bin:/bin"}
COMMANDS = ("crawl", "submit", "watch", "jobs", "report", "cancel", "retry", "delete", "export", "similar", "extract",
            "validate", "store stat", "store verify", "store gc", "store backup", "store restore")


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


def flags_of(*command):
    """{--flag: what its help says}, for those that take a value."""
    text = harness.run(*command, "--help", env=PLAIN).stdout
    found = {}
    for match in re.finditer(r"(?m)^  (?:-\w,)?(--[a-z-]+)(.*(?:\n {10,}.*)*)", text):
        found[match[1]] = " ".join(match[2].split())
    return found


NUMBER = re.compile(r"^(?:INT|UINT|FLOAT)\b|in \[|POSITIVE|NONNEGATIVE")
MUST_BE_THERE = ("--config", "--tls-ca", "--tls-cert", "--tls-key", "--tokens", "--token-file", "--github-token-file",
                 "--temp-dir", "--spill-dir", "--grant-key")


class WrongValues(unittest.TestCase):
    """Every flag of every program, by its help."""

    def check(self, program, command, needed):
        named = 0
        for flag, text in flags_of(program, *command).items():
            wrong = "x" if NUMBER.search(text) else "/nonexistent" if flag in MUST_BE_THERE else None
            if wrong is None:
                continue
            with self.subTest(program=program.name, command=command, flag=flag):
                argv, own = [], dict(needed)
                own.pop(flag, None)
                for name, value in own.items():
                    argv += [value] if name.startswith("=") else [name, value]
                done = harness.run(program, *command, *argv, flag, wrong, check=False, timeout=30, env=PLAIN)
                self.assertEqual(done.returncode, 2, f"{flag} {wrong}: {done.stderr}")
                said = done.stderr
                self.assertTrue(flag in said or wrong in said and flag in MUST_BE_THERE, f"{flag} {wrong}: {said}")
                named += 1
        self.assertGreater(named, 0, f"{program.name} {command}: no flag was found in its help")

    def test_of_servers_give_2_and_name_the_flag(self):
        with tempfile.TemporaryDirectory() as folder:
            for role in SERVERS:
                needed = {"--listen": "127.0.0.1:0", "--metrics": ""}
                if role in ("store", "coordinator"):
                    needed["--data"] = f"{folder}/{role}"
                self.check(harness.BIN / f"kernelmill-{role}", [], needed)

    def test_of_the_client_give_2_and_name_the_flag(self):
        for command in COMMANDS:
            self.check(harness.BIN / "kernelmill", command.split(), {})
