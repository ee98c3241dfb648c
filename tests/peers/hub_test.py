"""Checks that an unchanged export is a Hugging Face dataset: `datasets` loads every config and split offline, pyarrow, DuckDB and
polars read every Parquet file, and mlcroissant validates croissant.json and yields its records; each time what the JSON lines
say, value by value. The jobs have hostile texts, many rows, one row and no row. Skipped if the readers are not installed
(tests/peers/install_readers.sh)."""

import hashlib
import json
import logging
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402
import row_schema  # noqa: E402

FOLDER = pathlib.Path(os.environ.get("KERNELMILL_READERS", harness.ROOT / "build/peers/readers"))
SPLITS = ("train", "validation", "test")
GROUP = 1000  # rows of a row group at most

KERNEL = b"""import triton
import triton.language as tl


@triton.jit
def %s(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
%s    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, tl.%s(x) * x + %s, mask=offsets < n)
"""


def write_hostile(folder):
    """Files whose texts are hard on those who read rows."""
    folder.mkdir()
    (folder / "LICENSE").write_text(harness.MIT_TEXT)
    texts = {
        "plain": (b"", b"exp"),
        "broken": (b'    """Br\xff\xfeken, \xe2\x82 too."""\n', b"log"),
        "emoji": ("    # 🙂👩‍💻 \u2028 核 é\u0000\n".encode().replace(b"\0", b""), b"sqrt"),
        "quotes": (b'    # "split":"test" \\"split\\":\\"test\\" \\u0041 \\ / \t\n', b"abs"),
        "large": (b"    # " + b"x" * (1 << 20) + b"\n", b"sin"),
        "carriage": (b"    # one\r\n    # two\r\n", b"cos"),
    }
    for number, (name, (comment, operation)) in enumerate(texts.items()):
        (folder / f"{name}.py").write_bytes(KERNEL % (name.encode(), comment, operation, str(number).encode()))
    (folder / os.fsdecode(b"p\xff|th.py")).write_bytes(KERNEL % (b"path", b"", b"rsqrt", b"77"))


def job_text(name, sources):
    splits = {"splits": {"validation_repositories": ["one"], "test_repositories": ["cuda"]}} if name == "split" else {}
    return json.dumps({"name": name, "sources": sources, "dedup": {"threshold": 0.99}, **splits})


def splits_of(rows):
    """The rows by split, in their order: those that the card names. All are train where rows do not say."""
    by_split = {split: [row for row in rows if row.get("split", "train") == split] for split in SPLITS}
    return {split: of for split, of in by_split.items() if of} or {"train": []}


