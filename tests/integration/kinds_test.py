"""A whole job over kernels of several kinds and targets: rows name them, policies take them out with a reason, the sums hold."""

import json
import pathlib
import tempfile
import unittest

import harness

COPY = ('import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef {name}(x, y, n, BT: tl.constexpr):\n'
        '    at = tl.program_id(0) * BT + tl.arange(0, BT)\n'
        '    tl.store(y + at, {value}, mask=at < n)\n')
FILES = {
    "ops/copy.py": COPY.format(name="copy_kernel", value="tl.load(x + at, mask=at < n)"),
    "backend/_ascend/exp.py": COPY.format(name="exp_kernel", value="tl.exp(tl.load(x + at, mask=at < n) * 2 + n)"),
    "tests/test_ops.py": COPY.format(name="sub_kernel", value="n - tl.load(x + at, mask=at < n) // BT"),
    "ops/later.py": "import triton\n\n\n@triton.jit\ndef later_kernel(x):\n    raise NotImplementedError\n",
    "ops/half.py": "import triton\n\n\n@triton.jit\ndef half(x):\n    return x / 2\n",
}


class Kinds(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        harness.write_files(cls.folder / "repo", FILES)
        (cls.folder / "repo/LICENSE").write_text(next(harness.DEMO_SOURCES.rglob("LICENSE")).read_text())

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def crawl(self, name, policy):
        job = self.folder / f"{name}.yaml"
        job.write_text(f"name: {name}\nsources:\n  - path: repo\n{policy}")
        out = self.folder / name
        harness.crawl(job, out, self.folder / "data")
        with open(out / "kernels.jsonl", encoding="utf-8") as lines:
            return out, [json.loads(line) for line in lines]

    def test_rows_name_kind_and_target_with_their_rules(self):
        _, kernels = self.crawl("labels", "")
        self.assertEqual({k["name"]: (k["kind"], k["kind_rule"], k["target"], k["target_rule"]) for k in kernels}, {
            "copy_kernel": ("operation", "role:kernel", "generic", None),
            "exp_kernel": ("operation", "role:kernel", "ascend", "path:_ascend"),
            "sub_kernel": ("test", "path:test_ops.py", "generic", None),
            "later_kernel": ("broken", "stub:empty", "generic", None),
            "half": ("helper", "role:device", "generic", None),
        })

    def test_policies_take_them_out_with_a_reason(self):
        out, kernels = self.crawl(
            "chosen", "quality:\n  exclude_kinds: [test, broken]\n  targets: [generic]\n  min_tokens: 20\n")
        self.assertEqual([k["name"] for k in kernels], ["copy_kernel"])
        self.assertEqual({row["path"]: row["reason"] for row in harness.ledger(out)}, {
            "ops/copy.py": None,
            "backend/_ascend/exp.py": "quality:target:ascend",
            "tests/test_ops.py": "quality:kind:test",
            "ops/later.py": "quality:kind:broken",
            "ops/half.py": "quality:min_tokens",
        })
        report = json.loads((out / "report.json").read_text())
        self.assertEqual(report["kernels"]["found"], report["kernels"]["kept"] + report["kernels"]["rejected"])
        policies = report["policies"]
        self.assertEqual((policies["quality_exclude_kinds"], policies["quality_targets"], policies["quality_min_tokens"]),
                         (["test", "broken"], ["generic"], 20))
        lock = (out / "job.lock.yaml").read_text()
        for line in ("exclude_kinds:", '- "broken"', "targets:", "min_tokens: 20"):
            self.assertIn(line, lock)


if __name__ == "__main__":
    unittest.main(verbosity=2)
