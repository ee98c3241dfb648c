"""Finding a kernel again in a finished job's dataset: its copy, an edited one and a renamed one, on a cluster and in what
a crawl left."""

import json
import pathlib
import tempfile
import unittest

import harness
import kernel_texts

HEAD = "import triton\nimport triton.language as tl\n\n"
KERNEL = "\n" + kernel_texts.SCALE_ROWS
CUDA = '''__global__ void add(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1.0f;
}
'''


def respaced(text):
    """The same tokens otherwise laid out, and a comment."""
    return text.replace(" = ", "   =  ").replace(", ", ",").replace("    x =", "    # what is scaled\n    x =")


class Similar(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        harness.write_many_kernels(self.folder / "many", 40, 5)
        harness.write_files(self.folder / "src", {"LICENSE": harness.MIT_TEXT, "a/first.py": HEAD + KERNEL,
                                                  "b/copy.py": HEAD + KERNEL, "c/add.cu": CUDA})
        self.job = self.folder / "job.yaml"
        self.job.write_text("name: similar\nsources:\n  - path: ./src\n    include: ['**/*.py', '**/*.cu']\n"
                            "  - path: ./many\n")

    def query(self, text, suffix=".py"):
        path = self.folder / f"query{suffix}"
        path.write_text(text)
        return path

    def crawled(self):
        out, data = self.folder / "out", self.folder / "data"
        harness.crawl(self.job, out, data)
        return ["--out", out, "--data", data]

    def similar(self, dataset, file, *flags, **kwargs):
        done = harness.run(harness.BIN / "kernelmill", "similar", file, "--json", *dataset, *flags, **kwargs)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_an_edited_kernel_is_found_again(self):
        dataset = self.crawled()
        ledger = {row["path"]: row for row in harness.ledger(self.folder / "out")}
        for kind, text in {"exact": KERNEL, "near": respaced(KERNEL), "structural": respaced(kernel_texts.renamed(KERNEL))}.items():
            [found] = self.similar(dataset, self.query(HEAD + text))
            first, copy = found["similar"][:2]
            self.assertEqual([(m["kind"], m["similarity"]) for m in (first, copy)], [(kind, 1)] * 2)
            self.assertEqual([m["path"] for m in (first, copy)], ["a/first.py", "b/copy.py"])
            self.assertEqual((first["fate"], copy["fate"], copy["reason"]), ("kept", "duplicate", "exact"))
            for match in (first, copy):
                row = ledger[match["path"]]
                for key in ("id", "repository", "commit", "first_line", "last_line", "fate"):
                    self.assertEqual(match[key], row[key])
                self.assertEqual((match["qualname"], match["license"]), ("scale_rows", "MIT"))
            self.assertEqual(copy["of"]["id"], first["id"])

    def test_each_kernel_of_a_file_is_listed_with_its_own(self):
        dataset = self.crawled()
        many = (self.folder / "many/kernels_00007.py").read_text()
        found = self.similar(dataset, self.query(many), "--top", "3")
        self.assertEqual([f["qualname"] for f in found], [f"kernel_7_{k}" for k in range(5)])
        for result in found:
            self.assertLessEqual(len(result["similar"]), 3)
            best = result["similar"][0]
            self.assertEqual((best["kind"], best["qualname"]), ("exact", result["qualname"]))
            scores = [m["similarity"] for m in result["similar"]]
            self.assertEqual(scores, sorted(scores, reverse=True))
        [alone] = self.similar(dataset, self.query(HEAD + kernel_texts.renamed(KERNEL)), "--threshold", "1")
        self.assertEqual([m["kind"] for m in alone["similar"]], ["structural"] * 2)

    def test_standard_input_may_be_python_cuda_or_any_text(self):
        dataset = self.crawled()
        for text, path in {HEAD + KERNEL: "a/first.py", CUDA: "c/add.cu", KERNEL.partition("triton.jit\n")[2]: "a/first.py",
                           CUDA.replace("__global__ ", ""): "c/add.cu"}.items():
            [found] = self.similar(dataset, "-", input=text)
            self.assertEqual(found["similar"][0]["path"], path, text)

    def test_a_cluster_answers_as_a_crawl_does(self):
        local = self.similar(self.crawled(), self.query(HEAD + respaced(KERNEL)))
        with harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start_workers()
            cluster.client("submit", self.job, "--wait")
            [job] = cluster.jobs()
            query = self.folder / "query.py"
            for which in (["--job", job["job"]], ["--dataset", harness.dataset_digest(self.folder / "out")]):
                answer = cluster.client("similar", query, "--json", *which).stdout
                self.assertEqual([json.loads(line) for line in answer.splitlines()], local)
            wrong = cluster.client("similar", query, "--job", "none", check=False)
            self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
        away = harness.run(harness.BIN / "kernelmill", "similar", query, *cluster.addresses(), "--job", job["job"],
                           "--reconnect-seconds", "0.2", check=False)
        self.assertEqual(away.returncode, 3, away.stderr)

    def test_one_dataset_is_named(self):
        for flags in ([], ["--job", "a", "--out", "b"], ["--job", "a", "--threshold", "0"], ["--job", "a", "--top", "0"]):
            done = harness.run(harness.BIN / "kernelmill", "similar", self.query("x"), *flags, check=False)
            self.assertEqual(done.returncode, 2, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