@unittest.skipUnless((FOLDER / ".requirements").is_file(), "no readers: tests/peers/install_readers.sh")
class Hub(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        os.environ.update(HF_HOME=str(cls.folder / "hf"), HF_HUB_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1")
        sys.path.insert(0, str(FOLDER))
        data = harness.ROOT / "tests/data"
        write_hostile(cls.folder / "hostile")
        harness.write_many_kernels(cls.folder / "many", 45, 25)
        (cls.folder / "one").mkdir()
        (cls.folder / "one/kernel.py").write_bytes(KERNEL % (b"only", b"", b"exp", b"1"))
        (cls.folder / "none").mkdir()
        (cls.folder / "none/plain.py").write_text("x = 1\n")
        (cls.folder / "held").mkdir()
        (cls.folder / "held/held.jsonl").write_text(
            json.dumps({"code": (harness.DEMO_SOURCES / "kernels/matmul.py").read_text()}) + "\n")
        jobs = {
            "kinds": [{"path": str(harness.DEMO_SOURCES), "name": "demo"},
                      {"inductor": str(data / "inductor/debug"), "name": "inductor", "license": "MIT"},
                      {"path": str(data / "cuda"), "name": "cuda", "include": ["**/*.{cu,cuh}"]},
                      {"path": "held", "name": "held", "role": "holdout", "include": ["*.jsonl"]}],
            "hostile": [{"path": "hostile", "name": 'hostile "1" | <b>'}],
            "many": [{"path": "many", "name": "many"}],
            "one": [{"path": "one", "name": "one", "license": "Apache-2.0"}],
            "none": [{"path": "none", "name": "none"}],
            "split": [{"path": str(harness.DEMO_SOURCES), "name": "demo"}, {"path": "one", "name": "one", "license": "MIT"},
                      {"path": str(data / "cuda"), "name": "cuda", "include": ["**/*.{cu,cuh}"]}],
        }
        cls.outs, cls.rows = {}, {}
        for name, sources in jobs.items():
            job, out = cls.folder / f"{name}.yaml", cls.folder / f"out-{name}"
            job.write_text(job_text(name, sources))
            harness.crawl(job, out, cls.folder / "data", cwd=cls.folder)
            cls.outs[name] = out
            cls.rows[name] = {config: harness.rows_of(out, config) for config in row_schema.names()}

    def check(self, read, rows):
        self.assertEqual(len(read), len(rows))
        for ours, theirs in zip(rows, read):
            self.assertEqual(theirs, ours)

    def each_split(self):
        """(where, folder, config, split, its rows) of all exports."""
        for name, out in self.outs.items():
            for config in row_schema.names():
                for split, rows in splits_of(self.rows[name][config]).items():
                    yield f"{name}/{config}/{split}", out, config, split, rows

    def test_the_exports_have_what_these_tests_are_about(self):
        hostile = self.rows["hostile"]["kernels"]
        self.assertEqual(len(hostile), 7)
        self.assertGreater(max(len(row["source"]) for row in hostile), 1 << 20)
        self.assertTrue(any(row["not_utf8"] for row in hostile))
        self.assertTrue(all(row["autotune"] is None for row in hostile), "null in every row")
        self.assertTrue(all(row["duplicates"] == [] for row in hostile), "empty in every row")
        self.assertTrue(any("🙂" in row["source"] for row in hostile))
        self.assertGreater(len(self.rows["many"]["kernels"]), GROUP)
        self.assertEqual(len(self.rows["one"]["kernels"]), 1)
        self.assertEqual(self.rows["none"]["kernels"], [])
        self.assertEqual({row["split"] for row in self.rows["split"]["kernels"]}, set(SPLITS))
        self.assertTrue(any(row["contamination"] for row in self.rows["kinds"]["ledger"]))

    def test_datasets_loads_every_config_and_split(self):
        import datasets
        for name, out in self.outs.items():
            configs = {config for config, rows in self.rows[name].items() if rows}
            if not configs:
                self.assertNotIn("config_name", (out / "README.md").read_text())
                continue
            self.assertEqual(set(datasets.get_dataset_config_names(str(out))), configs)
            for config in sorted(configs):
                with self.subTest(out=name, config=config):
                    loaded = datasets.load_dataset(str(out), config)
                    expected = splits_of(self.rows[name][config])
                    self.assertEqual({split: of.num_rows for split, of in loaded.items()},
                                     {split: len(rows) for split, rows in expected.items()})
                    for split, rows in expected.items():
                        self.assertEqual(set(loaded[split].features), set(row_schema.load(config)["properties"]))
                        self.check(list(loaded[split]), rows)
        self.assertEqual(datasets.load_dataset(str(self.outs["one"]))["train"].num_rows, 1, "kernels is the default")

    def test_datasets_streams_and_counts_by_the_card(self):
        import datasets
        streamed = datasets.load_dataset(str(self.outs["many"]), "kernels", split="train", streaming=True)
        self.assertEqual([row["id"] for row in streamed.take(3)],
                         [row["id"] for row in splits_of(self.rows["many"]["kernels"])["train"][:3]])
        builder = datasets.load_dataset_builder(str(self.outs["many"]), "ledger")
        self.assertEqual(builder.info.splits["train"].num_examples, len(self.rows["many"]["ledger"]))
        card = __import__("huggingface_hub").DatasetCard.load(str(self.outs["kinds"] / "README.md"))
        self.assertIn("mit", card.data.license)
        self.assertEqual(card.data.task_categories, ["text-generation"])
        self.assertEqual(card.data.size_categories, ["n<1K"])

    def test_three_readers_read_every_parquet_file(self):
        import duckdb
        import polars
        import pyarrow.parquet
        for where, out, config, split, rows in self.each_split():
            paths = sorted(str(path) for path in (out / "data" / config).glob(f"{split}-*.parquet"))
            with self.subTest(where):
                self.assertGreaterEqual(len(paths), 1)
                self.check([row for path in paths for row in pyarrow.parquet.read_table(path).to_pylist()], rows)
                self.check([row for path in paths for row in polars.read_parquet(path).to_dicts()], rows)
                read = duckdb.sql(f"SELECT * FROM read_parquet({paths})")
                self.check([dict(zip(read.columns, row)) for row in read.fetchall()], rows)

    def test_no_other_parquet_is_there(self):
        for name, out in self.outs.items():
            found = {}
            for path in out.rglob("*.parquet"):
                found.setdefault(path.parent.relative_to(out).as_posix() + "/" + path.name.split("-")[0], []).append(path.name)
            self.assertEqual(set(found), {f"data/{config}/{split}" for config in row_schema.names()
                                          for split in splits_of(self.rows[name][config])})
            for files in found.values():
                split = files[0].split("-")[0]
                self.assertEqual(sorted(files), [f"{split}-{number:05}.parquet" for number in range(len(files))])
        self.assertGreater(len(list((self.outs["many"] / "data/kernels").iterdir())), 1, "no table has several files")

    def test_row_groups_are_small(self):
        import pyarrow.parquet
        for path in (self.outs["many"] / "data").rglob("*.parquet"):
            metadata = pyarrow.parquet.ParquetFile(path).metadata
            for group in range(metadata.num_row_groups):
                self.assertLessEqual(metadata.row_group(group).num_rows, GROUP, path)
        ledger = [pyarrow.parquet.ParquetFile(path).metadata for path in (self.outs["many"] / "data/ledger").iterdir()]
        self.assertEqual(sum(file.num_row_groups for file in ledger), sum(-(-file.num_rows // GROUP) for file in ledger))

    def test_croissant_is_valid_and_yields_the_records(self):
        import mlcroissant
        logging.getLogger("absl").setLevel(logging.ERROR)
        for name, out in self.outs.items():
            dataset = mlcroissant.Dataset(jsonld=str(out / "croissant.json"))
            issues = dataset.metadata.ctx.issues
            self.assertEqual((issues.errors, issues.warnings), (set(), set()), name)
            self.assertEqual({record.id for record in dataset.metadata.record_sets}, set(row_schema.names()))
            for config in row_schema.names():
                rows = [row for of in (splits_of(self.rows[name][config])[split]
                                       for split in sorted(splits_of(self.rows[name][config]))) for row in of]
                with self.subTest(out=name, config=config):
                    records = list(dataset.records(config)) if rows else []
                    self.assertEqual(len(records), len(rows))
                    for ours, theirs in zip(rows, records):
                        self.check_record(config, ours, theirs)

    def check_record(self, config, ours, theirs):
        """A record against the row: each field that Croissant knows, at the top and in a struct."""
        for key, value in theirs.items():
            path = key.split("/")
            self.assertEqual(path[0], config)
            field = ours
            for part in path[1:]:
                field = field[part] if isinstance(field, dict) else None
            if isinstance(value, dict):
                for inner, text in value.items():
                    self.assertEqual(plain(text), field and field[inner.rpartition("/")[2]], inner)
            elif isinstance(value, list) and value and isinstance(value[0], dict):
                names = {inner: inner.rpartition("/")[2] for inner in value[0]}
                self.assertEqual([{names[inner]: plain(text) for inner, text in of.items()} for of in value],
                                 [{part: of[part] for part in names.values()} for of in field], key)
            else:
                self.assertEqual(plain(value), field, key)

    def test_croissant_has_the_hash_of_every_file(self):
        for name, out in self.outs.items():
            croissant = json.loads((out / "croissant.json").read_text())
            objects = {of["contentUrl"]: of for of in croissant["distribution"] if of["@type"] == "cr:FileObject"}
            files = [path for path in out.rglob("*") if path.suffix in (".jsonl", ".parquet")]
            self.assertEqual(set(objects), {path.relative_to(out).as_posix() for path in files}, name)
            for path in files:
                of = objects[path.relative_to(out).as_posix()]
                self.assertEqual(of["sha256"], hashlib.sha256(path.read_bytes()).hexdigest())
                self.assertEqual(of["contentSize"], f"{path.stat().st_size} B")

    def test_two_exports_are_equal_byte_for_byte(self):
        for name in ("kinds", "hostile", "many"):
            again = self.folder / f"again-{name}"
            harness.crawl(self.folder / f"{name}.yaml", again, self.folder / "data", cwd=self.folder)
            self.assertEqual(harness.tree_hashes(again), harness.tree_hashes(self.outs[name]), name)
            harness.crawl(self.folder / f"{name}.yaml", again, self.folder / "data", cwd=self.folder)  # over itself
            self.assertEqual(harness.tree_hashes(again), harness.tree_hashes(self.outs[name]), name)

    def test_a_file_of_somebody_else_in_the_folder_of_tables_is_not_replaced(self):
        out = self.folder / "mine"
        harness.crawl(self.folder / "one.yaml", out, self.folder / "data", cwd=self.folder)
        (out / "data/kernels/notes.txt").write_text("mine")
        done = harness.crawl(self.folder / "one.yaml", out, self.folder / "data", cwd=self.folder, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("data/kernels/notes.txt", done.stderr)
        self.assertEqual((out / "data/kernels/notes.txt").read_text(), "mine")

    def test_the_card_says_what_the_report_says(self):
        for name, out in self.outs.items():
            card, report = (out / "README.md").read_text(), json.loads((out / "report.json").read_text())
            kept = report["kernels"]["kept"]
            self.assertIn(f"\n{kept} GPU kernel{'' if kept == 1 else 's'} of ", card, name)
            self.assertIn(f"`{report['dataset']}`", card)
            for fate in ("kept", "rejected", "duplicate", "contaminated"):
                self.assertIn(f"\n| {fate} | {report['kernels'][fate]} |", card)
            for expression, count in report["licenses"].items():
                self.assertIn(f"\n| {expression} | {count} |", card)
            self.assertEqual(sum(report["licenses"].values()), kept)
            held = [source["repository"] for source in report["sources"] if source["role"] == "holdout"]
            self.assertEqual("The job names no holdouts" in card, not held)


def plain(value):
    """mlcroissant gives texts as bytes."""
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value.decode() if isinstance(value, bytes) else value


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")  # the readers' own libraries warn
