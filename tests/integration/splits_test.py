"""A job that divides its dataset: rows, sums and digest; brute force finds no two that are alike in different splits; a
dataset that grows keeps its splits."""

import json
import pathlib
import sys
import tempfile
import unittest

import harness
import row_schema

sys.path.insert(0, str(harness.ROOT / "tests/oracle"))
import split_overlap  # noqa: E402  (it is in a folder of its own)

# Two that differ in an operation are two kernels, and both are kept; most of their tokens are the same.
FAMILY = '''
@triton.jit
def {name}(x_ptr, y_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n_cols
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0)
    shifted = x - tl.max(x, axis=0)
    powers = tl.{op}(shifted * {scale})
    total = tl.sum(powers, axis=0)
    mean = tl.sum(x, axis=0) / n_cols
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / n_cols
    tl.store(y_ptr + row * stride + columns, powers / total + variance, mask=mask)
'''
# A kernel that only its own repository has.
OWN = '''
@triton.jit
def {name}(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
{lines}
    tl.store(y_ptr + at, v0 + v7 + v14, mask=at < n)
'''
HEAD = "import triton\nimport triton.language as tl\n"


def rows_of(out):
    return {(row["repository"], row["name"]): row for row in split_overlap.rows_of(out)}


class Splits(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for number, (source, ops) in enumerate({"a": ["exp"], "b": ["exp2"], "c": ["sigmoid", "tan"],
                                                "d": [], "e": ["log"]}.items()):
            self.write(source, number, ops)

    def write(self, source, number, ops):
        """A repository with kernels of its own, and one of the family for each operation."""
        folder = self.folder / source
        folder.mkdir()
        (folder / "LICENSE").write_text(harness.MIT_TEXT)
        for k in range(6):
            lines = [f"    v{i} = x * {number * 1000 + k * 100 + i} + tl.{op}(x + {number}.{k}{i}) - {i * 1000 + number * 10 + k}"
                     for i, op in enumerate(harness.operations_of(number * 6 + k) * 5)]
            (folder / f"own_{k}.py").write_text(HEAD + OWN.format(name=f"{source}_{k}", lines="\n".join(lines)))
        for op in ops:
            (folder / f"{op}.py").write_text(HEAD + FAMILY.format(name=f"{source}_{op}", op=op, scale="1.25"))

    def job(self, name, sources, splits):
        path = self.folder / f"{name}.yaml"
        path.write_text("name: splits\nsources:\n" + "".join(f"  - path: ./{s}\n    name: {s}\n" for s in sources)
                        + (f"splits: {splits}\n" if splits else ""))
        return path

    def crawl(self, name, sources, splits):
        out = self.folder / f"{name}-out"
        done = harness.crawl(self.job(name, sources, splits), out, self.folder / "data", "--json")
        self.assertEqual(row_schema.problems(out), [])
        stages = {stage["stage"]: stage for stage in harness.last_status(done.stdout + done.stderr)["stages"]}
        return out, stages

    def test_a_divided_dataset_is_the_same_embedded_and_on_a_cluster(self):
        splits = "{validation_repositories: [c], test_repositories: [d, e]}"
        out, stages = self.crawl("embedded", "abcde", splits)
        self.assertEqual(int(stages["split"]["done"]), 1)
        with harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start_workers()
            there = self.folder / "there"
            cluster.client("submit", self.job("embedded", "abcde", splits), "--out", there)
        self.assertEqual(harness.tree_hashes(out), harness.tree_hashes(there))
        again = self.folder / "again"
        harness.crawl(out / "job.lock.yaml", again, self.folder / "other-data")
        self.assertEqual(harness.dataset_digest(again), harness.dataset_digest(out))

        rows = rows_of(out)
        self.assertEqual(rows["a", "a_exp"]["split"], "train")
        self.assertEqual(rows["c", "c_sigmoid"]["split"], "train", "it is like a_exp")
        self.assertEqual(rows["e", "e_log"]["split"], "train", "it is like a_exp")
        self.assertEqual(rows["c", "c_0"]["split"], "validation")
        self.assertEqual(rows["d", "d_1"]["split"], "test")
        self.assertEqual(split_overlap.Comparison(rows.values(), 0.7).alike, [])

        report = json.loads((out / "report.json").read_text())
        self.assertEqual(report["policies"]["splits"],
                         {"validation": 0.0, "test": 0.0, "seed": "", "validation_repositories": ["c"],
                          "test_repositories": ["d", "e"]})
        for split in ("train", "validation", "test"):
            mine = [row for row in rows.values() if row["split"] == split]
            sums = report["splits"][split]
            self.assertGreater(len(mine), 0)
            self.assertEqual((sums["kernels"], sums["repositories"]), (len(mine), len({r["repository"] for r in mine})))
            self.assertEqual(sums["tokens"]["source"]["cl100k_base"],
                             sum(row["tokens"]["cl100k_base"] for row in mine))
        self.assertEqual(sum(s["kernels"] for s in report["splits"].values()), report["kernels"]["kept"])

    def test_brute_force_finds_the_pairs_that_a_division_by_repository_alone_leaves(self):
        out, _ = self.crawl("whole", "abcde", "")
        rows = list(rows_of(out).values())
        for row in rows:
            row["split"] = {"c": "validation", "d": "test", "e": "test"}.get(row["repository"], "train")
        self.assertGreater(len(split_overlap.Comparison(rows, 0.7).alike), 3)

    def test_a_job_without_splits_has_no_stage_for_them(self):
        out, stages = self.crawl("whole", "ab", "")
        self.assertEqual(int(stages.get("split", {}).get("total", 0)), 0)
        report = json.loads((out / "report.json").read_text())
        self.assertEqual((report["policies"]["splits"], list(report["splits"])), (None, ["train"]))
        self.assertNotIn("split", report["stages"])
        self.assertEqual({row["split"] for row in rows_of(out).values()}, {"train"})
        same, _ = self.crawl("idle", "ab", "{seed: of nothing}")
        self.assertEqual(harness.dataset_digest(same), harness.dataset_digest(out))

    def test_a_grown_dataset_keeps_its_splits(self):
        splits = "{test_repositories: [c, d], validation_repositories: [e]}"
        before, _ = self.crawl("before", "cde", splits)
        after, _ = self.crawl("after", "bcde", splits)
        old = {key: row["split"] for key, row in rows_of(before).items()}
        new = {key: row["split"] for key, row in rows_of(after).items()}
        moved = {key for key, split in old.items() if new[key] != split}
        # c's and e's are alike and were of train before b came; nothing else is like one of b's.
        self.assertEqual(moved, set())
        self.assertEqual(old["c", "c_tan"], "train")
        alone, _ = self.crawl("alone", "cd", splits)
        self.assertEqual(rows_of(alone)["c", "c_tan"]["split"], "test")
        with_b, _ = self.crawl("with-b", "bcd", splits)
        self.assertEqual(rows_of(with_b)["c", "c_tan"]["split"], "train", "it is like b_exp2")
        self.assertEqual(rows_of(with_b)["c", "c_0"]["split"], "test")

    def test_a_wrong_policy_is_one_line(self):
        for splits, error in {"{test: 0.6, validation: 0.4}": "splits: validation and test must add up to less than 1",
                              "{test: 2}": "splits.test: must be between 0 and 1",
                              "{test_repositories: [a, A]}":
                                  "splits.test_repositories[1]: names the same repository as test_repositories[0]"}.items():
            done = harness.crawl(self.job("wrong", "a", splits), self.folder / "out", self.folder / "data", check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(error, done.stderr.strip().splitlines()[-1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
