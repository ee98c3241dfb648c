"""A wheel's hash comes from the index or from the job. A job may require that; otherwise the rows say that it was computed."""

import hashlib
import json
import pathlib
import tempfile
import unittest

import harness
import kernel_texts

MARK = "hash_computed"


class WheelHashes(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        wheels = self.folder / "wheels"
        wheels.mkdir()
        text = "import triton\nimport triton.language as tl\n\n\n" + kernel_texts.SCALE_ROWS
        wheel = harness.make_wheel(wheels, "waves", "1.0", {"waves/rows.py": text})
        self.sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
        self.index = self.enterContext(harness.package_index(wheels))

    def crawl(self, name, *, hashes, job="", source=""):
        """Crawls the wheel from an index with or without hashes; returns the run."""
        self.index.hashes = hashes
        file = self.folder / f"{name}.yaml"
        file.write_text(f"name: waves\n{job}sources:\n  - package: waves==1.0\n    keep: files\n{source}")
        return self.crawl_file(file, name)

    def crawl_file(self, file, name):
        return harness.crawl(file, self.folder / name, self.folder / "data", index_url=self.index.url + "/simple", check=False)

    def says_computed(self, name):
        """Returns what rows, PROVENANCE.md and the lock say of the hash; they must agree."""
        out = self.folder / name
        said = {(out / "job.lock.yaml").read_text().count(f"{MARK}: true") == 1,
                "gave no hash" in (out / "PROVENANCE.md").read_text()}
        for file in ("kernels.jsonl", "files.jsonl"):
            rows = [json.loads(line) for line in (out / file).read_text().splitlines()]
            self.assertEqual({row["commit"] for row in rows}, {f"sha256:{self.sha256}"})
            said |= {row[MARK] for row in rows}
        self.assertEqual(len(said), 1, said)
        return said.pop()

    def test_rows_say_that_an_index_gave_no_hash(self):
        self.assertEqual(self.crawl("bare", hashes=False).returncode, 0)
        self.assertTrue(self.says_computed("bare"))
        self.assertEqual(self.crawl("hashed", hashes=True).returncode, 0)
        self.assertFalse(self.says_computed("hashed"))

    def test_a_lock_keeps_saying_it(self):
        self.assertEqual(self.crawl("bare", hashes=False).returncode, 0)
        self.index.hashes = True
        locked = self.crawl_file(self.folder / "bare" / "job.lock.yaml", "locked")
        self.assertEqual(locked.returncode, 0, locked.stderr)
        self.assertTrue(self.says_computed("locked"))
        self.assertEqual(harness.dataset_digest(self.folder / "locked"), harness.dataset_digest(self.folder / "bare"))

    def test_a_job_may_require_hashes(self):
        job = "require_hashes: true\n"
        refused = self.crawl("refused", hashes=False, job=job)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("the index gives no hash for waves-1.0-py3-none-any.whl", refused.stdout + refused.stderr)
        self.assertEqual(self.crawl("indexed", hashes=True, job=job).returncode, 0)
        self.assertEqual(self.crawl("own", hashes=False, job=job, source=f"    sha256: {self.sha256}\n").returncode, 0)
        for name in ("indexed", "own"):
            self.assertFalse(self.says_computed(name))

    def test_a_lock_without_a_hash_of_the_index_is_refused_by_a_job_that_requires_them(self):
        self.assertEqual(self.crawl("bare", hashes=False).returncode, 0)
        lock = self.folder / "bare" / "job.lock.yaml"
        lock.write_text(lock.read_text() + "require_hashes: true\n")
        refused = self.crawl_file(lock, "again")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("sources[0].hash_computed: is refused by require_hashes", refused.stdout + refused.stderr)


if __name__ == "__main__":
    unittest.main()
