"""A source with a history: changes of kernels through moves, reverts and licences, and what compilers make of both sides; other jobs are
as they were. Without installed toolchains nothing is compiled: tests/run.sh --toolchains."""

import hashlib
import json
import pathlib
import tempfile
import unittest

import harness
import row_schema

HEAD = "import triton\nimport triton.language as tl\n\n\n"
SCALE = """@triton.jit
def scale_kernel(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
"""
GONE = """

@triton.jit
def gone_kernel(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.exp(tl.load(x + i, mask=i < n)), mask=i < n)
"""
FIXED = SCALE.replace("tl.load(x + i, mask=i < n)", "tl.load(x + i, mask=i < n, other=0.0)")
FASTER = FIXED.replace("* 2", "* 2.0")
REFUSED = SCALE.replace("tl.load", "tl.laod")
BROKEN = FIXED.replace("tl.store", "tl.sotre")


class Repository(unittest.TestCase):
    """Its source is made commit by commit."""

    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.work = self.folder / "work"
        self.work.mkdir()
        harness.git("init", "-q", "-b", "main", cwd=self.work)
        self.commits = []

    def commit(self, files, message):
        for name, text in files.items():
            path = self.work / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        harness.git("add", "-A", cwd=self.work)
        harness.git("commit", "-q", "--allow-empty", "-m", message, cwd=self.work)
        self.commits.append(harness.git("rev-parse", "HEAD", cwd=self.work))

    def job(self, name, history="true", more="", extra=""):
        path = self.folder / f"{name}.yaml"
        path.write_text(f"name: history\n{more}sources:\n  - git: {self.work}\n    name: source\n    history: {history}\n{extra}")
        return path

    def rows(self, out):
        return [json.loads(line) for line in (out / "history.jsonl").read_text().splitlines()]


