"""Jobs with `run`: kernels run their cases on a worker, on Triton's interpreter. The results are evidence that the lock names, so that
the dataset is the same by any way, and only what is new runs."""

import hashlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import environment

environment.need("execution")
import harness  # noqa: E402
import numpy  # noqa: E402
from kernelmill.execution import elements, recipes  # noqa: E402
from kernelmill.execution.case import Case  # noqa: E402
from kernelmill.execution.evidence import Evidence  # noqa: E402

N = 64 * 150
KERNEL = '''

@triton.jit
def scale_{number}(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Scales a vector by {number}."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) {operator} {number}.0, mask=at < n)
'''
KERNELS = 6
WRONG = 4  # does not do what its case says


def write_job(folder, name, run="run: {device: cpu}\n"):
    job = folder / f"{name}.yaml"
    job.write_text("name: executed\nsources:\n  - {path: ./kernels, license: MIT}\n  - {path: ./evidence, role: evidence}\n"
                   "dedup: {threshold: 1.0}\n" + run)
    return job


def add_case(evidence, module, number, seed):
    x = {"bytes": 4 * N, "recipe": {"kind": "normal", "dtype": "float32", "seed": seed, "mean": 0.0, "deviation": 1.0}}
    data = elements.decode(recipes.fill(x["recipe"], 4 * N), "float32").astype("f4")
    views = [{"name": name, "tensor": {"dtype": "float32", "shape": [N], "strides": [1], "offset": 0, "storage": storage}}
             for storage, name in enumerate(("x_ptr", "out_ptr"))]
    arguments = [*views, {"name": "n", "scalar": {"type": "int", "value": N}}, {"name": "BLOCK", "constexpr": "64"}]
    expected = evidence.put((data * numpy.float32(number)).tobytes())
    evidence.add(Case.make(
        module_sha256=hashlib.sha256(module.encode()).hexdigest(), kernel=f"scale_{number}", arguments=arguments,
        storages=[x, {"bytes": 4 * N, "recipe": {"kind": "poison"}}], grid=[N // 64, 1, 1], options={}, environment={},
        outputs=[{"storage": 1, "sha256": expected}], ragged=False, tolerance={}, origin={"recorded": {}}).check().row)


def setUpModule():
    """The first crawl, which runs all cases."""
    global work, job, first
    work = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    os.environ.update(KERNELMILL_PYTHON=sys.executable, PYTHONPATH=os.pathsep.join(sys.path))
    (work / "kernels").mkdir()
    (work / "evidence").mkdir()
    text = "import triton\nimport triton.language as tl\n"
    for number in range(1, KERNELS + 1):
        text += KERNEL.format(number=number, operator="+" if number == WRONG else "*")
    (work / "kernels/ops.py").write_text(text)
    (work / "evidence/evidence.jsonl").write_text("")
    plain = write_job(work, "plain", run="")
    harness.crawl(plain, work / "plain", work / "plain-data")
    evidence = Evidence(work / "evidence/evidence.jsonl")
    for row in harness.rows_of(work / "plain", "kernels"):
        add_case(evidence, row["module"], int(row["name"].rpartition("_")[2]), seed=1)
    evidence.save()
    job = write_job(work, "job")
    first = work / "first"
    harness.crawl(job, first, work / "data", "--json")


def counters(done):
    return {name: count for name, count in harness.last_status(done.stderr + done.stdout)["counters"].items()
            if name.startswith("run.")}


def results(out):
    """{case: outcome} of the results that the dataset came with."""
    lines = [line for file in (out / "run").glob("*/results.jsonl") for line in file.read_text().splitlines()]
    return {row["case"]: row["outcome"] for row in map(json.loads, lines)}


class Base(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def assert_same(self, out):
        self.assertEqual(harness.dataset_digest(out), harness.dataset_digest(first))
        self.assertEqual(harness.tree_hashes(out / "run"), harness.tree_hashes(first / "run"))
        self.assertEqual((out / "tasks.jsonl").read_bytes(), (first / "tasks.jsonl").read_bytes())


class Run(Base):
    def test_what_ran_is_in_the_tasks_and_comes_back_as_evidence(self):
        self.assertEqual(sorted(results(first).values()), ["different"] + ["exact"] * (KERNELS - 1))
        tasks = {row["name"]: row for row in harness.rows_of(first, "tasks")}
        self.assertEqual(set(tasks), {f"scale_{number}" for number in range(1, KERNELS + 1) if number != WRONG})
        [outcomes] = tasks["scale_1"]["outcomes"]
        self.assertEqual((outcomes["device"], outcomes["exact"], outcomes["different"]), ("cpu", 1, 0))
        states = {row["name"]: row["task"] for row in harness.ledger(first)}
        self.assertEqual(states[f"scale_{WRONG}"], "different")
        [file] = (first / "run").glob("*/results.jsonl")
        merged = Evidence(work / "evidence/evidence.jsonl")
        merged.add_file(file)
        self.assertEqual(len(list(merged.rows("result"))), KERNELS)

    def test_the_end_of_a_job_says_what_it_ran(self):
        done = harness.crawl(job, self.folder / "out", self.folder / "data")
        self.assertIn(f"\nrun        cpu: {KERNELS} cases run: exact {KERNELS - 1}, different 1\n", done.stdout + done.stderr)
        done = harness.crawl(job, self.folder / "again", self.folder / "data")
        self.assertIn(f"\nrun        cpu: 0 cases run; {KERNELS} known before\n", done.stdout + done.stderr)

    def test_a_second_job_runs_nothing_and_is_the_same(self):
        done = harness.crawl(job, self.folder / "out", work / "data", "--json")
        self.assertEqual(counters(done), {"run.cpu.known": KERNELS})
        self.assert_same(self.folder / "out")

    def test_the_lock_names_the_results_so_that_nothing_has_to_run(self):
        lock = (first / "job.lock.yaml").read_text()
        self.assertNotIn("\nrun:", lock)
        self.assertIn("run/cpu-", lock)
        env = {**os.environ, "KERNELMILL_PYTHON": "/no/such/python"}
        harness.run(harness.BIN / "kernelmill", "crawl", first / "job.lock.yaml", "--out", self.folder / "out", "--data",
                    self.folder / "data", env=env)
        self.assert_same(self.folder / "out")

    def test_a_lock_that_asks_for_runs_again_runs_only_what_is_new(self):
        shutil.copytree(first / "run", self.folder / "run")
        again = self.folder / "again.yaml"
        again.write_text((first / "job.lock.yaml").read_text() + "run: {device: cpu}\n")
        done = harness.crawl(again, self.folder / "out", self.folder / "data", "--json")
        self.assertEqual(counters(done), {"run.cpu.known": KERNELS})
        self.assert_same(self.folder / "out")

    def test_a_device_that_this_machine_lacks_is_an_error_at_once(self):
        gpu = write_job(work, "gpu", run="run: {device: \"cuda:90\"}\n")
        done = harness.crawl(gpu, self.folder / "out", self.folder / "data", check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("this machine cannot run kernels on cuda:90", done.stderr)


class Cluster(Base):
    def test_the_same_dataset_on_a_cluster(self):
        with harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start_workers()
            runner = cluster.start_worker("runner", "--processes", "2")
            cluster.client("submit", job, "--wait", "--out", self.folder / "out")
            self.assertEqual(harness.metric(runner.metrics(), "kernelmill_runner_cases_total"), KERNELS)
        self.assert_same(self.folder / "out")

    def test_without_a_runner_of_the_device_the_job_says_what_it_waits_for(self):
        with harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start_workers()
            name = json.loads(cluster.client("submit", job, "--json").stdout)["job"]
            says = lambda: "start kernelmill-runner --device cpu: 1 task waiting" in cluster.client("jobs").stdout
            harness.wait_until(says, "the job to say that no worker runs its kernels", seconds=60, pause=0.5)
            cluster.start_worker("runner")
            cluster.client("watch", name)
            cluster.client("export", name, "--out", self.folder / "out")
        self.assert_same(self.folder / "out")

    def test_a_runner_killed_in_the_middle_loses_nothing(self):
        with harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start_workers()
            killed = cluster.start_worker("runner")
            name = json.loads(cluster.client("submit", job, "--json").stdout)["job"]
            ran = lambda runner: harness.metric(runner.metrics(), "kernelmill_runner_cases_total")
            harness.wait_until(lambda: ran(killed), "a first case to run", seconds=60)
            killed.kill()
            second = cluster.start_worker("runner")
            cluster.client("watch", name)
            cluster.client("export", name, "--out", self.folder / "out")
            self.assertLess(ran(second), KERNELS, "the results of the first one are known")
        self.assert_same(self.folder / "out")


if __name__ == "__main__":
    unittest.main()
