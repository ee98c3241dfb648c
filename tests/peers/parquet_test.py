"""Checks that pyarrow, DuckDB and polars read from our Parquet what we wrote: rows of hundreds of random schemas, value by
value, and the edge cases of the format; and that the same rows give the same bytes every time. Skipped if the readers are
not installed (tests/peers/install_readers.sh)."""

import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402

FOLDER = pathlib.Path(os.environ.get("KERNELMILL_READERS", harness.ROOT / "build/peers/readers"))
SCHEMAS = int(os.environ.get("KERNELMILL_PARQUET_SCHEMAS", "100"))
TEXTS = ("", "a", "tl.load", "\u0000", "\n\"\\/", "é", "核", "🙂👩‍💻", "\ufffd", "\u2028", "x" * 300, "train", "null")
NUMBERS = (0.0, 1.0, -1.5, 0.1, 1e308, 5e-324, -2.2250738585072014e-308, 123456789.125)
INTEGERS = (0, 1, -1, 2**31, -2**63, 2**63 - 1, 4096)
LIMITS = (7, 1 << 20, 4000)  # rows and bytes of a row group, bytes of a file: several of each


def field(name, kind, nullable=False, is_list=False, fields=()):
    made = {"name": name, "type": kind, "nullable": nullable, "list": is_list}
    return {**made, "fields": list(fields)} if kind == "struct" else made


def random_fields(rng, depth):
    kinds = ["string", "string", "integer", "number", "boolean"] + ["struct"] * (2 if depth < 4 else 0)
    names = rng.sample([f"{letter}{number}" for letter in "abZ_" for number in range(4)], rng.randint(1, 5))
    made = []
    for name in names:
        kind = rng.choice(kinds)
        is_list = rng.random() < 0.35
        made.append(field(name, kind, not is_list and rng.random() < 0.4, is_list,
                          random_fields(rng, depth + 1) if kind == "struct" else ()))
    return made


def random_value(rng, of, sparse, inside=False):
    if of["list"] and not inside:  # an element is never null
        count = 0 if rng.random() < sparse else rng.choice((1, 1, 2, 3, 9, 20))
        return [random_value(rng, of, sparse, True) for _ in range(count)]
    if of["nullable"] and rng.random() < sparse:
        return None
    kind = of["type"]
    if kind == "struct":
        return {inner["name"]: random_value(rng, inner, sparse) for inner in of["fields"]}
    if kind == "boolean":
        return rng.random() < 0.5
    return rng.choice({"string": TEXTS, "integer": INTEGERS, "number": NUMBERS}[kind])


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n" for row in rows),
                    encoding="utf-8")


def digests(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((folder / "data").rglob("*.parquet"))}