class History(Repository):
    def make_history(self):
        self.commit({"LICENSE": harness.MIT_TEXT, "lib/ops.py": HEAD + SCALE + GONE, "lib/unrelated.py": "A = 1\n"}, "start")
        self.commit({"lib/ops.py": HEAD + FIXED + GONE},
                    "Fix the mask of scale_kernel\n\nThanks to someone@example.org\nSigned-off-by: A Person <person@example.org>")
        self.commit({"lib/unrelated.py": "A = 2\n"}, "unrelated")
        self.commit({"lib/ops.py": None, "lib/kernels/scale.py": HEAD + FASTER + GONE},
                    "Speed up scale_kernel\n\n12.0 -> 8.7 ms on H100, 1.4x faster")
        self.commit({"lib/kernels/scale.py": HEAD + FIXED + GONE}, "Go back")
        self.commit({"lib/kernels/scale.py": HEAD + FIXED + GONE.replace("exp", "exp2")}, "[Feature] Take exp2")
        self.commit({"lib/kernels/scale.py": HEAD + FIXED}, "Remove gone_kernel")

    def test_changes_are_found_through_a_move_and_are_the_same_on_a_cluster_and_from_the_lock(self):
        self.make_history()
        out = self.folder / "out"
        ended = harness.crawl(self.job("asked"), out, self.folder / "data")
        self.assertIn("history    4 changes of 2 kernels in 4 of 7 commits of 1 source\n", ended.stdout)
        self.assertIn("kind         feature 1, fix 1, revert 1, speed 1\n", ended.stdout)
        self.assertIn("written      4 rows\n", ended.stdout)
        self.assertEqual(row_schema.problems(out), [])
        rows = self.rows(out)
        _, fix, _, speed, back, feature, _ = self.commits
        self.assertEqual(
            [(row["commit"], row["after"]["name"], row["match"], row["kind"]) for row in rows],
            [(feature, "gone_kernel", "same", "feature"), (back, "scale_kernel", "same", "revert"),
             (speed, "scale_kernel", "moved", "speed"), (fix, "scale_kernel", "same", "fix")])
        gone, reverting, reverted, fixing = rows
        self.assertEqual((reverting["reverts"], reverted["reverted_by"]), ([speed], [back]))
        self.assertEqual((reverted["before"]["path"], reverted["after"]["path"]), ("lib/ops.py", "lib/kernels/scale.py"))
        self.assertEqual([(claim["form"], claim["before"], claim["after"], claim["value"], claim["unit"], claim["hardware"])
                          for claim in reverted["claims"]],
                         [("before_after", 12.0, 8.7, None, "ms", ["H100"]), ("ratio", None, None, 1.4, "x", ["H100"])])
        self.assertEqual(fixing["before"]["source"], SCALE)
        self.assertEqual(fixing["after"]["source"], FIXED)
        self.assertIn("-    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)\n", fixing["diff"])
        self.assertIn("import triton", fixing["after"]["module"])
        self.assertEqual(fixing["message"], "Fix the mask of scale_kernel\n\nThanks to xxxxxxx@xxxxxxx.xxx")
        self.assertEqual({row["license"] for row in rows} | {row["license_files"] for row in rows}, {"MIT", "same"})
        # One lineage for the kernel that is there, and one of its own for the one that is gone.
        kernels = {row["name"]: row["id"] for row in harness.rows_of(out, "kernels")}
        self.assertEqual({row["kernel_id"] for row in rows[1:]}, {kernels["scale_kernel"]})
        self.assertEqual(len({row["lineage"] for row in rows[1:]}), 1)
        self.assertIsNone(gone["kernel_id"])
        self.assertNotEqual(gone["lineage"], fixing["lineage"])
        report = json.loads((out / "report.json").read_text())["history"]
        source, = report["sources"]
        self.assertEqual((source["commits"], source["end"], source["commits_with_kernels"], source["rows"]), (7, "root", 6, 4))
        self.assertEqual([row["commit_kernels"] for row in rows], [1, 1, 1, 1])

        # A change that was undone gives no conversation, nor does the one that undoes it.
        asked = [row for row in harness.rows_of(out, "instruct") if row["change_id"]]
        self.assertEqual([(row["template"], row["change_id"]) for row in asked],
                         [("review", gone["change_id"]), ("repair", fixing["change_id"]), ("review", fixing["change_id"])])
        _, repair, review = asked
        self.assertEqual((asked[0]["id"], repair["id"]), (None, kernels["scale_kernel"]))
        question, answer = (message["content"] for message in repair["messages"][1:])
        self.assertIn(fixing["before"]["module"], question)
        self.assertIn("Fix the mask of scale_kernel", question)
        self.assertNotIn("other=0.0", question)
        self.assertEqual(answer, f"```python\n{FIXED}```")
        self.assertEqual(review["messages"][2]["content"], "Fix the mask of scale_kernel\n\nThanks to xxxxxxx@xxxxxxx.xxx")

        again = self.folder / "again"
        harness.crawl(out / "job.lock.yaml", again, self.folder / "other-data")
        self.assertEqual(harness.tree_hashes(again), harness.tree_hashes(out))
        with harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start_workers()
            there = self.folder / "there"
            cluster.client("submit", self.job("asked"), "--out", there)
        self.assertEqual(harness.tree_hashes(there), harness.tree_hashes(out))

    def test_depth_since_and_paths_bound_the_walk(self):
        self.make_history()
        out = self.folder / "out"
        harness.crawl(self.job("two", "{depth: 3}"), out, self.folder / "data")
        self.assertEqual([row["commit"] for row in self.rows(out)], [self.commits[5], self.commits[4]])
        harness.crawl(self.job("none", "{paths: ['elsewhere/**']}"), out, self.folder / "data")
        self.assertFalse((out / "history.jsonl").exists())
        ended = harness.crawl(self.job("later", "{since: '2100-01-01'}"), out, self.folder / "data")
        self.assertFalse((out / "history.jsonl").exists())
        report = json.loads((out / "report.json").read_text())
        source, = report["history"]["sources"]
        self.assertEqual((source["commits"], source["end"]), (0, "since"))
        unmatched, = (one for one in report["unmatched"] if one["what"] == "history")
        self.assertEqual((unmatched["where"], unmatched["asked"]), ("sources[0].history", "2100-01-01"))
        self.assertIn('sources[0].history  source: "2100-01-01" has no change of a kernel in 0 commits', ended.stdout)

    def test_a_change_is_withheld_where_a_kernel_would_be(self):
        self.commit({"lib/ops.py": HEAD + SCALE}, "before there was a licence")
        self.commit({"lib/ops.py": HEAD + FASTER}, "still none")
        self.commit({"LICENSE": harness.MIT_TEXT, "lib/ops.py": HEAD + FIXED}, "with a licence")

        def withheld(name, **more):
            out = self.folder / f"out-{name}"  # a job that keeps no kernel replaces no dataset
            harness.crawl(self.job(name, **more), out, self.folder / "data", check=False)
            report = json.loads((out / "report.json").read_text())["history"]
            return report["rows"], report["withheld"]

        self.assertEqual(withheld("plain"), (1, {"license_files": 1}))
        self.assertEqual(withheld("named", more="opt_out:\n  - path: lib/**\n    repository: source\n"), (0, {"opt_out": 2}))
        harness.write_files(self.folder / "held", {"LICENSE": harness.MIT_TEXT, "other.py": HEAD + FIXED})
        holdout = f"  - path: {self.folder / 'held'}\n    name: held\n    role: holdout\n"
        self.assertEqual(withheld("held", extra=holdout), (0, {"contaminated": 2}))

    def test_a_job_that_does_not_ask_has_no_stage_and_no_row(self):
        self.make_history()
        out = self.folder / "out"
        harness.crawl(self.job("plain", "false"), out, self.folder / "data")
        report = json.loads((out / "report.json").read_text())
        self.assertNotIn("history", report["stages"])
        self.assertIsNone(report["history"])
        self.assertFalse((out / "history.jsonl").exists())


