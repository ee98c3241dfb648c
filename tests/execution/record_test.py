"""Records a repository's own tests under Triton's interpreter, and replays what was recorded: from crawl to score."""

import hashlib
import json
import os
import pathlib
import sys
import tempfile
import unittest

import environment

environment.need("recording")
import harness  # noqa: E402
import kernels  # noqa: E402
from kernelmill.execution.case import Case  # noqa: E402
from kernelmill.execution.evidence import Evidence  # noqa: E402


class Records(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.repository, cls.dataset = kernels.crawl(cls.work)
        cls.file = cls.work / "evidence" / "evidence.jsonl"
        cls.env = {**os.environ, "KERNELMILL_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = cls.kernelmill("record", cls.dataset, "--repository", f"demo={cls.repository}", "--evidence", cls.file,
                              "--unsafe-no-container")
        cls.recording = json.loads(done.stdout)
        cls.cases = Evidence(cls.file).cases()

    @classmethod
    def kernelmill(cls, *argv, check=True):
        return harness.run(harness.BIN / "kernelmill", *argv, "--json", env=cls.env, check=check)

    def of(self, kernel):
        return [case for case in self.cases if case.kernel == kernel]

    def test_each_kernel_is_reached_and_the_failed_test_gives_no_case(self):
        self.assertEqual(self.recording["tests"], {"failed": 1, "passed": 6, "skipped": 5})  # those whose kernels have cases
        self.assertEqual((self.recording["kernels"], self.recording["reached"], self.recording["recorded"]), (3, 3, 3))
        self.assertEqual(self.recording["refused"], {"test_failed": 1})
        self.assertFalse([case for case in self.cases if "test_add_wrong" in case.row["origin"]["recorded"]["test"]])

    def test_cases_vary_in_type_and_size(self):
        cases = self.of("add_kernel")
        self.assertGreaterEqual(len(cases), 3)
        self.assertEqual({case.dtype_of(0) for case in cases}, {"float32", "float16"})
        self.assertEqual({case.row["ragged"] for case in cases}, {True, False})
        self.assertEqual(self.recording["enough"], 1)

    def test_what_the_kernel_overwrites_is_poison_and_what_it_reads_is_not(self):
        for case in self.of("add_kernel"):
            self.assertEqual(case.storages[2]["recipe"], {"kind": "poison"})
            self.assertEqual([case.dtype_of(place) for place in case.outputs], [case.dtype_of(2)])
        for case in self.of("scale_kernel"):
            self.assertNotEqual(case.storages[0].get("recipe"), {"kind": "poison"})

    def test_views_keep_their_storage_and_sequences_become_recipes(self):
        [case] = self.of("copy_kernel")
        [x, out] = case.tensors()
        self.assertEqual((x["offset"], x["shape"], case.storages[0]["bytes"]), (3, [197], 1600))
        self.assertEqual(case.storages[0]["recipe"], {"kind": "arange", "dtype": "int64", "start": 0, "step": 1})
        self.assertEqual(out["dtype"], "int64")

    def test_options_and_none_are_kept(self):
        arguments = [{each["name"]: each for each in case.row["arguments"]} for case in self.of("scale_kernel")]
        self.assertEqual({each["HAS_BIAS"]["constexpr"] for each in arguments}, {"True", "False"})
        self.assertEqual([each["bias_ptr"] for each in arguments if each["HAS_BIAS"]["constexpr"] == "False"], [{"name": "bias_ptr"}])
        self.assertEqual({each["factor"]["scalar"]["value"] for each in arguments}, {1.5})

    def test_a_second_recording_is_the_same(self):
        again = self.work / "again" / "evidence.jsonl"
        self.kernelmill("record", self.dataset, "--repository", f"demo={self.repository}", "--evidence", again, "--unsafe-no-container")
        self.assertEqual([case.id for case in Evidence(again).cases()], [case.id for case in self.cases])

    def test_replays_are_exact_a_broken_kernel_differs_and_cases_are_scored(self):
        done = self.kernelmill("run", self.dataset, "--evidence", self.file, "--mutants", "20", "--made", "2")
        summary = json.loads(done.stdout)
        self.assertEqual(set(summary["outcomes"]), {"exact"})
        scores = {row["kernel"]: row["score"] for row in Evidence(self.file).rows("adequacy")}
        self.assertEqual(set(scores), {"add_kernel", "copy_kernel", "scale_kernel"})
        self.assertGreater(scores["add_kernel"], 0.8)

        broken = self.work / "broken"
        broken.mkdir()
        rows = [{**row, "module": row["module"].replace("twice(x) + y", "twice(x) - y")} for row in kernels.rows(self.dataset)]
        (broken / "kernels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        digest = {row["name"]: hashlib.sha256(row["module"].encode()).hexdigest() for row in rows}
        evidence = Evidence(self.work / "broken.jsonl")
        for case in self.of("add_kernel"):
            fields = {key: value for key, value in case.row.items() if key not in ("id", "type")}
            evidence.add(Case.make(**{**fields, "module_sha256": digest["add_kernel"]}).row)
            for each in (*case.storages, *case.row["outputs"]):
                if "sha256" in each:
                    evidence.put(Evidence(self.file).get(each["sha256"]))
        evidence.save()
        done = self.kernelmill("run", broken, "--evidence", evidence.file, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(set(json.loads(done.stdout)["outcomes"]), {"different"})

    def test_a_checkout_of_another_text_gives_no_case(self):
        other = self.work / "other"
        other.mkdir()
        for name in ("kernels.py", "test_kernels.py"):
            (other / name).write_text((self.repository / name).read_text().replace("twice(x) + y", "y + twice(x)"))
        done = self.kernelmill("record", self.dataset, "--repository", f"demo={other}", "--evidence", self.work / "other.jsonl",
                               "--unsafe-no-container")
        self.assertEqual(json.loads(done.stdout)["refused"]["text_differs"], 1)
        self.assertEqual({case.kernel for case in Evidence(self.work / "other.jsonl").cases()}, {"copy_kernel", "scale_kernel"})

    def test_a_lock_that_does_not_hold_is_refused(self):
        lock = self.work / "lock.txt"
        lock.write_text("numpy==0.0.1\n")
        done = self.kernelmill("record", self.dataset, "--repository", f"demo={self.repository}", "--evidence", self.work / "x.jsonl",
                               "--lock", lock, "--unsafe-no-container", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("numpy==0.0.1 is not installed", done.stderr)


if __name__ == "__main__":
    unittest.main()
