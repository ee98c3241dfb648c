"""Flags, environment and file: who wins."""

import pathlib
import tempfile
import unittest

import harness


class Settings(unittest.TestCase):
    def test_a_flag_beats_the_environment_and_that_beats_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            settings = pathlib.Path(folder) / "kernelmill.yaml"
            settings.write_text("coordinator: file.invalid:1\n")
            env = {"KERNELMILL_COORDINATOR": "env.invalid:1", "PATH": "/usr/bin:/bin"}
            client = [harness.BIN / "kernelmill", "jobs", "--config", settings, "--reconnect-seconds", "0.1"]
            by_flag = harness.run(*client, "--coordinator", "flag.invalid:1", check=False, env=env).stderr
            by_environment = harness.run(*client, check=False, env=env).stderr
            by_file = harness.run(*client, check=False, env={"PATH": "/usr/bin:/bin"}).stderr
            self.assertIn("flag.invalid:1", by_flag)
            self.assertIn("env.invalid:1", by_environment)
            self.assertIn("file.invalid:1", by_file)

    def test_a_wrong_value_names_its_flag_and_gives_2(self):
        for program in ("kernelmill-store", "kernelmill-coordinator", "kernelmill-extractor"):
            done = harness.run(harness.BIN / program, "--drain-seconds", "soon", check=False)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--drain-seconds", done.stderr)
