"""Checks that datasets, pyarrow and DuckDB read a dataset's JSON lines and training views by the types of the rows, also a file
whose first megabytes have null where later rows have something. hub_test.py checks the folder as a whole and its Parquet.
Skipped if the readers are not installed (tests/peers/install_readers.sh)."""

import csv
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402
import row_schema  # noqa: E402

FOLDER = pathlib.Path(os.environ.get("KERNELMILL_READERS", harness.ROOT / "build/peers/readers"))
LARGE = 12 << 20  # datasets guesses by 10 MiB, pyarrow by 1 MiB


def rows_of(out, name):
    with open(out / f"{name}.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@unittest.skipUnless((FOLDER / ".requirements").is_file(), "no readers: tests/peers/install_readers.sh")
class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        os.environ.update(HF_HOME=str(cls.folder / "hf"), HF_HUB_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1")
        sys.path.insert(0, str(FOLDER))
        data = harness.ROOT / "tests/data"
        (cls.folder / "held").mkdir()
        (cls.folder / "held/held.jsonl").write_text(
            json.dumps({"code": (harness.DEMO_SOURCES / "kernels/matmul.py").read_text()}) + "\n")
        job = cls.folder / "job.yaml"
        job.write_text(f"""name: readers
sources:
  - {{path: {harness.DEMO_SOURCES}, name: demo}}
  - {{inductor: {data}/inductor/debug, name: inductor, license: MIT}}
  - {{path: {data}/cuda, name: cuda, include: ["**/*.{{cu,cuh}}"]}}
  - {{path: held, name: held, role: holdout, include: ["*.jsonl"]}}
dedup: {{contamination: {{action: label}}}}
""")
        cls.out = cls.folder / "out"
        harness.crawl(job, cls.out, cls.folder / "data")
        # The demo's rows first, again and again: what they have not is null for as long as readers look.
        cls.large = cls.folder / "large"
        shutil.copytree(cls.out, cls.large)
        lines = (cls.out / "kernels.jsonl").read_text().splitlines(keepends=True)
        demo = "".join(line for line in lines if json.loads(line)["repository"] == "demo" and "held.jsonl" not in line)
        (cls.large / "kernels.jsonl").write_text(demo * (LARGE // len(demo) + 1) + "".join(lines))
        cls.rows = {name: rows_of(cls.out, name) for name in row_schema.names()}

    def test_the_rows_have_what_these_tests_are_about(self):
        kernels = self.rows["kernels"]
        for field in ("inductor", "cuda", "autotune", "launcher", "contamination"):
            self.assertTrue(any(row[field] for row in kernels), field)
        self.assertTrue(any(match["holdout"]["json_pointer"] for row in kernels for match in row["contamination"]))

    def check(self, read, rows):
        """Compares the rows that were read with the JSON."""
        self.assertEqual(len(read), len(rows))
        for ours, theirs in zip(rows, read):
            self.assertEqual(theirs, ours)

    def test_datasets_takes_the_lines_by_the_types_of_the_card(self):
        import datasets
        features = datasets.load_dataset(str(self.out), "kernels")["train"].features
        read = datasets.load_dataset("json", data_files=str(self.large / "kernels.jsonl"), features=features)["train"]
        self.check(list(read.select(range(len(read) - len(self.rows["kernels"]), len(read)))), self.rows["kernels"])

    def test_datasets_takes_the_training_views(self):
        import datasets
        with open(self.out / "fim_sft.csv", newline="", encoding="utf-8") as rows:
            pairs = [{**row, "weight": float(row["weight"])} for row in csv.DictReader(rows)]
        self.assertGreater(len(pairs), 0)
        # Not by the card: all files of a folder are of one kind to it.
        read = datasets.load_dataset("csv", data_files=str(self.out / "fim_sft.csv"))["train"]
        self.check(list(read), pairs)
        functions = json.loads((self.out / "triton_functions.json").read_text())
        self.check(list(datasets.load_dataset("json", data_files=str(self.out / "triton_functions.json"))["train"]), functions)

    def test_pyarrow_takes_the_files(self):
        import datasets
        import pyarrow.json
        for name, rows in self.rows.items():
            if rows:
                table = pyarrow.json.read_json(self.out / f"{name}.jsonl")
                self.check(table.to_pylist(), rows)
        features = datasets.load_dataset(str(self.out), "kernels")["train"].features
        table = pyarrow.json.read_json(self.large / "kernels.jsonl", parse_options=pyarrow.json.ParseOptions(
            explicit_schema=features.arrow_schema))
        self.check(table.to_pylist()[-len(self.rows["kernels"]):], self.rows["kernels"])

    def test_duckdb_takes_the_files(self):
        import duckdb
        for folder in (self.out, self.large):
            sql = f"SELECT tokens.cl100k_base, inductor.in_string, url FROM read_json('{folder}/kernels.jsonl')"
            read = duckdb.sql(sql).fetchall()[-len(self.rows["kernels"]):]
            self.assertEqual(read, [(row["tokens"]["cl100k_base"], row["inductor"] and row["inductor"]["in_string"], row["url"])
                                    for row in self.rows["kernels"]])

    def load(self, code, folder=None):
        """Runs code that has `dataset`, with the module of this checkout; returns its output."""
        harness.run(sys.executable, harness.ROOT / "python/generate.py")
        code = f"import json, kernelmill\ndataset = kernelmill.load({str(folder or self.out)!r})\n{textwrap.dedent(code)}"
        return harness.run(sys.executable, "-c", code, env={**os.environ, "PYTHONPATH": f"{harness.ROOT / 'python'}:{FOLDER}"}).stdout

    def test_the_module_finds_kernels_by_id(self):
        ids = [row["id"] for row in self.rows["kernels"]]
        printed = self.load(f"""
            ids = {ids!r}
            assert len(dataset) == len(ids) and [kernel.id for kernel in dataset] == ids
            assert [dataset[id] for id in reversed(ids)] == list(dataset)[::-1]
            assert ids[0] in dataset and "0" * 32 not in dataset
            assert dataset.ledger[ids[0]].fate == "kept"
            try:
                dataset["0" * 32]
            except KeyError as error:
                print(error)""")
        self.assertIn("0" * 32, printed)

    def test_the_module_gives_pandas_the_rows_with_their_types(self):
        printed = self.load("""
            for name in ("kernels", "ledger", "notices", "pairs", "fim", "instruct", "files", "ir"):
                table = getattr(dataset, name)
                frame = table.to_pandas()
                assert len(frame) == len(table), name
                assert set(frame.columns) | {frame.index.name} >= set(next(table.raw(), {})), name
            frame = dataset.to_pandas(["first_line", "license"])
            assert list(frame.columns) == ["first_line", "license"]
            for kernel in dataset:
                row = frame.loc[kernel.id]
                assert (row.first_line, row.license["expression"]) == (kernel.first_line, kernel.license.expression)
            print(frame.first_line.dtype)""")
        self.assertEqual(printed, "int64\n")

    def test_the_module_reads_a_published_dataset_from_its_parquet(self):
        published = self.folder / "published"
        shutil.copytree(self.out, published, ignore=shutil.ignore_patterns("*.jsonl", "*.csv"))
        self.load(f"""
            lines = kernelmill.load({str(self.out)!r})
            for name in ("kernels", "ledger", "notices", "pairs", "fim", "instruct", "files", "ir"):
                ours, theirs = getattr(dataset, name), getattr(lines, name)
                assert list(ours) == list(theirs) and list(ours.raw()) == list(theirs.raw()) and len(ours) == len(theirs), name
            for kernel in lines:
                assert dataset[kernel.id] == kernel""", published)

    def test_polars_takes_the_lines(self):
        import polars
        schema = polars.read_parquet_schema(next((self.out / "data/kernels").iterdir()))
        for folder in (self.out, self.large):
            read = polars.read_ndjson(folder / "kernels.jsonl", schema=schema).to_dicts()
            self.check(read[-len(self.rows["kernels"]):], self.rows["kernels"])

    def test_what_the_documentation_says_runs(self):
        import duckdb
        section = (harness.ROOT / "docs/dataset.md").read_text().split("\n## Reading\n")[1].split("\n## ")[0]
        blocks = re.findall(r"```(python|sql)\n(.*?)```", section, re.DOTALL)
        self.assertGreaterEqual(len(blocks), 2)
        here = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, here)
        for language, text in blocks:
            names = {}
            if language == "sql":
                self.assertTrue(duckdb.sql(text).fetchall())
            else:
                exec(text, names)  # pylint: disable=exec-used  # our own text


if __name__ == "__main__":
    unittest.main(verbosity=2)