@unittest.skipUnless((FOLDER / ".requirements").is_file(), "no readers: tests/peers/install_readers.sh")
class Parquet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(FOLDER))

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, fields, rows, limits=(), threads=2):
        """Writes rows.jsonl and its tables of in/rows.jsonl; returns what was written of each split."""
        (self.folder / "schemas.json").write_text(json.dumps([{"file": "rows.jsonl", "fields": fields}]))
        (self.folder / "in").mkdir(exist_ok=True)
        (self.folder / "rows.jsonl").unlink(missing_ok=True)
        write_lines(self.folder / "in/rows.jsonl", rows)
        done = subprocess.run([harness.BIN / "write_tables", self.folder / "schemas.json", self.folder, str(threads),
                               *map(str, limits)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        written = self.folder / "rows.jsonl"  # which is not written without rows, and may have other rows first
        lines = written.read_text(encoding="utf-8").split("\n")[:-1] if rows else []
        self.assertEqual(written.exists(), bool(rows))
        self.assertCountEqual([json.dumps(json.loads(line), sort_keys=True) for line in lines],
                              [json.dumps(row, sort_keys=True) for row in rows])
        return json.loads(done.stdout)

    def clear(self):
        for path in (self.folder / "data").rglob("*.parquet"):
            path.unlink()

    def readers(self):
        import duckdb
        import polars
        import pyarrow.parquet
        yield "pyarrow", lambda path: pyarrow.parquet.read_table(path).to_pylist()
        yield "polars", lambda path: polars.read_parquet(path).to_dicts()

        def by_duckdb(path):
            read = duckdb.sql(f"SELECT * FROM read_parquet('{path}')")
            return [dict(zip(read.columns, row)) for row in read.fetchall()]
        yield "duckdb", by_duckdb

    def check(self, split, rows):
        """Each file of the split, by each reader, against the rows."""
        for name, read in self.readers():
            got = [row for path in split["files"] for row in read(str(self.folder / path))]
            self.assertEqual(len(got), len(rows), name)
            for ours, theirs in zip(rows, got):
                self.assertEqual(theirs, ours, name)

    def test_random_rows_of_random_schemas_are_read_back(self):
        for seed in range(SCHEMAS):
            rng = random.Random(seed)
            fields = random_fields(rng, 0)
            sparse = rng.choice((0.0, 0.1, 0.5, 0.95, 1.0))
            rows = [{of["name"]: random_value(rng, of, sparse) for of in fields} for _ in range(rng.choice((1, 2, 8, 50)))]
            with self.subTest(seed=seed):
                written = self.write(fields, rows, LIMITS)
                self.assertEqual([split["split"] for split in written], ["train"])
                self.check(written[0], rows)
            self.clear()

    def test_levels_and_dictionaries_of_many_rows_are_read_back(self):
        rng = random.Random(1)
        fields = [field("word", "string"), field("maybe", "string", nullable=True), field("flag", "boolean", nullable=True),
                  field("all", "struct", is_list=True, fields=[field("n", "integer", nullable=True),
                                                               field("words", "string", is_list=True)])]
        rows = [{"word": f"w{rng.randrange(300)}", "maybe": rng.choice((None, "same")), "flag": rng.choice((None, True, False)),
                 "all": [{"n": rng.choice((None, i)), "words": [f"x{i % 40}"] * rng.randrange(12)}
                         for _ in range(rng.randrange(4))]} for i in range(5000)]
        written = self.write(fields, rows)
        self.check(written[0], rows)
        import pyarrow.parquet
        file = pyarrow.parquet.ParquetFile(self.folder / written[0]["files"][0])
        self.assertEqual([file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)], [1000] * 5)
        self.assertIn("RLE_DICTIONARY", file.metadata.row_group(0).column(0).encodings)

    def test_the_schema_says_types_and_what_may_be_null(self):
        import pyarrow
        import pyarrow.parquet
        fields = [field("s", "string"), field("i", "integer", nullable=True), field("d", "number"), field("b", "boolean"),
                  field("l", "struct", is_list=True, fields=[field("x", "string", nullable=True)])]
        written = self.write(fields, [{"s": "a", "i": None, "d": 1.0, "b": True, "l": []}])
        path = self.folder / written[0]["files"][0]
        element = pyarrow.field("element", pyarrow.struct([pyarrow.field("x", pyarrow.string())]), nullable=False)
        self.assertEqual(pyarrow.parquet.read_schema(path), pyarrow.schema([
            pyarrow.field("s", pyarrow.string(), nullable=False), pyarrow.field("i", pyarrow.int64()),
            pyarrow.field("d", pyarrow.float64(), nullable=False), pyarrow.field("b", pyarrow.bool_(), nullable=False),
            pyarrow.field("l", pyarrow.list_(element), nullable=False)]))
        metadata = pyarrow.parquet.ParquetFile(path).metadata
        self.assertEqual(metadata.created_by, "kernelmill")
        self.assertEqual(metadata.row_group(0).column(0).compression, "ZSTD")

    def test_bounds_hold_and_let_readers_skip(self):
        import duckdb
        import pyarrow.parquet
        fields = [field("i", "integer"), field("s", "string"), field("d", "number", nullable=True), field("long", "string")]
        rows = [{"i": n - 50, "s": f"k{n:04}", "d": None if n < 1000 else n / 8, "long": "y" * 65} for n in range(3000)]
        path = self.folder / self.write(fields, rows)[0]["files"][0]
        group = pyarrow.parquet.ParquetFile(path).metadata.row_group(1)
        self.assertEqual((group.column(0).statistics.min, group.column(0).statistics.max), (950, 1949))
        self.assertEqual((group.column(1).statistics.min, group.column(1).statistics.max), ("k1000", "k1999"))
        self.assertEqual((group.column(2).statistics.min, group.column(2).statistics.max), (125.0, 249.875))
        self.assertFalse(group.column(3).statistics.has_min_max)
        first = pyarrow.parquet.ParquetFile(path).metadata.row_group(0).column(2).statistics
        self.assertEqual((first.null_count, first.has_min_max), (1000, False))
        for where, count in (("i = 1949", 1), ("s >= 'k2990'", 10), ("d IS NULL", 1000), ("d < 126", 8), ("i < -50", 0)):
            self.assertEqual(duckdb.sql(f"SELECT count(*) FROM '{path}' WHERE {where}").fetchall(), [(count,)], where)

    def test_large_texts_and_tables_without_rows_are_read(self):
        fields = [field("text", "string"), field("split", "string")]
        rows = [{"text": "🙂" * (1 << 18), "split": "test"}, {"text": "", "split": "train"}, {"text": "z" * (9 << 20), "split": "test"}]
        written = self.write(fields, rows)
        self.assertEqual([(split["split"], split["rows"]) for split in written], [("train", 1), ("test", 2)])
        for split in written:
            self.check(split, [row for row in rows if row["split"] == split["split"]])
        self.clear()
        written = self.write(fields, [])
        self.assertEqual([(split["split"], split["rows"]) for split in written], [("train", 0)])
        self.check(written[0], [])

    def test_the_same_rows_give_the_same_bytes(self):
        rng = random.Random(3)
        fields = random_fields(rng, 0) + [field("split", "string")]
        rows = [{**{of["name"]: random_value(rng, of, 0.2) for of in fields}, "split": rng.choice(("train", "validation", "test"))}
                for _ in range(500)]
        made = []
        for threads in (1, 2, 5):
            self.write(fields, rows, LIMITS, threads)
            made.append(digests(self.folder))
            self.clear()
        self.assertGreater(len(made[0]), 3)
        self.assertEqual(made[0], made[1])
        self.assertEqual(made[0], made[2])


if __name__ == "__main__":
    unittest.main(verbosity=2)
