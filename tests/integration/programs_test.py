"""Checks what all seven programs have in common: --version, errors about wrong flags, and the release in /metrics."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import harness

ROLES = ("store", "coordinator", "fetcher", "extractor", "validator", "deduplicator")
PROGRAMS = ("kernelmill", *(f"kernelmill-{role}" for role in ROLES))
RELEASE = re.search(r"project\(kernelmill VERSION ([0-9.]+)", (harness.ROOT / "CMakeLists.txt").read_text()).group(1)
# Built in a git checkout, the commit; else nothing.
VERSION = re.compile(re.escape(RELEASE) + r"( \([0-9a-f]{12}\))?")


class Programs(unittest.TestCase):
    def test_each_says_its_version(self):
        versions = set()
        for program in PROGRAMS:
            done = harness.run(harness.BIN / program, "--version", check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), program)
            name, version = done.stdout.rstrip("\n").split(" ", 1)
            self.assertEqual(name, program)
            self.assertTrue(VERSION.fullmatch(version), done.stdout)
            versions.add(version)
        self.assertEqual(len(versions), 1, "programs of one build are of one release")

    def test_a_wrong_flag_is_named_and_exits_2(self):
        needed = {"kernelmill-store": ("--data", "unused"), "kernelmill-coordinator": ("--data", "unused")}
        for program in PROGRAMS:
            done = harness.run(harness.BIN / program, *needed.get(program, ()), "--no-such-flag", check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), program)
            self.assertIn("--no-such-flag", done.stderr, program)

    def client_error(self, *argv, code=2):
        done = harness.run(harness.BIN / "kernelmill", *argv, check=False)
        self.assertEqual((done.returncode, done.stdout), (code, ""), f"{argv}: {done.stderr}")
        return done.stderr

    def test_the_clients_errors_say_what_to_do(self):
        quickstart = harness.ROOT / "deploy/jobs/quickstart.yaml"
        for said, *argv in (
                ["a command is required; kernelmill --help lists them"],
                ["frob: unknown command; see kernelmill --help", "frob"],
                ["--frob: unknown option; see kernelmill --help", "--frob"],
                ["see kernelmill store --help", "store"],
                ["frob: unknown command of store", "store", "frob"],
                ["repotr: unknown command (did you mean report?); see kernelmill --help", "repotr"],
                ["--wrokers: unknown option (did you mean --workers?); see kernelmill crawl --help", "crawl", "--wrokers", "3"],
                ["bakcup: unknown command of store (did you mean backup?); see kernelmill store --help", "store", "bakcup"],
                ["--older-than-day: unknown option (did you mean --older-than-days?)", "store", "prune", "--older-than-day", "1"],
                ['--stage: unknown stage "extrat" (did you mean extract?)', "store", "forget", "--stage", "extrat"],
                ["see kernelmill crawl --help", "crawl"],
                ["nowhere.yaml: No such file", "crawl", "nowhere.yaml", "--out", "out"],
                ["/proc: nothing can be written here", "crawl", quickstart, "--out", "/proc/kernelmill"],
                ["/nowhere/report.json: No such file", "similar", __file__, "--out", "/nowhere"]):
            self.assertIn(said, self.client_error(*argv))

    def test_a_shell_completes_commands_and_flags(self):
        script = harness.run(harness.BIN / "kernelmill", "completion", "bash").stdout
        for line, words in (("cra", "crawl"), ("store ba", "backup"), ("crawl --work", "--workers"),
                            ("store gc --target", "--target-bytes"), ("crawl job", "")):
            words_of_line = ["kernelmill", *line.split()]
            asked = f"{script}\nCOMP_WORDS=({' '.join(words_of_line)})\nCOMP_CWORD={len(words_of_line) - 1}\n" \
                    '_kernelmill; echo "${COMPREPLY[@]}"'
            self.assertEqual(harness.run("bash", "-c", asked).stdout.strip(), words, line)
        for shell in ("zsh", "fish"):
            script = harness.run(harness.BIN / "kernelmill", "completion", shell).stdout
            self.assertIn("workers", script)
            if shutil.which(shell):
                harness.run(shell, "-n", "/dev/stdin", input=script)

    def test_help_and_the_manual_page_have_every_command(self):
        table = json.loads(harness.run(harness.BIN / "kernelmill", "help", "--json").stdout)["commands"]
        page = harness.run(harness.BIN / "kernelmill", "help", "--man").stdout
        for command in table:
            of = command["name"].split()
            said = harness.run(harness.BIN / "kernelmill", "help", *of).stdout
            self.assertEqual(said, harness.run(harness.BIN / "kernelmill", *of, "--help").stdout, of)
            if not any(other["name"].startswith(command["name"] + " ") for other in table):
                self.assertIn('.SS "' + command["name"].replace("-", "\\-"), page)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-z"], input=page, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_flag_goes_before_the_environment_in_every_program(self):
        environment = dict(os.environ, KERNELMILL_COORDINATOR="127.0.0.1:1", KERNELMILL_SLOTS="7", KERNELMILL_LISTEN="0.0.0.0:1")
        address = f"127.0.0.1:{harness.free_port()}"
        for command in (["jobs"], ["cancel", "job-1"], ["submit", harness.ROOT / "deploy/jobs/quickstart.yaml"]):
            done = harness.run(harness.BIN / "kernelmill", *command, "--coordinator", address, "--reconnect-seconds", "0.1",
                               check=False, env=environment)
            self.assertIn(f"the coordinator at {address}", done.stderr, command)
        for role in ROLES:
            needed = ("--data", "unused") if role in ("store", "coordinator") else ()
            done = harness.run(harness.BIN / f"kernelmill-{role}", "--listen", "0.0.0.0:2", "--metrics", "", *needed,
                               check=False, env=environment)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--listen 0.0.0.0:2 is reachable from other machines", done.stderr, role)

    def test_an_unreachable_cluster_is_named_with_the_flags_that_set_it(self):
        address = f"127.0.0.1:{harness.free_port()}"
        said = self.client_error("jobs", "--coordinator", address, "--reconnect-seconds", "0.1", code=3)
        for part in (address, "--coordinator", "kernelmill crawl"):
            self.assertIn(part, said.splitlines()[-1])

    def test_a_client_whose_connection_was_closed_comes_back_soon(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            closing = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            port = closing.getsockname()[1]
            client = subprocess.Popen([harness.BIN / "kernelmill", "jobs", "--coordinator", f"127.0.0.1:{port}"],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            stack.enter_context(client)
            closing.accept()[0].close()
            closing.close()
            process = harness.Process(pathlib.Path(folder), "coordinator", "--data", pathlib.Path(folder) / "data", port=port)
            stack.callback(process.stop)
            begun = time.monotonic()
            said = client.communicate(timeout=60)
            self.assertEqual(client.returncode, 0, said)
            self.assertLess(time.monotonic() - begun, 6, said)

    def test_metrics_say_the_release(self):
        with tempfile.TemporaryDirectory() as folder, harness.Cluster(pathlib.Path(folder)) as cluster:
            for process in (cluster.store, cluster.coordinator, cluster.start_worker("validator")):
                found = re.search(r'^kernelmill_build_info\{version="([^"]*)"\} 1$', process.metrics(), re.MULTILINE)
                self.assertTrue(found, process.role)
                self.assertTrue(VERSION.fullmatch(found.group(1)), found.group(0))


if __name__ == "__main__":
    unittest.main()
