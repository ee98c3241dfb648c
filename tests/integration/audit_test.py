"""tests/oracle/audit.py on the quick start's dataset: a sound dataset passes every check that says so, and each part of the
audit finds the fault that it is for."""

import csv
import json
import pathlib
import shutil
import sys
import tempfile
import textwrap
import unittest

import harness

sys.path.insert(0, str(harness.ROOT / "tests/oracle"))
from audit_checks import contamination, conversations, fields, fim, modules, records
from audit_checks.dataset import Dataset

AUDIT = harness.ROOT / "tests/oracle/audit.py"


def counts(checks):
    return {check.name: check.count for check in checks if check.wrong and check.count}


class Audit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        repository = cls.folder / "kernels-repo.git"
        harness.make_repository(harness.DEMO_SOURCES, repository)
        job = (harness.ROOT / "deploy/jobs/quickstart.yaml").read_text()
        cls.job = cls.folder / "quickstart.yaml"
        cls.job.write_text(job.replace("../../build/quickstart/kernels-repo.git", str(repository)))
        cls.sound = cls.folder / "sound"
        harness.crawl(cls.job, cls.sound, cls.folder / "data", timeout=600)

    def broken(self, change):
        """A copy of the dataset after `change(folder)`."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "broken"
        shutil.copytree(self.sound, folder)
        change(folder)
        return Dataset(folder)

    def edit_kernels(self, edit):
        def change(folder):
            rows = [json.loads(line) for line in (folder / "kernels.jsonl").read_text().splitlines()]
            for row in rows:
                edit(row)
            (folder / "kernels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return change

    def test_the_quick_starts_dataset_is_sound(self):
        done = harness.run(sys.executable, AUDIT, self.sound, "--strict", "--examples", "5", check=False, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("fim: prompt + completion does not parse", done.stdout)

    def test_a_conversation_that_cannot_be_answered_is_found(self):
        def change(folder):
            rows = [json.loads(line) for line in (folder / "instruct.jsonl").read_text().splitlines()]
            launch = next(row for row in rows if row["template"] == "launch")
            launch["messages"][2]["content"] = "```python\ndef run(x):\n    helper(x)\n```"
            write = next(row for row in rows if row["template"] == "write")
            write["messages"][1]["content"] = "Write `add`. <|im_start|>\n\n```python\n"
            again = json.loads(json.dumps(write))
            again["messages"][2]["content"] = "```python\nother\n```"
            rows.append(again)
            (folder / "instruct.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

        found = counts(conversations.checks(self.broken(change)))
        self.assertEqual(found["conversations: launch calls what the question does not name"], 1)
        self.assertEqual(found["conversations: write without docstring and launcher"], 2)
        self.assertEqual(found["conversations: a question with several answers"], 2)
        self.assertEqual(found["conversations: a fence breaks"], 2)
        self.assertEqual(found["conversations: special tokens without a flag"], 2)

    def test_a_changed_source_is_found(self):
        def edit(row):
            row["source"] = row["source"].replace("tl.", "lt.", 1)
        found = counts(records.checks(self.broken(self.edit_kernels(edit))))
        self.assertIn("record: sha256 is not the source's", found)

    def test_a_module_that_lacks_a_name_is_found(self):
        def edit(row):
            row["module"] = row["module"].replace("import triton.language as tl\n", "")
        found = counts(modules.checks(self.broken(self.edit_kernels(edit))))
        self.assertIn("module: an undefined name is not said", found)

    def test_a_field_of_two_types_is_found(self):
        dataset = self.broken(lambda folder: None)
        dataset.kernels[0]["tags"] = "matmul"
        del dataset.kernels[1]["tags"]
        found = counts(fields.checks(dataset))
        self.assertIn("schema of kernels: mixed types", found)
        self.assertIn("schema of kernels: keys that some rows lack", found)

    def test_a_row_that_does_not_parse_is_found(self):
        def change(folder):
            path = folder / "fim_sft.csv"
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
            rows[1][1] = "  " + rows[1][1].lstrip() + "\n return ("
            with open(path, "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(rows)
        self.assertIn("fim: prompt + completion does not parse", counts(fim.checks(self.broken(change))))

    def test_a_copy_of_a_benchmark_is_found(self):
        dataset = Dataset(self.sound)
        files = self.folder / "benchmark"
        files.mkdir()
        longest = max((row for row in dataset.python() if row["dsl"] == "triton"), key=lambda row: len(row["source"]))
        (files / "kernel.py").write_text("import triton\nimport triton.language as tl\n\n" + textwrap.dedent(longest["source"]))
        benchmark = self.folder / "benchmark.git"
        harness.make_repository(files, benchmark)
        found = counts(contamination.checks(self.sound, [str(benchmark)]))
        self.assertIn("contamination: source has half of a benchmark's text", found)
        self.assertIn("contamination: module has half of a benchmark's text", found)
        self.assertIn("contamination: half of fim_sft.csv is a benchmark's", found)


if __name__ == "__main__":
    unittest.main()
