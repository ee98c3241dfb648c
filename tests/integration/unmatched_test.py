"""Differences between a job and its sources are named: in the summary, in `--json`, in report.json and on the card."""

import json
import pathlib
import tempfile
import unittest

import harness

KERNEL = '''import triton
import triton.language as tl


@triton.jit
def {name}_kernel(x_ptr, n, BLOCK: tl.constexpr):
    """Writes {text} of each element of x in place."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(x_ptr + at, {value}, mask=at < n)
'''


class Unmatched(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.write("py/double.py", KERNEL.format(name="double", text="twice the value", value="x * 2"))
        self.write("py/root.py", KERNEL.format(name="root", text="the square root", value="tl.sqrt(x)"))
        self.write("py/LICENSE", (harness.ROOT / "LICENSE").read_text())

    def write(self, path, text):
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)

    def crawl(self, job, *options):
        self.write("job.yaml", f"name: job\n{job}")
        return harness.run(harness.BIN / "kernelmill", "crawl", self.folder / "job.yaml", "--out", self.folder / "out", "--data",
                           self.folder / "data", *options, check=False, timeout=300)

    def unmatched(self):
        report = json.loads((self.folder / "out/report.json").read_text())
        return {one["where"]: one for one in report["unmatched"]}

    def test_a_job_that_finds_all_names_nothing(self):
        done = self.crawl("sources:\n  - {path: ./py, license: MIT}\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("unmatched", done.stdout)
        self.assertEqual(self.unmatched(), {})

    def test_each_thing_that_matches_nothing_is_in_one_list(self):
        self.write("hold/model.py", "def model(x):\n    return x + 1\n")
        self.write("odd/text.py", 'TEXT = """\n@triton.jit\n""" % 3\n')
        done = self.crawl('''
sources:
  - {path: ./py, license: MIT, include: ["**/*.py", "**/*.cu"]}
  - {path: ./hold, role: holdout}
  - {path: ./odd}
opt_out:
  - {owner: github.com/somebody}
splits: {validation: 0.001, test_repositories: [./none]}
''')
        self.assertEqual(done.returncode, 0, done.stderr)
        found = self.unmatched()
        self.assertEqual({where: one["what"] for where, one in found.items()}, {
            "sources[0].include[1]": "include", "sources[2]": "marker", "opt_out[0]": "opt_out",
            "splits.validation": "split", "splits.test_repositories[0]": "split"})
        self.assertEqual(found["sources[2]"]["paths"], ["text.py"])
        for where, one in found.items():
            self.assertIn(f"  {where}  ", done.stdout)
        self.assertIn("unmatched  6 differences between the job and its sources", done.stdout)
        self.assertIn("Differences between the job and its sources", (self.folder / "out/README.md").read_text())

    def test_notebooks_are_read_and_cuda_is_named_without_an_include(self):
        code = KERNEL.format(name="half", text="half the value", value="x / 2")
        self.write("py/n.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": code}], "nbformat": 4}))
        self.write("py/k.cu", "__global__ void k() {}\n")
        done = self.crawl("sources:\n  - {path: ./py, license: MIT}\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("kernels    3 found", done.stdout)
        one, = self.unmatched().values()
        self.assertEqual((one["what"], one["where"], one["asked"], one["paths"]),
                         ("unasked", "sources[0].include", "**/*.{cu,cuh,hip}", ["k.cu"]))
        self.assertIn('"**/*.{cu,cuh,hip}" is not asked for; it matches 1 file: k.cu', done.stdout)
        self.crawl('sources:\n  - {path: ./py, license: MIT, exclude: ["**/*.cu"]}\n')
        self.assertEqual(self.unmatched(), {})
        self.crawl('sources:\n  - {path: ./py, license: MIT, include: ["**/*.{py,cu}"]}\n')
        self.assertEqual([found["asked"] for found in self.unmatched().values()], ["**/*.ipynb"])

    def test_a_licence_list_that_rejects_all_leaves_a_loud_warning(self):
        job = "sources:\n  - {path: ./py, license: MIT}\nlicenses: {allow: [ISC]}\n"
        done = self.crawl(job)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("WARNING    the dataset is empty: 2 kernels found, none kept (license:Apache-2.0 2)\n", done.stdout)
        self.assertIn('  licenses.allow  "ISC" allows none of 2 kernels (license:Apache-2.0 2)\n', done.stdout)
        self.assertIn("  rejected     license 2\n", done.stdout)
        self.assertEqual(self.crawl(job + "gates: {min_kept: 1}\n").returncode, 1, "a gate asks for more")

    def test_json_has_the_same_list(self):
        done = self.crawl('sources:\n  - {path: ./py, license: MIT, include: ["*.cu", "**/*.py"]}\n', "--json")
        status = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(status["exit"], 0)
        self.assertEqual(status["job"]["failures"], [])
        one, = status["job"]["unmatched"]
        self.assertEqual(one, {**self.unmatched()["sources[0].include[0]"]})
        self.assertIn('in all folders: "**/*.cu"', one["message"])

    def test_texts_that_would_control_a_terminal_are_spelled_out(self):
        done = self.crawl('sources:\n  - {path: ./py, name: "a\\u202eb", license: MIT, include: ["\\u2066*.py", "**/*.py"]}\n')
        self.assertIn('a\\u202eb: "\\u2066*.py" matches none', done.stdout)
        for hidden in ("\u202e", "\u2066"):
            self.assertNotIn(hidden, done.stdout.split("unmatched")[1])


if __name__ == "__main__":
    unittest.main()