def helper(factor):
    return f"import triton\n\n\n@triton.jit\ndef grow(x):\n    return x * {factor}\n"


class Imports(Repository):
    """A version is linked from the files of its commit."""

    def test_a_version_has_the_helpers_of_its_commit_wherever_it_is_made(self):
        user = HEAD + "from lib.helpers import grow\n\n\n" + SCALE.replace("* 2", "* grow(2)")
        self.commit({"LICENSE": harness.MIT_TEXT, "lib/__init__.py": "", "lib/helpers.py": helper(3), "lib/host.py": "A = 1\n",
                     "lib/ops.py": user}, "start")
        self.commit({"lib/helpers.py": helper(5)}, "Change the helper alone")
        self.commit({"lib/ops.py": user.replace("grow(2)", "grow(4)")}, "Take 4")
        self.commit({"lib/helpers.py": None, "lib/tools.py": helper(7),
                     "lib/ops.py": user.replace("grow(2)", "grow(6)").replace("lib.helpers", "lib.tools")}, "Move the helper")
        out = self.folder / "out"
        harness.crawl(self.job("asked"), out, self.folder / "data")
        self.assertEqual(row_schema.problems(out), [])
        newer, older = (row for row in self.rows(out) if row["after"]["name"] == "scale_kernel")
        sides = [older["before"], older["after"], newer["before"], newer["after"]]
        for side, factor in zip(sides, (5, 5, 5, 7)):
            self.assertIn(f"return x * {factor}\n", side["module"])
            self.assertIn(side["source"], side["module"])
        self.assertEqual([piece["path"] for piece in sides[2]["pieces"] if "ops" not in piece["path"]], ["lib/helpers.py"])
        self.assertEqual([piece["path"] for piece in sides[3]["pieces"] if "ops" not in piece["path"]], ["lib/tools.py"])

        harness.crawl(self.job("asked"), self.folder / "one", self.folder / "one-data", "--workers", "1")
        harness.crawl(self.job("asked"), self.folder / "again", self.folder / "data")
        harness.crawl(out / "job.lock.yaml", self.folder / "lock", self.folder / "lock-data")
        with harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start_workers()
            cluster.client("submit", self.job("asked"), "--out", self.folder / "there")
        for other in ("one", "again", "lock", "there"):
            self.assertEqual(harness.tree_hashes(self.folder / other), harness.tree_hashes(out), other)


