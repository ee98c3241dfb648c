"""Short files that would take a long answer, much time or much memory of an extractor."""

import pathlib
import tempfile
import time
import unittest

import harness

HEAD = "import triton\nimport triton.language as tl\n"
STACKED = 100_000
PATIENCE = 60  # seconds for one file, on a busy machine
LARGEST_ANSWER = 16 << 20


def shared_helper(kernels, helper_bytes):
    """Kernels that all need one long helper."""
    line = "    x = x + tl.exp(x) * 1.0\n"
    helper = "@triton.jit\ndef helper(x):\n" + line * (helper_bytes // len(line)) + "    return x\n"
    return HEAD + helper + "".join(f"@triton.jit\ndef k{n}(x):\n    helper(x)\n" for n in range(kernels))


def stacked(decorator, last=""):
    """A kernel under many decorators."""
    return HEAD + f"@{decorator}\n" * STACKED + last + "def k(x):\n    pass\n"


def nested(depth):
    """Kernels within kernels."""
    return HEAD + "".join(" " * n + "@triton.jit\n" + " " * n + f"def k{n}(x):\n" for n in range(depth)) + " " * depth + "pass\n"


def resident_mebibytes(process):
    status = pathlib.Path(f"/proc/{process.popen.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) >> 10


class Answers(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def extract(self, text):
        """Extracts a file by one call; returns the answer, and prints what it took."""
        path = self.folder / "a.py"
        path.write_text(text)
        begun = time.monotonic()
        done = harness.run(harness.BIN / "kernelmill", "extract", path, "--json", check=False, timeout=300)
        print(f"{len(text)} bytes: {time.monotonic() - begun:.1f} s, {len(done.stdout)} bytes, {done.stderr[-200:]}", flush=True)
        self.assertLess(time.monotonic() - begun, PATIENCE)
        return done

    def test_kernels_that_share_a_helper(self):
        done = self.extract(shared_helper(1500, 30_000))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 1501)
        self.assertLess(len(done.stdout), 3 * LARGEST_ANSWER, "JSON with escapes, of an answer within its bound")

    def test_kernels_within_kernels(self):
        done = self.extract(nested(2000))
        self.assertIn("nested_kernels", done.stderr)

    def test_stacked_jits(self):
        self.assertEqual(self.extract(stacked("triton.jit")).returncode, 0)

    def test_stacked_decorators_of_others(self):
        self.assertEqual(self.extract(stacked("other", "@triton.jit\n")).returncode, 0)

    def test_memory_goes_back_after_hostile_files(self):
        (self.folder / "hostile").mkdir()
        for number in range(8):
            (self.folder / f"hostile/h{number}.py").write_text(shared_helper(1500, 30_000 + number))
        job = self.folder / "job.yaml"
        job.write_text("name: hostile\nsources:\n  - path: ./hostile\n    name: hostile\n")
        with harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start_workers()
            extractor = next(process for process in cluster.processes if process.role == "extractor")
            before = resident_mebibytes(extractor)
            cluster.client("submit", job, "--wait", check=False)
            highest = resident_mebibytes(extractor)
            time.sleep(10)
            after = resident_mebibytes(extractor)
            print(f"the extractor had {before} MiB, {highest} at the job's end and {after} ten seconds later", flush=True)
            self.assertLess(after, before + 100)


if __name__ == "__main__":
    unittest.main(verbosity=2)
