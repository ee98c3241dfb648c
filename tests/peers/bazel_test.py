"""Bazel, a client of the Remote Execution API that others wrote, with kernelmill-store as its remote cache: what
one build stored, the next one takes from there, whole. Skipped where Bazel is not installed; Debian's package
bazel-bootstrap brings it (37 packages, 35 MB, and a JDK if it is missing)."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402

BAZEL = shutil.which("bazel") or shutil.which("bazel-bootstrap")

# Small, larger than a batch, and a folder of files; the last needs the two others.
BUILD = """
genrule(name = "small", outs = ["small.txt"], cmd = "echo hello > $@")
genrule(name = "large", outs = ["large.bin"], cmd = "seq 1 3000000 > $@")
genrule(name = "sums", srcs = [":small", ":large"], outs = ["sums.txt", "empty.txt"],
        cmd = "sha256sum $(SRCS) | cut -d' ' -f1 > $(location sums.txt); touch $(location empty.txt)")
"""


@unittest.skipUnless(BAZEL, "no bazel: apt-get install bazel-bootstrap")
class Bazel(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.workspace = self.folder / "workspace"
        self.workspace.mkdir()
        (self.workspace / "WORKSPACE").write_text("")
        (self.workspace / "BUILD").write_text(BUILD)
        self.store = harness.Process(self.folder, "store", "--data", self.folder / "store")
        self.addCleanup(self.store.stop)
        self.addCleanup(self.bazel, "shutdown")

    def bazel(self, *words):
        env = {**os.environ, "HOME": str(self.folder)}
        return subprocess.run([BAZEL, "--nohome_rc", f"--output_user_root={self.folder}/bazel",
                               "--max_idle_secs=60", *words], cwd=self.workspace, env=env, capture_output=True,
                              text=True, timeout=500)

    def build(self, *flags):
        """Builds everything; how many actions ran where, by Bazel's own count."""
        done = self.bazel("build", "//:all", f"--remote_cache=grpc://127.0.0.1:{self.store.port}",
                          "--color=no", "--curses=no", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("WARNING: Remote Cache", done.stderr)
        line = re.search(r"INFO: \d+ process(?:es)?: (.*)\.", done.stderr)
        self.assertIsNotNone(line, done.stderr)
        return {kind.strip(): int(count) for count, kind in re.findall(r"(\d+) ([a-z -]+)", line.group(1))}

    def outputs(self):
        return {p.name: p.read_bytes() for p in sorted((self.workspace / "bazel-bin").glob("*.*")) if p.is_file()}

    def test_a_second_build_comes_from_the_store(self):
        for flags in ([], ["--remote_instance_name=team/x"]):
            with self.subTest(flags=flags):
                self.bazel("clean")
                first = self.build(*flags)  # results are kept by instance: nothing is there yet
                self.assertNotIn("remote cache hit", first)
                made = self.outputs()
                self.assertEqual(set(made), {"small.txt", "large.bin", "sums.txt", "empty.txt"})
                self.bazel("clean")
                self.assertEqual(self.outputs(), {})
                second = self.build(*flags)
                self.assertEqual(second.get("remote cache hit"), 3, second)
                self.assertEqual(set(second) - {"remote cache hit", "internal"}, set())
                self.assertEqual(self.outputs(), made)


if __name__ == "__main__":
    unittest.main(verbosity=2)
