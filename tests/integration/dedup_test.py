"""Checks the fate of kernels that are like others (renamed clones, copies within one repository, copies of a holdout),
and which work a job repeats when one file of many has changed."""

import json
import pathlib
import tempfile
import unittest

import harness
import kernel_texts
import row_schema

KERNEL = "\n" + kernel_texts.SCALE_ROWS
HELD = "\n" + kernel_texts.GELU_TANH
SOFTMAX = """
@triton.jit
def softmax(y_ptr, x_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row, columns = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < n_cols, other=-1e9)
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * stride + columns, powers / tl.sum(powers, axis=0), mask=columns < n_cols)
"""
LAUNCHER = """

def run_gelu(x, check=True):
    assert x.is_contiguous() and x.dim() == 2, "rows of one block"
    rows, columns = x.shape
    out = torch.empty_like(x, device=x.device)
    if check and columns % 128 != 0:
        raise ValueError(f"{columns} columns")
    blocks = triton.next_power_of_2(columns) if columns < 65536 else 65536
    grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]), 1, 1)
    NAME[grid](x, out, x.numel(), BLOCK=blocks, num_warps=4 if blocks < 2048 else 8)
    return out.view(rows, columns)
"""
HEAD = "import triton\nimport triton.language as tl\n\n"


class Duplicates(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        grown = HELD.replace("    tl.store(", "    z = tl.where(x > 0, x, tl.exp(x) - 1)\n    tl.store(y_ptr + n + at, z)\n"
                             "    w = tl.maximum(z, 0.0) + tl.minimum(z, 1.0) * tl.abs(x) - tl.sigmoid(x)\n"
                             "    v = w * tl.cos(x) + tl.sin(z) * tl.log(1.0 + tl.abs(w))\n"
                             "    tl.store(y_ptr + 2 * n + at, v, mask=at < n)\n    tl.store(")
        self.write("src", {"a/first.py": HEAD + KERNEL, "b/clone.py": HEAD + kernel_texts.renamed(KERNEL),
                           "c/copy.py": HEAD + HELD, "d/grown.py": HEAD + grown})
        self.write("held", {"problems/gelu.py": "# A benchmark's.\n" + HEAD + HELD})

    def write(self, source, files):
        harness.write_files(self.folder / source, {"LICENSE": harness.MIT_TEXT, **files})

    def crawl(self, name, dedup, more=""):
        job = self.folder / f"{name}.yaml"
        job.write_text("name: dedup\nsources:\n  - path: ./src\n  - path: ./held\n    name: bench\n    role: holdout\n"
                       f"{more}dedup: {dedup}\n")
        out = self.folder / f"{name}-out"
        done = harness.crawl(job, out, self.folder / "data", "--json")
        self.assertEqual(row_schema.problems(out), [])
        status = harness.last_status(done.stdout + done.stderr)
        return {row["path"]: row for row in harness.ledger(out)}, out, status

    def test_a_renamed_clone_is_a_duplicate_where_structure_counts(self):
        rows, out, _ = self.crawl("structural", "{structural: true}")
        first, clone = rows["a/first.py"], rows["b/clone.py"]
        self.assertEqual((first["fate"], clone["fate"], clone["reason"]), ("kept", "duplicate", "structural"))
        self.assertEqual((clone["of"], clone["similarity"]), (first["id"], 1))
        self.assertEqual(json.loads((out / "report.json").read_text())["kernels"]["by_reason"]["duplicate"],
                         {"structural": 1})
        rows, _, _ = self.crawl("plain", "{}")
        self.assertEqual(rows["b/clone.py"]["fate"], "kept")

    def test_a_holdouts_copies_are_named_with_the_item_the_score_and_the_rule(self):
        rows, out, _ = self.crawl("drop", "{}")
        for path, rule in {"c/copy.py": "exact", "d/grown.py": "overlap"}.items():
            row = rows[path]
            self.assertEqual((row["fate"], row["reason"]), ("contaminated", f"{rule}:source"), row)
            match = row["contamination"][0]
            self.assertEqual((match["rule"], match["text"], match["copies"]), (rule, "source", 1))
            self.assertGreaterEqual(match["score"], 0.5)
            item = match["holdout"]
            self.assertEqual((item["repository"], item["path"], item["first_line"], item["last_line"]),
                             ("bench", "problems/gelu.py", 6, 11))
            self.assertEqual(item["id"], row["of"])
        report = json.loads((out / "report.json").read_text())["contamination"]
        self.assertEqual(report["kept"], 0)
        self.assertEqual([i["kernels"] for i in report["items"]], [{"exact": 1, "overlap": 1}])

    def test_a_holdouts_text_in_any_exported_text_is_found(self):
        head = "import torch\n" + HEAD
        calls = KERNEL.replace("    tl.store(", "    gelu_tanh(out_ptr, in_ptr, n_cols, BLOCK)\n    tl.store(")
        sums = KERNEL.replace("scale_rows", "sum_rows").replace("x * scale", "total")
        self.write("held", {"problems/gelu.py": head + HELD + LAUNCHER.replace("NAME", "gelu_tanh")})
        self.write("src", {"e/helper.py": head + HELD + calls,
                           "f/launched.py": head + sums + LAUNCHER.replace("NAME", "sum_rows")})
        _, out, _ = self.crawl("texts", "{}")
        found = {(r["path"], r["reason"]) for r in harness.ledger(out) if r["fate"] == "contaminated"}
        # The helper is a kernel too; as part of the other's module it makes that one the holdout's as well.
        self.assertEqual(found, {("c/copy.py", "exact:source"), ("d/grown.py", "overlap:source"),
                                 ("e/helper.py", "exact:source"), ("e/helper.py", "overlap:module")})
        # The holdout has such a launcher but not the kernel: the row stays, without the launcher's text.
        with open(out / "kernels.jsonl", encoding="utf-8") as lines:
            launched, = (r for r in map(json.loads, lines) if r["path"] == "f/launched.py")
        self.assertEqual([(m["rule"], m["text"], m["holdout_text"]) for m in launched["contamination"]],
                         [("overlap", "launcher", "launcher")])
        self.assertEqual((launched["launcher"]["qualname"], launched["launcher"]["text"]), ("run_gelu", None))
        report = json.loads((out / "report.json").read_text())["contamination"]
        self.assertEqual((report["kept"], report["launchers_withheld"]), (1, 1))

    def test_names_operations_and_places_say_which_kernels_are_one(self):
        other = KERNEL.replace("scale_rows", "log_rows").replace("tl.rsqrt(", "tl.log(")
        older = SOFTMAX.replace(", mask=columns < n_cols", "").replace(", other=-1e9", "")
        self.write("src", {"b/clone.py": HEAD + kernel_texts.renamed(KERNEL).replace("1e-5", "1e-6"), "b/other.py": HEAD + other,
                           "lib/ops/softmax.py": HEAD + SOFTMAX, "lib/old/softmax.py": HEAD + older})
        self.write("fork", {"copy/ops/softmax.py": HEAD + older.replace("tl.exp(", "tl.exp2(")})
        rows, _, _ = self.crawl("names", "{}", "  - path: ./fork\n")
        fates = {path: (row["fate"], row["reason"]) for path, row in rows.items()}
        self.assertEqual(fates["b/clone.py"], ("duplicate", "renamed"))
        self.assertEqual(fates["b/other.py"], ("kept", None))
        self.assertEqual(fates["copy/ops/softmax.py"], ("duplicate", "version"))

    def test_a_policy_may_label_instead(self):
        rows, out, _ = self.crawl("label", "{contamination: {action: label, overlap: 1}}")
        self.assertEqual(rows["c/copy.py"]["fate"], "kept")
        self.assertEqual(rows["c/copy.py"]["contamination"][0]["rule"], "exact")
        with open(out / "kernels.jsonl", encoding="utf-8") as lines:
            kept = {r["path"]: r for r in map(json.loads, lines)}
        self.assertEqual(kept["c/copy.py"]["contamination"][0]["holdout"]["path"], "problems/gelu.py")
        self.assertEqual(json.loads((out / "report.json").read_text())["contamination"]["kept"], 1)

    def test_a_shard_that_did_not_change_is_not_signed_again(self):
        harness.write_many_kernels(self.folder / "many", 600, 1)
        _, _, first = self.crawl("many", "{}", "  - path: ./many\n")
        self.write("src", {"a/first.py": HEAD + KERNEL.replace("1e-6", "1e-7")})
        _, _, second = self.crawl("again", "{}", "  - path: ./many\n")
        [before], [after] = ([s for s in run["stages"] if s["stage"] == "sign"] for run in (first, second))
        self.assertGreater(int(before["total"]), 3)
        self.assertEqual(int(after["total"]), int(before["total"]))
        self.assertEqual(int(after["cached"]), int(after["total"]) - 1)

    def test_a_new_commit_signs_the_shards_that_changed_alone(self):
        work = self.folder / "repository"
        harness.write_many_kernels(work, 600, 1)
        harness.git("init", "-q", "-b", "main", cwd=work)
        source = f"  - git: file://{work}\n    name: many\n"
        runs = []
        for scale in ("0", "17"):
            first = work / "kernels_00000.py"
            first.write_text(first.read_text().replace("SCALE_0 = 0", f"SCALE_0 = {scale}").replace(
                "tl.exp(x) * SCALE_0 - 0", f"tl.exp(x) * SCALE_0 - {scale}"))
            harness.git("add", "-A", cwd=work)
            harness.git("commit", "-q", "-m", "kernels", cwd=work)
            rows, _, status = self.crawl(f"commit-{scale}", "{}", source)
            ids = {path: row["id"] for path, row in rows.items() if row["repository"] == "many"}
            runs.append((ids, {stage["stage"]: stage for stage in status["stages"]}["sign"]))
        (ids, before), (new_ids, after) = runs
        self.assertGreater(int(before["total"]), 4)
        self.assertEqual(int(after["total"]), int(before["total"]))
        self.assertEqual(int(after["cached"]), int(after["total"]) - 1)
        # Records name the commit nonetheless.
        self.assertEqual(ids.keys(), new_ids.keys())
        self.assertEqual(len({*ids.values(), *new_ids.values()}), 2 * len(ids))


if __name__ == "__main__":
    unittest.main(verbosity=2)
