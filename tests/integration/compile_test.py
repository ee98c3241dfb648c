"""Jobs that compile: what real compilers say of kernels written for this test is in the rows, the same by any way and any
number of compilers. Without installed toolchains (0.3 GB to fetch, 1 GB on the disk) the real jobs skip: tests/run.sh --toolchains."""

import collections
import contextlib
import hashlib
import json
import os
import pathlib
import signal
import tempfile
import threading
import time
import unittest

import harness

SOURCES = harness.ROOT / "tests/data/compile-repo"
TRITON = ["scale_rows", "matmul"]
OK = TRITON + ["shift"]


def write_job(folder, name, sources, policy="toolchains: [triton-3.5.1, triton-3.9.0], targets: [\"cuda:90\", \"hip:gfx942\"], keep: [ttir, ptx]", more=""):
    job = folder / f"{name}.yaml"
    job.write_text(f'name: {name}\nsources:\n  - path: {sources}\n    name: ops\n    include: ["**/*.py", "**/*.cu"]\n'
                   f"    license: MIT\ncompile: {{{policy}}}\n{more}")
    return job


# Kernels that this test alone may meet: one that is never compiled, and one that takes much memory while it is loaded.
ENDLESS = """
@triton.jit
def endless(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for k in tl.static_range(1000000000):
        tl.store(x + i + k, 1.0, mask=i < n)
"""
HOG_BYTES = 700 << 20
HOG = f"""
HELD = tl.constexpr(len([bytearray({HOG_BYTES}), sum(range(500000000))]))


@triton.jit
def hog(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, HELD, mask=i < n)
"""
SMALL = """
@triton.jit
def {name}(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, {value}, mask=i < n)
"""


def write_sources(folder, **texts):
    """A file of each of the keywords, with the imports of Triton before its kernels."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.py").write_text("import triton\nimport triton.language as tl\n\n" + text)
    return folder


def launched(text, *names):
    """With a launcher of each kernel, as those that are compiled have."""
    return text + "".join(f"\n\ndef run_{name}(x):\n    {name}[(1,)](x, x.numel(), BLOCK=128)\n" for name in names)


def confined(compiler):
    """{pid: resident bytes} of what a compiler's process has started, the interpreters that fork for kernels aside."""
    found = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = stat.read_text().rpartition(")")[2].split()
            leader = fields[3]
            if leader == stat.parent.name:
                continue
            if pathlib.Path(f"/proc/{leader}/stat").read_text().rpartition(")")[2].split()[1] == str(compiler.popen.pid):
                found[int(stat.parent.name)] = int(fields[21]) * os.sysconf("SC_PAGESIZE")
    return found


@contextlib.contextmanager
def short_of_memory(compiler, limit):
    """Plays a machine that has no more: kills whatever of the compiler's takes more than `limit`."""
    over = threading.Event()

    def look():
        while not over.wait(0.1):
            for pid, size in confined(compiler).items():
                if size > limit:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def rows(out, file="kernels.jsonl"):
    return [json.loads(line) for line in (out / file).read_text(encoding="utf-8").splitlines()]


