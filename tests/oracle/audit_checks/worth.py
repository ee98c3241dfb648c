"""Score, kind, target, tags: does the dataset say what its kernels are worth?"""
import re

from .dataset import check, counted, place_of

TEST_PATH = re.compile(r"(^|/)(tests?|testing|unit_?tests?)/|(^|/)test_[^/]*$|_test\.\w+$")
UNFILLED = re.compile(r"GENERATE_[A-Z]+_HERE|\{\{ ?\w+ ?\}\}")
FEW_TOKENS = 64


def _perfect(record):
    return record["quality"]["score"] >= 0.9995


def checks(dataset):
    rows = dataset.kernels
    launched = [row for row in rows if row["role"] == "kernel"]
    made = []
    for dsl in sorted({row["dsl"] for row in rows}):
        made.append(check(f"score: perfect, of {dsl}", [row for row in rows if row["dsl"] == dsl], _perfect, place_of,
                          wrong=False))
    made += [
        check(f"score: best tier with under {FEW_TOKENS} tokens", rows,
              lambda row: row["quality"]["tier"] == 1 and row["lexical_tokens"] < FEW_TOKENS, place_of, wrong=False),
        check("kind: operation on a test path", [row for row in rows if TEST_PATH.search(row["path"])],
              lambda row: row.get("kind", "operation") == "operation", place_of, wrong=False),
        check("kind: operation with an unfilled template", [row for row in rows if UNFILLED.search(row["source"])],
              lambda row: row.get("kind", "operation") == "operation", place_of, wrong=False),
        check(f"kernels of under {FEW_TOKENS} tokens", rows, lambda row: row["lexical_tokens"] < FEW_TOKENS, place_of,
              wrong=False),
        check("tags: launched kernels with none", launched, lambda row: not row["tags"], place_of, wrong=False),
    ]
    if rows and "kind" in rows[0]:
        made += counted("kind", [row["kind"] for row in rows], len(rows))
        made += counted("target", [row["target"] for row in rows], len(rows))
    return made
