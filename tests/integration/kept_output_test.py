"""A job whose sources fail does not replace a good dataset: the output folder keeps what it has, byte for byte, until
--allow-failed says otherwise."""

import json
import pathlib
import shutil
import tempfile
import unittest

import harness

SOURCES = ("left", "right")


class KeptOutput(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for number, name in enumerate(SOURCES):
            harness.write_many_kernels(self.folder / name, 2 + number, 2)
        self.job = self.write_job("job", SOURCES)
        self.out = self.folder / "out"

    def write_job(self, name, sources):
        job = self.folder / f"{name}.yaml"
        job.write_text("name: kept\nsources:\n" + "".join(f"  - path: ./{source}\n    name: {source}\n" for source in sources))
        return job

    def crawl(self, *flags, job=None, out=None, code=0):
        done = harness.crawl(job or self.job, out or self.out, self.folder / "data", *flags, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def count(self, out, what):
        """{source: number} of its kernels by the report, such as those that were found."""
        report = json.loads((out / "report.json").read_text())
        return {source["repository"]: source["kernels"][what] for source in report["sources"]}

    def kept_by_source(self, out):
        return self.count(out, "kept")

    def test_a_crawl_that_loses_its_sources_leaves_the_dataset_alone(self):
        self.crawl()
        before = harness.tree_hashes(self.out)
        self.assertGreater(min(self.kept_by_source(self.out).values()), 0)

        for name in SOURCES:
            (self.folder / name).rename(self.folder / f"{name}.away")
        done = self.crawl(code=1)
        self.assertEqual(harness.tree_hashes(self.out), before)
        self.assertIn("all 2 sources failed", done.stdout)
        self.assertNotIn("written to", done.stdout)
        for said in (f"{self.out} was not replaced", "left", "right", "--allow-failed", "--out"):
            self.assertIn(said, done.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".")], [])

        summary = json.loads(self.crawl("--json", code=1).stdout.splitlines()[-1])
        self.assertEqual((summary["out"], summary["exit"]), (None, 1))
        self.assertEqual(harness.tree_hashes(self.out), before)

        # The new result is there for the asking: in another folder, or in this one.
        self.crawl(out=self.folder / "elsewhere", code=1)
        self.assertEqual(self.kept_by_source(self.folder / "elsewhere"), {"left": 0, "right": 0})
        self.crawl("--allow-failed", code=1)
        self.assertEqual(harness.tree_hashes(self.out), harness.tree_hashes(self.folder / "elsewhere"))

        # With the sources back, the crawl replaces it as ever.
        for name in SOURCES:
            (self.folder / f"{name}.away").rename(self.folder / name)
        self.crawl()
        self.assertEqual(harness.tree_hashes(self.out), before)

    def test_one_lost_source_is_enough_if_the_dataset_has_kernels_of_it(self):
        self.crawl()
        before = harness.tree_hashes(self.out)
        shutil.rmtree(self.folder / "left")
        done = self.crawl(code=1)
        self.assertEqual(harness.tree_hashes(self.out), before)
        self.assertIn("left", done.stderr)
        self.assertNotIn("right", done.stderr.rsplit("kernelmill: ", 1)[-1])

        # Its kernels are given up: from now on a dataset without them loses nothing.
        self.crawl("--allow-failed", code=1)
        self.assertEqual(self.kept_by_source(self.out)["left"], 0)
        self.crawl(code=1)

    def test_a_source_that_lost_kernels_without_a_failure_is_named(self):
        self.assertNotIn("\nlost", self.crawl().stdout)
        before = self.kept_by_source(self.out)
        # The files of the left folder are copies of the first ones of the right.
        sorted((self.folder / "right").rglob("*.py"))[-1].unlink()
        done = self.crawl()
        lost = before["right"] - self.kept_by_source(self.out)["right"]
        self.assertGreater(lost, 0)
        self.assertIn(f"\nlost       {lost} kept kernels and files that were in {self.out} before\n"
                      f"  right  {lost} of {before['right']}: no longer found {lost}\n", done.stdout)
        self.assertNotIn("\nlost", self.crawl().stdout)

    def test_a_source_that_never_gave_a_kernel_holds_nothing_up(self):
        job = self.write_job("more", (*SOURCES, "never"))
        self.crawl(job=job, code=1)
        shutil.rmtree(self.folder / "right")
        harness.write_many_kernels(self.folder / "right", 4, 2)
        self.crawl(job=job, code=1)
        self.assertEqual(self.count(self.out, "found")["right"], 8)

    def test_on_a_cluster_the_new_dataset_can_be_exported_elsewhere(self):
        with harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start_workers()
            cluster.client("submit", self.job, "--out", self.out)
            before = harness.tree_hashes(self.out)
            shutil.rmtree(self.folder / "right")
            done = cluster.client("submit", self.job, "--out", self.out, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            job = cluster.jobs()[0]["job"]
            self.assertIn(f"kernelmill export {job} --out", done.stderr)
            for command in ("export", "retry"):
                done = cluster.client(command, job, "--out", self.out, check=False)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("was not replaced", done.stderr)
                self.assertEqual(harness.tree_hashes(self.out), before)
            elsewhere = self.folder / "elsewhere"
            done = cluster.client("export", job, "--out", elsewhere, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(self.kept_by_source(elsewhere), {"left": self.kept_by_source(self.out)["left"], "right": 0})
            done = cluster.client("export", job, "--out", self.out, "--allow-failed", check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(harness.tree_hashes(self.out), harness.tree_hashes(elsewhere))


if __name__ == "__main__":
    unittest.main()
