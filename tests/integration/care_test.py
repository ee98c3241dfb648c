"""Care for people: what they asked not to be in a dataset is not, nor are its copies; a dataset that misses its job's
bounds says so; and two datasets are held against each other."""

import json
import pathlib
import re
import tempfile
import textwrap
import unittest

import harness
import kernel_texts
import row_schema

HEAD = "import triton\nimport triton.language as tl\n\n\n"
HELPER = '''\
@triton.jit
def smooth(values, weights, low, high, BLOCK: tl.constexpr):
    inner = tl.where(values > low, values, low)
    outer = tl.where(inner < high, inner, high)
    bell = tl.exp(-(outer - low) * (outer - low) * 0.7071)
    edge = tl.sigmoid((outer - high) * weights) + tl.cos(outer * 0.125)
    blend = bell * weights + edge * (1.0 - weights) - tl.abs(bell - edge) * 0.0625
    return tl.sqrt(blend * blend + 0.001) + tl.sin(low * high) * 0.5
'''
OWN = '''\
@triton.jit
def gelu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, 0.5 * x * (1 + tl.erf(x * 0.70710678)), mask=at < n)
'''
USER = '''\
@triton.jit
def smooth_rows(x_ptr, w_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    w = tl.load(w_ptr + at, mask=at < n)
    x = tl.load(x_ptr + at, mask=at < n, other=1.0)
    tl.store(x_ptr + at, smooth(x, w, -1.0, 1.0, BLOCK), mask=at < n)
'''
ALICE = {"ops/scale.py": HEAD + kernel_texts.SCALE_ROWS, "ops/smooth.py": HEAD + HELPER}
BOB = {"copy.py": HEAD + re.sub(r"\b(scale_rows|total|scale|row)\b", r"my_\1", kernel_texts.SCALE_ROWS), "lib/smooth.py": HEAD + HELPER,
       "lib/__init__.py": "", "user.py": HEAD + "from lib.smooth import smooth\n\n\n" + USER, "own.py": HEAD + OWN}