class WithoutToolchains(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.none = self.folder / "none"

    def crawl(self, job, check=True):
        return harness.crawl(job, self.folder / "out", self.folder / "data", "--toolchains", self.none, check=check)

    def test_a_job_that_compiles_ends_before_it_begins_and_says_how_to_install(self):
        done = self.crawl(write_job(self.folder, "compiles", SOURCES, "toolchains: [triton-3.9.0]"), check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("triton-3.9.0 is not installed", done.stderr)
        self.assertIn("kernelmill toolchains --install", done.stderr)
        self.assertFalse((self.folder / "data").exists(), "nothing was begun")

    def test_a_job_that_compiles_nothing_needs_none(self):
        job = self.folder / "plain.yaml"
        job.write_text(f"name: plain\nsources:\n  - path: {SOURCES}\n    name: ops\n")
        self.crawl(job)
        self.assertEqual(harness.rows_of(self.folder / "out", "ir"), [])
        self.assertEqual({row["compile"] for row in rows(self.folder / "out")}, {None})

    def test_toolchains_says_what_is_pinned_and_what_is_missing(self):
        done = harness.run(harness.BIN / "kernelmill", "toolchains", "--toolchains", self.none, "--json", check=False)
        state = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1)
        self.assertIn("triton-3.5.1", [toolchain["name"] for toolchain in state["toolchains"]])
        self.assertFalse(any(toolchain["installed"] for toolchain in state["toolchains"]))

    def test_a_compiler_without_toolchains_does_not_start(self):
        done = harness.run(harness.BIN / "kernelmill-compiler", "--toolchains", self.none, check=False, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("kernelmill toolchains --install", done.stderr)


class Compiled(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.toolchains, why = harness.installed_toolchains()
        if why:
            raise unittest.SkipTest(f"nothing is compiled here: {why}")
        cls.stack = contextlib.ExitStack()
        cls.folder = pathlib.Path(cls.stack.enter_context(tempfile.TemporaryDirectory()))
        cls.job = write_job(cls.folder, "compiled", SOURCES)
        cls.out, cls.data = cls.folder / "out", cls.folder / "data"
        cls.crawl(cls.job, cls.out, cls.data, "--workers", "1")
        cls.kernels = {row["name"]: row for row in rows(cls.out)}

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    @classmethod
    def crawl(cls, job, out, data, *flags):
        return harness.crawl(job, out, data, *flags, timeout=900)

    def result(self, name, toolchain="triton-3.9.0", target="cuda:90"):
        one, = [result for result in self.kernels[name]["compile"]["results"] if (result["toolchain"], result["target"]) == (toolchain, target)]
        return one

    def test_each_row_has_what_compilers_said(self):
        places = [(toolchain, target) for toolchain in ("triton-3.5.1", "triton-3.9.0") for target in ("cuda:90", "hip:gfx942")]
        for name in OK:
            self.assertEqual([(one["toolchain"], one["target"]) for one in self.kernels[name]["compile"]["results"]], places)
            for toolchain, target in places if name in TRITON else places[::2]:
                one = self.result(name, toolchain, target)
                self.assertEqual(one["status"], "ok", one)
                self.assertGreater(one["registers"], 0)
                self.assertGreater(one["instructions"], 0)
                made = ["ttgir", "llir", "ptx", "cubin"] if target == "cuda:90" else ["ttgir", "llir", "amdgcn", "hsaco"]
                self.assertEqual([form["form"] for form in one["forms"]], ["ttir"] * (name in TRITON) + made)
        self.assertGreater(self.result("matmul")["shared_bytes"], 0)
        self.assertNotEqual(self.result("shift", target="hip:gfx942")["status"], "ok", "its layout is of warps of 32 threads")
        wrong = self.result("smooth")
        self.assertEqual((wrong["status"], wrong["stage"]), ("error", "frontend"))
        self.assertIn("smoothed_exp", wrong["message"])
        line = self.kernels["smooth"]["module"].splitlines()[wrong["line"] - 1]
        self.assertIn("smoothed_exp", line)
        self.assertEqual(self.kernels["add"]["compile"]["not_attempted"], "dsl:cuda")
        self.assertEqual(self.kernels["activate"]["compile"]["not_attempted"], "not_self_contained")

    def test_the_kept_forms_are_the_texts_that_the_evidence_names(self):
        found = collections.Counter()
        for row in harness.rows_of(self.out, "ir"):
            self.assertEqual(hashlib.sha256(row["text"].encode()).hexdigest(), row["sha256"])
            found[row["kernel_id"], row["toolchain"], row["target"], row["form"], row["sha256"]] += 1
        named = collections.Counter()
        for kernel in self.kernels.values():
            for one in kernel["compile"]["results"]:
                for form in one["forms"]:
                    if form["form"] in ("ttir", "ptx"):
                        named[kernel["id"], one["toolchain"], one["target"], form["form"], form["sha256"]] += 1
        self.assertEqual(found, named)
        self.assertGreater(len(found), 0)
        self.assertEqual({form for _, _, target, form, _ in found if target == "hip:gfx942"}, {"ttir"})

    def test_the_same_dataset_warm_and_by_four_workers(self):
        warm = self.crawl(self.job, self.folder / "warm", self.data, "--json")
        stages = {stage["stage"]: stage for stage in harness.last_status(warm.stderr)["stages"]}
        self.assertEqual(int(stages["compile"]["cached"]), int(stages["compile"]["done"]))
        self.crawl(self.job, self.folder / "four", self.folder / "four-data", "--workers", "4")
        for other in ("warm", "four"):
            self.assertEqual(harness.dataset_digest(self.folder / other), harness.dataset_digest(self.out))
            self.assertEqual(harness.tree_hashes(self.folder / other), harness.tree_hashes(self.out))

    def test_the_same_dataset_on_a_cluster_of_two_compilers_one_of_which_evaluate_asks(self):
        with harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start_workers(each=2, toolchains=self.toolchains)
            cluster.client("submit", self.job, "--wait", "--out", self.folder / "two", timeout=900)
            self.assertEqual(harness.dataset_digest(self.folder / "two"), harness.dataset_digest(self.out))
            job = cluster.jobs()[0]["job"]
            compiler = next(process for process in cluster.processes if process.role == "compiler")
            cluster.client("evaluate", self.generations(), "--job", job, "--compiler", f"127.0.0.1:{compiler.port}",
                           "--out", self.folder / "asked", timeout=600)
        asked = {row["task_id"]: row for row in rows(self.folder / "asked", "samples.jsonl")}
        self.assertEqual([one["status"] for one in asked["triton"]["compile"]], ["ok", "ok"])
        self.assertEqual([one["status"] for one in asked["broken"]["compile"]], ["error", "error"])
        self.assertEqual((asked["triton"]["match"]["kind"], asked["triton"]["match"]["path"]), ("exact", "triton_ops.py"))

    def test_a_compiler_killed_in_the_middle_loses_nothing(self):
        with harness.Cluster(self.folder / "killed") as cluster:
            cluster.start_workers()
            compiler = cluster.start_worker("compiler", "--toolchains", self.toolchains)
            job = json.loads(cluster.client("submit", self.job, "--json").stdout)["job"]
            holds = lambda: any(task["stage"] == "compile" for line in cluster.client("workers", "--json").stdout.splitlines()
                                for task in json.loads(line).get("running", []))
            harness.wait_until(holds, "a compile task to run", seconds=120)
            time.sleep(1)  # into its work
            compiler.kill()
            cluster.start_worker("compiler", "--toolchains", self.toolchains)
            cluster.client("watch", job, timeout=900)
            cluster.client("export", job, "--out", self.folder / "after")
        self.assertEqual(harness.dataset_digest(self.folder / "after"), harness.dataset_digest(self.out))

    def test_a_cancelled_job_gives_its_compiler_back_to_the_next(self):
        endless = write_sources(self.folder / "endless", ops=launched(ENDLESS, "endless"))
        job = write_job(self.folder, "endless", endless, 'toolchains: [triton-3.5.1], targets: ["cuda:90"], max_seconds: 600')
        with harness.Cluster(self.folder / "cancelled", lease_ttl=30) as cluster:
            cluster.start_workers()
            compiler = cluster.start_worker("compiler", "--toolchains", self.toolchains)
            cancelled = json.loads(cluster.client("submit", job, "--json").stdout)["job"]
            harness.wait_until(lambda: confined(compiler), "its kernel to be compiled", seconds=120)
            cluster.client("cancel", cancelled)
            harness.wait_until(lambda: not confined(compiler), "the cancelled kernel's processes to be gone", seconds=60)
            next_job = write_job(self.folder, "next", SOURCES, 'toolchains: [triton-3.5.1], targets: ["cuda:90"]')
            cluster.client("submit", next_job, "--wait", "--out", self.folder / "next", timeout=300)
            self.assertEqual(harness.metric(compiler.metrics(), "kernelmill_worker_busy_slots"), 0)
            self.assertIsNone(compiler.popen.poll(), "the same process")
        statuses = {row["name"]: row["compile"]["results"][0]["status"] for row in rows(self.folder / "next") if row["compile"]["results"]}
        self.assertEqual({statuses[name] for name in OK}, {"ok"})

    def test_a_kernel_that_the_machine_has_no_memory_for_is_lost_alone(self):
        small = {f"small_{i}": launched(SMALL.format(name=f"small_{i}", value=float(i)), f"small_{i}") for i in range(2)}
        sources = write_sources(self.folder / "hog-sources", hog=launched(HOG, "hog"), **small)
        job = write_job(self.folder, "hog", sources, 'toolchains: [triton-3.5.1], targets: ["cuda:90"], keep: [ttir]',
                        "dedup: {structural: false}\n")
        with harness.Cluster(self.folder / "hogged") as cluster:
            cluster.start_workers()
            compiler = cluster.start_worker("compiler", "--toolchains", self.toolchains)
            with short_of_memory(compiler, HOG_BYTES // 2 + (200 << 20)):
                done = cluster.client("submit", job, "--wait", "--out", self.folder / "hog", check=False, timeout=600)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIsNone(compiler.popen.poll(), "its worker lives")
        results = {row["name"]: row["compile"]["results"][0] for row in rows(self.folder / "hog")}
        self.assertEqual({name: result["status"] for name, result in results.items()},
                         {"hog": "unknown", **{name: "ok" for name in small}})
        self.assertEqual(results["hog"]["missing"], "crash")
        self.assertEqual(len(harness.rows_of(self.folder / "hog", "ir")), len(small))
        failure, = json.loads((self.folder / "hog/report.json").read_text())["failures"]
        self.assertEqual((failure["stage"], failure["path"], failure["code"]), ("compile", "hog.py", "ABORTED"))
        self.assertIn("compiling hog crashed its compiler", failure["message"])

    def test_what_does_not_compile_is_rejected_where_the_job_requires_it(self):
        job = write_job(self.folder, "required", SOURCES, "toolchains: [triton-3.5.1], targets: [\"cuda:90\"]",
                        "quality: {require: [compiles]}\n")
        self.crawl(job, self.folder / "required", self.data)
        kept = {row["name"] for row in rows(self.folder / "required")}
        self.assertEqual(kept, {*OK, "add", "activate"}, "of the last two nobody was asked: they are exempt")
        rejected, = [row for row in harness.ledger(self.folder / "required") if row["fate"] == "rejected"]
        self.assertEqual((rejected["path"], rejected["reason"]), ("broken_ops.py", "quality:compiles"))

    def generations(self):
        samples = [{"task_id": name, "completion": (SOURCES / f"{name}_ops.py").read_text()} for name in ("triton", "broken")]
        path = self.folder / "generations.jsonl"
        path.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
        return path

    def test_evaluate_compiles_in_its_own_process(self):
        done = harness.run(harness.BIN / "kernelmill", "evaluate", self.generations(), "--toolchain", "triton-3.5.1", "--out",
                           self.folder / "evaluation", "--json", timeout=600)
        outcomes = {row["task_id"]: row["compile"][0]["status"] for row in rows(self.folder / "evaluation", "samples.jsonl")}
        self.assertEqual(outcomes, {"triton": "ok", "broken": "error"}, done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
