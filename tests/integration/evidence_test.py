"""A job with evidence: a source of observations becomes tasks.jsonl. The dataset is a function of sources and evidence, and
evidence is what others wrote."""

import hashlib
import json
import pathlib
import tempfile
import unittest

import harness
import row_schema

KERNEL = '''import triton
import triton.language as tl


@triton.jit
def {name}(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Writes {text} of each element of x to y."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, {value}, mask=at < n)
'''


# By it `double` and `root` are compared with something that is not a kernel.
TESTS = '''import torch
from double import double
from root import root


def test_double():
    x = torch.rand(64)
    y = torch.empty_like(x)
    double[(1,)](x, y, x.numel(), BLOCK=64)
    torch.testing.assert_close(y, torch.add(x, x))


def test_root():
    x = torch.rand(64)
    y = torch.empty_like(x)
    root[(1,)](x, y, x.numel(), BLOCK=64)
    torch.testing.assert_close(y, torch.sqrt(x))
'''


def canonical(row):
    return json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def case(kernel, size):
    """A case of a kernel's row, as kernelmill.execution writes it."""
    def tensor(name, storage):
        return {"name": name, "tensor": {"dtype": "float32", "shape": [size], "strides": [1], "offset": 0, "storage": storage}}

    content = {"type": "case", "module_sha256": hashlib.sha256(kernel["module"].encode()).hexdigest(), "kernel": kernel["qualname"],
               "arguments": [tensor("x_ptr", 0), tensor("y_ptr", 1), {"name": "n", "scalar": {"type": "int", "value": size}},
                             {"name": "BLOCK", "constexpr": "64"}],
               "storages": [{"bytes": 4 * size, "recipe": {"kind": "normal", "dtype": "float32", "seed": size, "mean": 0.0,
                                                           "deviation": 1e-05}},
                            {"bytes": 4 * size, "recipe": {"kind": "poison"}}],
               "grid": [-(-size // 64), 1, 1], "options": {"num_warps": 4}, "environment": {},
               "outputs": [{"storage": 1, "sha256": hashlib.sha256(str(size).encode()).hexdigest()}],
               "tolerance": {"float32": 0.0002}, "ragged": size % 64 != 0}
    return {**content, "id": hashlib.sha256(canonical(content).encode()).hexdigest(), "origin": {"made": {"seed": 1}}}


def result(of, device, outcome):
    return {"type": "result", "case": of["id"], "module_sha256": of["module_sha256"], "device": device,
            "toolchain": {"triton": "3.5.1"}, "environment": {}, "outcome": outcome, "absolute": 0.0, "relative": 0.0, "share": 0.0,
            "out_of_bounds": 0, "message": ""}


def adequacy(of, score):
    return {"type": "adequacy", "module_sha256": of["module_sha256"], "kernel": of["kernel"], "cases": 4,
            "mutants": {"mask": {"total": 10, "caught": 9, "equivalent": 1}}, "score": score}


class Evidence(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.write("py/double.py", KERNEL.format(name="double", text="twice the value", value="x * 2"))
        self.write("py/root.py", KERNEL.format(name="root", text="the square root", value="tl.sqrt(x)"))
        self.write("py/test_ops.py", TESTS)
        self.write("py/LICENSE", harness.MIT_TEXT)

    def write(self, path, text):
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text)

    def write_evidence(self, name, rows):
        self.write(f"evidence/{name}.jsonl", "".join(canonical(row) + "\n" for row in rows))

    def crawl(self, out="out", job="  - {path: ./evidence, role: evidence}\n", data="data", references="references: true\n"):
        self.write("job.yaml", "name: job\nsources:\n  - {path: ./py, license: MIT}\n" + job + references)
        done = harness.run(harness.BIN / "kernelmill", "crawl", self.folder / "job.yaml", "--out", self.folder / out, "--data",
                           self.folder / data, check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(row_schema.problems(self.folder / out), [])
        return done.stdout + done.stderr

    def rows(self, name, out="out"):
        path = self.folder / out / f"{name}.jsonl"  # which is not written without rows
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def report(self, out="out"):
        return json.loads((self.folder / out / "report.json").read_text())

    def kernels(self):
        """The rows of a crawl without evidence, by name."""
        self.crawl("plain", job="")
        self.assertEqual(self.rows("tasks", "plain"), [])
        return {row["name"]: row for row in self.rows("kernels", "plain")}

    def rows_of_double(self, score):
        """Two cases of a kernel, which replay."""
        kernel = self.kernels()["double"]
        cases = [case(kernel, size) for size in (100, 64)]
        return [*cases, *(result(each, "cpu", "exact") for each in cases), adequacy(cases[0], score)]

    def test_the_only_case_of_a_kernel_verifies_nothing(self):
        """It is shown, so that an answer could be made for it."""
        first, _, *results = self.rows_of_double(1)
        self.write_evidence("all", [first, results[0], results[-1]])
        text = self.crawl()
        task, = self.rows("tasks")
        self.assertEqual((task["verified"], task["not_verified"], task["verified_by"]), (False, "no_hidden_case", None))
        self.assertIn("no_hidden_case 1; `kernelmill rejected DATASET --reason unverified` names them", text)
        done = harness.run(harness.BIN / "kernelmill", "rejected", self.folder / "out", "--reason", "unverified")
        self.assertRegex(done.stdout, "double .* unverified .* no_hidden_case ")
        self.assertEqual(done.stderr, "1 kept, but not verified as a task\n")

    def test_tasks_come_from_sources_and_evidence_alone(self):
        kernels = self.kernels()
        double, root = ([case(kernels[name], size) for size in (64, 100, 128)] for name in ("double", "root"))
        results = [result(each, "cpu", "exact") for each in double] + [result(double[0], "cuda:90", "close")]
        of_root = [result(each, "cpu", "exact") for each in root]
        self.write_evidence("cases", [*double, *root])
        self.write_evidence("more/results", [*results, *of_root, *(result(each, "cuda:90", "different") for each in root),
                                             adequacy(double[0], 0.9), adequacy(root[0], 1)])
        text = self.crawl()
        self.assertIn("evidence: kernels that are not verified: different 1", text)
        self.assertIn("\ntasks      1 verified; different 1\n", text)
        tasks = {row["name"]: row for row in self.rows("tasks")}
        self.assertEqual(set(tasks), {"double"}, "the cases of root differ on a device")
        task = tasks["double"]
        self.assertEqual((task["verified"], task["verified_by"]), (True, "independent"))
        self.assertEqual({each["name"]: each["values"] for each in task["fixed"]},
                         {"x_ptr": ["float32"], "y_ptr": ["float32"], "BLOCK": ["64"], "grid[1]": ["1"], "grid[2]": ["1"]})
        self.assertEqual(task["module"], kernels["double"]["module"])
        self.assertEqual(sorted(each["id"] for each in task["cases"] + task["hidden_cases"]), sorted(each["id"] for each in double))
        self.assertTrue(task["cases"] and task["hidden_cases"])
        shown = json.loads(task["cases"][0]["evidence"])
        self.assertIn(shown, double)
        self.assertIn("Write a Triton kernel named `double`.", task["text"])
        self.assertIn("Writes twice the value of each element of x to y.", task["text"])
        self.assertIn("0.0002 for float32", task["text"])
        for hidden in task["hidden_cases"]:
            self.assertNotIn(f"float32 tensor {hidden['arguments'][0]['shape']}", task["text"])
        for field in ("id", "repository", "commit", "path", "first_line", "url", "category", "split", "weight", "duplicates"):
            self.assertEqual(task[field], kernels["double"][field], field)
        states = {row["name"]: row["task"] for row in self.rows("ledger")}
        self.assertEqual(states, {"double": "verified", "root": "different"})
        first = self.report()
        self.assertEqual((first["evidence"]["tasks"], first["evidence"]["not_verified"]), (1, {"different": 1}))
        # Another data folder knows nothing of the first crawl.
        self.crawl("again", data="other")
        for path in (self.folder / "out").rglob("*"):
            if path.is_file():
                self.assertEqual(path.read_bytes(), (self.folder / "again" / path.relative_to(self.folder / "out")).read_bytes(), path)
        self.assertNotEqual(self.report("plain")["dataset"], first["dataset"])
        # Other evidence makes another dataset. The rows of other files are the same.
        self.write_evidence("more/results", [*results, *of_root, adequacy(double[0], 0.9), adequacy(root[0], 1)])
        self.crawl("later")
        self.assertNotEqual(self.report("later")["dataset"], first["dataset"])
        self.assertEqual({row["name"]: row["verified"] for row in self.rows("tasks", "later")}, {"double": True, "root": True})
        self.assertEqual((self.folder / "later/kernels.jsonl").read_bytes(), (self.folder / "plain/kernels.jsonl").read_bytes())

    def test_a_bound_of_the_job_decides_what_is_verified(self):
        self.write_evidence("all", self.rows_of_double(0.7))
        self.crawl()
        task, = self.rows("tasks")
        self.assertEqual((task["verified"], task["not_verified"]), (False, "low_adequacy"))
        self.crawl("lower", job="  - {path: ./evidence, role: evidence}\nevidence: {min_adequacy: 0.7}\n")
        task, = self.rows("tasks", "lower")
        self.assertEqual((task["verified"], task["not_verified"]), (True, None))
        self.assertIn("min_adequacy: 0.7", (self.folder / "lower/job.lock.yaml").read_text())

    def test_a_kernel_that_no_test_compares_with_a_reference_is_not_verified(self):
        """It would be verified by itself: a case is what the kernel made of its inputs."""
        self.write_evidence("all", self.rows_of_double(1))
        self.crawl()
        self.assertEqual([(row["name"], row["verified"]) for row in self.rows("tasks")], [("double", True)])
        self.crawl("unread", references="")
        task, = self.rows("tasks", "unread")
        self.assertEqual((task["verified"], task["not_verified"]), (False, "no_reference"))
        self.write("py/test_ops.py", TESTS.replace("    torch.testing.assert_close(y, torch.add(x, x))\n", ""))
        self.assertIn("evidence: kernels that are not verified: no_reference 1", self.crawl("uncompared"))

    def test_hostile_evidence_is_ignored_line_by_line(self):
        good = self.rows_of_double(1)
        double = good[0]
        bad = ['{"type":"case"', "NaN", '{"type":"adequacy","score":Infinity}', '{"type":"wish"}', "[" * 100000,
               canonical({**double, "id": "0" * 64}), canonical({**double, "kernel": "a\u202eb"}),
               canonical({**result(double, "cpu", "different"), "module_sha256": "0" * 64}),
               canonical(result({**double, "id": "f" * 64}, "cpu", "different")),
               canonical({**adequacy(double, 1), "\u202ecolor": 3}), '"' + "x" * 900000 + '"', "@triton.jit"]
        self.write("evidence/good.jsonl", "".join(canonical(row) + "\n" for row in good))
        self.write("evidence/bad.jsonl", "\n".join(bad))
        self.write("evidence/large.jsonl", "x" * (17 << 20))
        self.write("evidence/long.jsonl", "x" * (2 << 20))
        self.write("evidence/notes.py", "@triton.jit\ndef not_a_kernel(): pass\n")
        text = self.crawl()
        self.assertEqual([(row["name"], row["verified"]) for row in self.rows("tasks")], [("double", True)])
        self.assertEqual(len(self.rows("kernels")), 2)
        found = self.report()["evidence"]
        lines = {(each["file"], each["line"]): each["message"] for each in found["problems"]["first"]}
        self.assertEqual(set(lines), {("bad.jsonl", line) for line in (1, 2, 3, 5, 6, 7, 8, 11, 12)}
                         | {("large.jsonl", 0), ("long.jsonl", 1)})
        self.assertEqual(lines["large.jsonl", 0], "was not read: too_large")
        self.assertEqual(found["problems"]["count"], 11)
        self.assertEqual(found["results_without_case"], 1)
        self.assertEqual(found["unknown_types"], {"wish": 1})
        self.assertEqual(found["unknown_fields"], {"adequacy.(unsafe name)": 1})
        self.assertIn("evidence: 11 problems: bad.jsonl:1: ", text)
        self.assertNotIn("\u202e", text)

    def test_evidence_of_other_kernels_and_none_at_all(self):
        self.write_evidence("all", [case({"module": "import triton\n", "qualname": "gone"}, 64)])
        text = self.crawl()
        self.assertIn("evidence: the dataset has none of its kernels (1); evidence is bound to a kernel's text: gone of module ", text)
        self.assertEqual(self.report()["evidence"]["unmatched"]["kernels"], 1)
        self.write_evidence("more", self.rows_of_double(1))
        text = self.crawl()
        self.assertIn("evidence: the dataset has 1 of its 2 kernels; the others are of other texts: gone of module ", text)
        self.assertNotIn("warning: evidence", text)
        self.write("job.yaml", "name: job\nsources:\n  - {path: ./py, license: MIT}\n  - {path: ./none, role: evidence}\n")
        done = harness.run(harness.BIN / "kernelmill", "crawl", self.folder / "job.yaml", "--out", self.folder / "failed", "--data",
                           self.folder / "data", check=False, timeout=300)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual([source["failed"] for source in self.report("failed")["sources"]], [False, True])
        self.assertEqual(len(self.rows("kernels", "failed")), 2)


if __name__ == "__main__":
    unittest.main()
