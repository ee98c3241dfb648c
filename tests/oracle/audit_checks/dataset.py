"""A dataset's files as its readers see them, and the outcome of a check."""
import collections
import csv
import json
import sys

PYTHON = ("triton", "gluon", "pallas")

csv.field_size_limit(sys.maxsize)


class Dataset:
    """The files of an exported folder, each read once."""

    def __init__(self, folder):
        self.folder = folder
        self.kernels = self._json_lines("kernels.jsonl")
        self.ledger = self._json_lines("ledger.jsonl")
        self.by_id = {record["id"]: record for record in self.kernels}
        with open(folder / "fim_sft.csv", newline="", encoding="utf-8") as rows:
            reader = csv.DictReader(rows)
            self.fim = list(reader)
            self.fim_columns = reader.fieldnames or []
        with open(folder / "report.json", encoding="utf-8") as report:
            self.report = json.load(report)

    def _json_lines(self, name):
        with open(self.folder / name, encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def python(self):
        return [record for record in self.kernels if record["dsl"] in PYTHON]

    def cuda(self):
        return [record for record in self.kernels if record["dsl"] == "cuda"]


class Check:
    """A question with the rows that answer it badly: how many of how many, and a few of them to look at.

    `wrong`: a sound dataset has none. Others are shares to compare between two datasets.
    """

    def __init__(self, name, of, wrong=True):
        self.name, self.of, self.wrong = name, of, wrong
        self.count, self.examples = 0, []

    def add(self, example):
        self.count += 1
        if len(self.examples) < 50:
            self.examples.append(example)


def check(name, rows, is_bad, place, wrong=True):
    """A Check over rows; `is_bad` says what is wrong with a row, or nothing."""
    made = Check(name, len(rows), wrong)
    for row in rows:
        problem = is_bad(row)
        if problem:
            made.add(place(row) + ("" if problem is True else f": {problem}"))
    return made


def place_of(record):
    return f"{record['id']} {record['repository']} {record['path']}:{record['first_line']}"


def counted(name, values, of):
    """Checks that only count, one for each value."""
    checks = []
    for value, count in sorted(collections.Counter(values).items(), key=str):
        made = Check(f"{name}: {value}", of, wrong=False)
        made.count = count
        checks.append(made)
    return checks