COMPILE = "compile: {toolchains: [triton-3.9.0], targets: ['cuda:90'], keep: [ttir]}\n"


class CompiledHistory(Repository):
    def setUp(self):
        self.toolchains, why = harness.installed_toolchains()
        if why:
            self.skipTest(f"nothing is compiled here: {why}")
        super().setUp()
        for text, message in ((REFUSED, "start"), (SCALE, "Fix the name of the function that loads"), (FIXED, "Take zeros beyond the end"),
                              (BROKEN, "Speed up the store of the tail"), (FIXED, "Go back")):
            self.commit({"LICENSE": harness.MIT_TEXT, "lib/ops.py": HEAD + text}, message)

    def crawl(self, name, *flags, data="data", **more):
        out = self.folder / name
        return harness.crawl(self.job(name, more=COMPILE, **more), out, self.folder / data, *flags, timeout=900), out

    def test_both_sides_are_compiled_and_an_error_that_goes_is_a_repair(self):
        ended, out = self.crawl("out")
        self.assertIn("compiled     4 judged; repairs 2, breaks 1\n", ended.stdout)
        self.assertEqual(row_schema.problems(out), [])
        rows = self.rows(out)
        self.assertEqual([(row["kind"], row["repair"], row["breaks"]) for row in rows],
                         [("revert", True, False), ("speed", False, True), ("fix", False, False), ("fix", True, False)])
        _, broken, unchanged, repair = rows
        turn, = repair["turns"]
        self.assertEqual((turn["toolchain"], turn["target"], turn["before"], turn["after"], turn["stage"]),
                         ("triton-3.9.0", "cuda:90", "error", "ok", "frontend"))
        self.assertIn("laod", turn["message"])
        self.assertIn("tl.laod", repair["before"]["module"].splitlines()[turn["line"] - 1])
        self.assertEqual([turn["after"] for turn in broken["turns"]], ["error"])
        self.assertEqual(unchanged["turns"], [])
        kernel, = harness.rows_of(out, "kernels")
        self.assertEqual(unchanged["after"]["compile"], kernel["compile"], "the same text as the kernel's")
        self.assertEqual(len(harness.rows_of(out, "ir")), 1, "no form of a version is kept")
        compiled = json.loads((out / "report.json").read_text())["history"]["compile"]
        self.assertEqual(compiled, {"versions": 4, "judged": 4, "repairs": {"fix": 1, "revert": 1}, "breaks": {"speed": 1}})
        asked = {row["template"]: row["messages"] for row in harness.rows_of(out, "instruct") if row["change_id"] == repair["change_id"]}
        self.assertIn("does not compile", asked["repair"][1]["content"])
        self.assertIn(turn["message"], asked["repair"][1]["content"])
        self.assertIn("tl.load(", asked["repair"][2]["content"])
        self.assertNotIn("optimise", {row["template"] for row in harness.rows_of(out, "instruct") if row["change_id"]})

        self.crawl("one", "--workers", "1", data="one-data")
        self.crawl("again")
        with harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start_workers(each=2, toolchains=self.toolchains)
            cluster.client("submit", self.job("out", more=COMPILE), "--wait", "--out", self.folder / "two", timeout=900)
        for other in ("one", "again", "two"):
            self.assertEqual(harness.tree_hashes(self.folder / other), harness.tree_hashes(out), other)

    def test_a_version_that_does_not_get_out_has_no_outcome(self):
        opted_out = "opt_out:\n  - sha256: " + hashlib.sha256(REFUSED.encode()).hexdigest() + "\n    repository: source\n"
        out = self.folder / "less"
        harness.crawl(self.job("less", more=COMPILE + opted_out), out, self.folder / "data", timeout=900)
        report = json.loads((out / "report.json").read_text())["history"]
        self.assertEqual((report["withheld"], report["compile"]["repairs"]), ({"opt_out": 1}, {"revert": 1}))
        for path in out.rglob("*"):
            if path.is_file():
                self.assertNotIn(b"laod", path.read_bytes(), path)


if __name__ == "__main__":
    unittest.main()