class Care(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        for name, files in {"alice/kernels": ALICE, "bob/copies": BOB}.items():
            harness.write_files(cls.folder / name, files | {"LICENSE": harness.MIT_TEXT})
            (cls.folder / "served" / name).parent.mkdir(parents=True, exist_ok=True)
            harness.make_repository(cls.folder / name, cls.folder / "served" / f"{name}.git")
        cls.url = cls.enterClassContext(harness.git_server(cls.folder / "served")).url

    def write_job(self, name, more="", sources=("alice/kernels", "bob/copies")):
        job = self.folder / f"{name}.yaml"
        job.write_text(f"name: care\nsources:\n" + "".join(f"  - git: {self.url}/{s}.git\n" for s in sources) +
                       textwrap.dedent(more))
        return job

    def crawl(self, name, more="", expect=0, **kwargs):
        done = harness.crawl(self.write_job(name, more, **kwargs), self.folder / name, self.folder / "data", "--json",
                             check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        self.assertEqual(row_schema.problems(self.folder / name), [])
        self.summary = json.loads(done.stdout)
        return self.folder / name

    @staticmethod
    def fates(out):
        """{alice/kernels ops/scale.py: rejected opt_out}"""
        rows = harness.ledger(out)
        return {f"{'/'.join(r['repository'].split('/')[-2:]).removesuffix('.git')} {r['path']}":
                " ".join(filter(None, (r["fate"], r["reason"]))) for r in rows}

    def diff(self, a, b, *flags, expect):
        done = harness.run(harness.BIN / "kernelmill", "diff", a, b, *flags, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout

    def test_an_owner_that_opts_out_is_out_with_all_copies(self):
        before = self.crawl("before")
        self.assertEqual(self.fates(before), {
            "alice/kernels ops/scale.py": "kept", "alice/kernels ops/smooth.py": "kept",
            "bob/copies copy.py": "duplicate renamed", "bob/copies lib/smooth.py": "duplicate exact",
            "bob/copies own.py": "kept", "bob/copies user.py": "kept"})
        (self.folder / "wishes.txt").write_text(
            f"# by mail, 5 May\n{self.url.removeprefix('http://')}/Alice/\ngithub.com/nobody/here\n")
        after = self.crawl("after", "opt_out: wishes.txt\n")
        self.assertEqual(self.fates(after), {
            "alice/kernels ops/scale.py": "rejected opt_out", "alice/kernels ops/smooth.py": "rejected opt_out",
            "bob/copies copy.py": "rejected opt_out", "bob/copies lib/smooth.py": "rejected opt_out",
            "bob/copies own.py": "kept", "bob/copies user.py": "rejected opt_out:module"})
        rows = {r["path"]: r for r in harness.ledger(after)}
        self.assertEqual(rows["copy.py"]["of"], rows["ops/scale.py"]["id"])
        self.assertEqual(rows["user.py"]["of"], rows["ops/smooth.py"]["id"])
        self.assertIsNone(rows["ops/scale.py"]["of"])
        self.assertIn("def gelu", (after / "kernels.jsonl").read_text())
        for path in filter(pathlib.Path.is_file, after.rglob("*")):
            self.assertNotRegex(path.read_bytes(), rb"rsqrt|0\.7071\)", path.name)
        # The stages before validation took everything from the cache, and one validation ran again.
        stages = {s["stage"]: s for s in self.summary["job"]["stages"]}
        for stage in ("fetch", "extract", "link", "sign", "pair"):
            self.assertEqual(int(stages[stage]["cached"]), int(stages[stage]["total"]), stage)
        self.assertEqual(int(stages["validate"]["total"]) - int(stages["validate"]["cached"]), 1)
        wish, other = json.loads((after / "report.json").read_text())["opt_out"]
        self.assertEqual({k: wish[k] for k in ("sources", "kernels", "copies", "carriers")},
                         {"sources": 1, "kernels": 2, "copies": 2, "carriers": 1})
        self.assertEqual((other["repository"], other["sources"], other["kernels"]), ("github.com/nobody/here", 0, 0))
        # The lock has the list.
        lock = self.folder / "lock.yaml"
        lock.write_text((after / "job.lock.yaml").read_text())
        harness.crawl(lock, self.folder / "again", self.folder / "other-data")
        self.assertEqual(harness.tree_hashes(self.folder / "again"), harness.tree_hashes(after))
        self.check_diff(before, after)

    def check_diff(self, before, after):
        head, *lines = map(json.loads, self.diff(before, after, "--json", expect=1).splitlines())
        self.assertFalse(head["same"])
        changes = {(c["change"], (c["b"] or c["a"])["path"]): c["reason"] for c in lines}
        self.assertEqual(changes, {
            ("went", "ops/scale.py"): "now rejected: opt_out", ("went", "ops/smooth.py"): "now rejected: opt_out",
            ("went", "user.py"): "now rejected: opt_out:module",
            ("fate", "copy.py"): "duplicate: renamed -> rejected: opt_out",
            ("fate", "lib/smooth.py"): "duplicate: exact -> rejected: opt_out"})
        self.assertEqual([s for s in head["settings"] if "opt_out" in s],
                         [f"+ opt_out[]: owner: {self.url.removeprefix('http://')}/Alice/",
                          "+ opt_out[]: repository: github.com/nobody/here"])
        self.assertEqual(head["stages"], [])
        text = self.diff(before, after, expect=1)
        self.assertRegex(text, r"went +3\n +2  now rejected: opt_out\n +1  now rejected: opt_out:module\n")
        self.assertIn("the same dataset", self.diff(after, self.folder / "again", expect=0))
        self.diff(after, self.folder / "alice", expect=2)

    def test_paths_and_hashes_take_effect_wherever_the_text_comes_from(self):
        bob = ("bob/copies",)
        all_rows = {r["path"]: r for r in harness.ledger(self.crawl("bob-alone", sources=bob))}
        out = self.crawl("hash", f"opt_out: [{{sha256: \"{all_rows['lib/smooth.py']['sha256']}\"}}]\n", sources=bob)
        self.assertEqual({p: f for p, f in self.fates(out).items() if f != "kept"},
                         {"bob/copies lib/smooth.py": "rejected opt_out", "bob/copies user.py": "rejected opt_out:module"})
        out = self.crawl("path", f"""\
            opt_out:
              - repository: {self.url}/bob/copies/
                path: "{{own,x}}.py"
            """, sources=bob)
        self.assertEqual({p: f for p, f in self.fates(out).items() if f != "kept"},
                         {"bob/copies own.py": "rejected opt_out"})

    def test_a_dataset_that_misses_a_gate_is_there_and_its_commands_end_with_1(self):
        missed = self.write_job("missed", "gates: {min_kept: 5, max_rejected: 0, max_unknown_license: 0}\n")
        passed = self.write_job("passed", "gates: {min_kept: 4, max_duplicate: 0.34}\n")
        line = "min_kept  4, but at least 5 is asked for\n"
        with harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start_worker("fetcher", allow=("--allow-private",))
            for role in ("extractor", "validator", "deduplicator"):
                cluster.start_worker(role)
            done = cluster.client("submit", missed, "--wait", "--out", self.folder / "missed", check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"gates      1 missed\n  {line}", done.stdout)
            job = cluster.jobs()[0]["job"]
            for command in (("watch", job), ("report", job), ("export", job, "--out", self.folder / "missed")):
                done = cluster.client(*command, check=False)
                self.assertEqual(done.returncode, 1, command)
                self.assertIn(line, done.stdout)
            done = cluster.client("submit", passed, "--wait", "--out", self.folder / "passed", check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = json.loads((self.folder / "missed/report.json").read_text())
        self.assertEqual(report["gates"], {
            "min_kept": {"bound": 5, "value": 4, "passed": False},
            "max_rejected": {"bound": 0.0, "value": 0.0, "passed": True},
            "max_unknown_license": {"bound": 0.0, "value": 0.0, "passed": True}})
        self.assertEqual(len((self.folder / "missed/kernels.jsonl").read_text().splitlines()), 4)
        done = harness.crawl(missed, self.folder / "crawled", self.folder / "data", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(line, done.stdout)
        self.assertNotIn("failures ", done.stdout)

    def test_what_names_nothing_is_refused_before_anything_runs(self):
        for more, what in (("opt_out: [{path: x.py}]", "opt_out[0]: must name a repository"),
                           ("opt_out: none.txt", "opt_out[0].list: "),
                           ("gates: {max_rejected: 1.5}", "gates.max_rejected: must be between 0 and 1")):
            done = harness.crawl(self.write_job("bad", more + "\n"), self.folder / "bad", self.folder / "data",
                                 check=False)
            self.assertEqual(done.returncode, 2, more)
            self.assertIn(what, done.stderr)


if __name__ == "__main__":
    unittest.main()
