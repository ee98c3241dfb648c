"""A whole job over a source that has the same operations in CUDA and in Triton: which kernels are taken for pairs,
what a person's list of pairs does to the dataset, and how a job whose list names a kernel that is not there ends."""

import csv
import json
import pathlib
import tempfile
import textwrap
import unittest

import harness
import row_schema

CUDA = """\
__global__ void {name}(const float* x, float* out, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = {body};
}}
"""
TRITON = '''\
import triton
import triton.language as tl


@triton.jit
def {name}(x_ptr, out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    {body}
'''
FILES = {
    "csrc/gelu.cu": CUDA.format(name="GeluForward", body="0.5f * x[i] * (1.0f + erff(x[i] * 0.7071f))"),
    "csrc/gelu_backward.cu": CUDA.format(name="gelu_backward", body="x[i] + expf(-x[i] * x[i]) * x[i] * 0.39f"),
    "csrc/scale.cu": CUDA.format(name="scale_rows", body="x[i] * 3.0f"),
    "ops/gelu.py": TRITON.format(name="_gelu_fwd_kernel", body="""y = 0.5 * x * (1 + tl.erf(x * 0.7071))
    tl.store(out_ptr + offsets, y, mask=mask)"""),
    "ops/times.py": TRITON.format(name="_times_kernel", body="""three = 3.0
    product = three * x
    tl.store(out_ptr + offsets, product, mask=mask)"""),
    "LICENSE": harness.MIT_TEXT,
}


class CudaPairs(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        harness.write_files(self.folder / "repo", FILES)

    def crawl(self, name, pairs="", expect=0):
        job = self.folder / f"{name}.yaml"
        job.write_text(textwrap.dedent(f"""\
            name: {name}
            sources:
              - path: ./repo
                name: ops
                include: ["**/*.py", "**/*.cu"]
            """) + pairs)
        done = harness.crawl(job, self.folder / name, self.folder / "data", "--json", check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        self.assertEqual(row_schema.problems(self.folder / name), [])
        return self.folder / name

    @staticmethod
    def pairs(out):
        with open(out / "cuda_triton_pairs.jsonl", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    @staticmethod
    def names(pair):
        return pair["cuda"]["name"], pair["triton"]["name"], pair["curated"]

    @staticmethod
    def report(out):
        return json.loads((out / "report.json").read_text())

    def test_kernels_that_do_the_same_are_candidates(self):
        out = self.crawl("candidates")
        pair, = self.pairs(out)
        self.assertEqual(self.names(pair), ("GeluForward", "_gelu_fwd_kernel", False))
        self.assertGreaterEqual(pair["score"], 0.6)
        self.assertEqual(pair["shared"]["tags"], ["activation", "elementwise"])
        with open(out / "kernels.jsonl", encoding="utf-8") as lines:
            kernels = {k["id"]: k for k in map(json.loads, lines)}
        for side in ("cuda", "triton"):
            kernel = kernels[pair[side]["id"]]
            self.assertEqual((kernel["dsl"], kernel["path"]), (side, pair[side]["path"]))
        row, = harness.rows_of(out, "parallel")
        self.assertEqual((row["languages"], row["operation"], row["unique"]), (["cuda", "triton"], "gelu", True))
        self.assertEqual([row[side]["id"] for side in "ab"], [pair[side]["id"] for side in ("cuda", "triton")])
        self.assertIn("__global__ void GeluForward", row["a"]["module"])
        self.assertEqual(self.report(out)["pairs"], {"candidates": 1, "curated": 0, "repeats": 0, "word_overlaps": 0, "across_splits": 0,
                                                     "unmade": []})
        self.assertNotIn("__global__", (out / "fim_sft.csv").read_text())

    def test_a_list_is_read_beside_the_job_file_and_its_pairs_are_curated(self):
        (self.folder / "pairs.csv").write_text("repository,cuda_path,cuda_name,triton_path,triton_line\n"
                                               "ops,csrc/scale.cu,scale_rows,ops/times.py,6\n")
        out = self.crawl("curated", "pairs: pairs.csv\n")
        self.assertEqual([self.names(p) for p in self.pairs(out)],
                         [("GeluForward", "_gelu_fwd_kernel", False), ("scale_rows", "_times_kernel", True)])
        with open(out / "cu2triton_sft.csv", newline="", encoding="utf-8") as rows:
            row, = csv.DictReader(rows)
        self.assertEqual(row["prompt"], FILES["csrc/scale.cu"])
        self.assertEqual(row["completion"].split(), FILES["ops/times.py"].split())
        # The list is part of the dataset: its lock file has it, and gives the same dataset again.
        self.assertNotEqual(harness.dataset_digest(out), harness.dataset_digest(self.crawl("without")))
        lock = self.folder / "lock.yaml"
        lock.write_text((out / "job.lock.yaml").read_text())
        harness.crawl(lock, self.folder / "again", self.folder / "other-data")
        self.assertEqual(harness.tree_hashes(self.folder / "again"), harness.tree_hashes(out))

    def test_a_reviewed_candidate_is_a_list(self):
        lines = (self.crawl("first") / "cuda_triton_pairs.jsonl").read_text()
        (self.folder / "reviewed.jsonl").write_text(lines)
        out = self.crawl("second", "pairs: reviewed.jsonl\n")
        self.assertEqual([self.names(p) for p in self.pairs(out)], [("GeluForward", "_gelu_fwd_kernel", True)])

    def test_a_pair_that_is_not_there_is_listed_and_the_job_ends_with_1(self):
        (self.folder / "pairs.csv").write_text("cuda_path,triton_path,cuda_name,triton_name\n"
                                               "csrc/scale.cu,ops/times.py,scale_rows,_gone\n"
                                               "csrc/scale.cu,ops/times.py,scale_rows,_times_kernel\n")
        out = self.crawl("unmade", "pairs: pairs.csv\n", expect=1)
        report = self.report(out)
        self.assertEqual(report["pairs"]["curated"], 1)
        self.assertEqual(report["pairs"]["unmade"], [{"pair": 0, "problem": "triton: no such kernel"}])
        failure, = report["failures"]
        self.assertEqual((failure["stage"], failure["message"]),
                         ("manifest", "pairs that could not be made: pairs[0] (triton: no such kernel)"))

    def test_a_list_that_cannot_be_read_is_refused_with_its_line(self):
        (self.folder / "pairs.csv").write_text("cuda_path,cuda_name\na.cu,k\n")
        job = self.folder / "bad.yaml"
        job.write_text("name: bad\nsources: [{path: ./repo}]\npairs: pairs.csv\n")
        done = harness.crawl(job, self.folder / "bad", self.folder / "data", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("pairs.csv:2: pair.triton: must name a kernel", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
