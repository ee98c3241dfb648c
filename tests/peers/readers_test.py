"""Checks that polars, datasets, pandas, DuckDB and pyarrow read a dataset's JSON lines and training views without being told types,
also of a dataset whose first 12 MB of kernels have null where later ones have something. hub_test.py checks the folder as a whole and its Parquet.
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
        # Many kernels come first, and what they have not would be null for as long as readers look.
        harness.write_many_kernels(cls.folder / "many", 45, 50)
        job.write_text(job.read_text().replace("sources:\n", "sources:\n  - {path: many, name: many}\n"))
        cls.large = cls.folder / "large"
        harness.crawl(job, cls.large, cls.folder / "data")
        cls.rows = {name: harness.rows_of(cls.out, name) for name in row_schema.names()}

    def test_the_rows_have_what_these_tests_are_about(self):
        kernels = self.rows["kernels"]
        for field in ("inductor", "cuda", "autotune", "launcher", "contamination"):
            self.assertTrue(any(row[field] for row in kernels), field)
        self.assertTrue(any(match["holdout"]["json_pointer"] for row in kernels for match in row["contamination"]))
        self.assertIn("files", [name for name, rows in self.rows.items() if not rows], "a file without rows")
        large = harness.rows_of(self.large, "kernels")
        self.assertGreater(sum(len(json.dumps(row)) for row in large if row["repository"] == "many"), LARGE)
        first = [row["id"] for row in large[:40]]
        data = [row["id"] for row in self.parquet(self.large, "kernels")]
        self.assertEqual([row["repository"] for row in self.parquet(self.large, "kernels")[:1000]], ["many"] * 1000)
        self.assertNotEqual(first, data[:40])
        # Besides the few lines in front, both have one order.
        moved = next(n for n in range(40) if [id for id in data if id not in first[:n]] == [row["id"] for row in large[n:]])
        self.assertGreater(moved, 0)

    def parquet(self, out, name):
        import pyarrow.parquet
        return pyarrow.parquet.read_table(out / "data" / name).to_pylist()

    def without_help(self, read):
        """Checks what a reader makes of a file of lines that it knows nothing about; `read` returns rows."""
        for folder in (self.out, self.large):
            for path in sorted(folder.glob("*.jsonl")):
                with self.subTest(f"{folder.name}/{path.name}"):
                    self.check(read(path), harness.rows_of(folder, path.stem))

    def test_polars_takes_the_lines_without_help(self):
        import polars
        self.without_help(lambda path: polars.read_ndjson(path).to_dicts())
        self.without_help(lambda path: polars.scan_ndjson(path).collect().to_dicts())

    def test_datasets_takes_the_lines_without_help(self):
        import datasets
        self.without_help(lambda path: list(datasets.load_dataset("json", data_files=str(path))["train"]))

    def test_pandas_takes_the_lines_without_help(self):
        import pandas
        for folder in (self.out, self.large):
            for path in sorted(folder.glob("*.jsonl")):
                rows = harness.rows_of(folder, path.stem)
                frame = pandas.read_json(path, lines=True)
                self.assertEqual(len(frame), len(rows))
                self.assertEqual(set(frame.columns), set(rows[0]))

    def check(self, read, rows):
        """Compares the rows that were read with the JSON."""
        self.assertEqual(len(read), len(rows))
        for ours, theirs in zip(rows, read):
            self.assertEqual(theirs, ours)

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

    def test_pyarrow_takes_the_lines_without_help(self):
        import pyarrow.json
        # With threads, pyarrow 26 fails now and then on structs that a whole block of rows lacks.
        one_thread = pyarrow.json.ReadOptions(use_threads=False)
        self.without_help(lambda path: pyarrow.json.read_json(path, one_thread).to_pylist())

    def test_duckdb_takes_the_lines_without_help(self):
        import duckdb
        for folder in (self.out, self.large):
            sql = f"SELECT tokens.cl100k_base, inductor.in_string, url FROM read_json('{folder}/kernels.jsonl')"
            self.assertEqual(duckdb.sql(sql).fetchall(),
                             [(row["tokens"]["cl100k_base"], row["inductor"] and row["inductor"]["in_string"], row["url"])
                              for row in harness.rows_of(folder, "kernels")])

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
            for name in ("kernels", "ledger", "notices", "pairs", "fim", "instruct", "files", "ir", "tasks"):
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

    def test_the_module_gives_polars_the_rows(self):
        self.load("""
            for name in ("kernels", "ledger", "notices", "pairs", "fim", "instruct", "files", "ir"):
                table = getattr(dataset, name)
                assert len(table.to_polars()) == len(table), name
            frame = dataset.to_polars(["id", "first_line"])
            assert frame.columns == ["id", "first_line"]
            assert dict(frame.iter_rows()) == {kernel.id: kernel.first_line for kernel in dataset}""")

    def test_the_module_reads_a_published_dataset_from_its_parquet(self):
        published = self.folder / "published"
        shutil.copytree(self.out, published, ignore=shutil.ignore_patterns("*.jsonl", "*.csv"))
        self.load(f"""
            lines = kernelmill.load({str(self.out)!r})
            for name in ("kernels", "ledger", "notices", "pairs", "fim", "instruct", "files", "ir", "tasks"):
                ours, theirs = getattr(dataset, name), getattr(lines, name)
                assert list(ours) == list(theirs) and list(ours.raw()) == list(theirs.raw()) and len(ours) == len(theirs), name
            for kernel in lines:
                assert dataset[kernel.id] == kernel""", published)

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
