"""Whole jobs on real gRPC: the same dataset whatever the workers, the wiring, the cache and the crashes,
and every kind of bad input answered as promised."""

import contextlib
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import textwrap
import threading
import time
import unittest

import harness
import row_schema

MANY_FILES, FUNCTIONS = 260, 4


class Sources:
    """The sources of these tests, made once: a git repository, a wheel and a local tree."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "git").mkdir()
        (self.folder / "wheels").mkdir()
        harness.make_repository(harness.DEMO_SOURCES, self.folder / "git/demo.git")
        harness.make_repository(harness.DEMO_SOURCES, self.folder / "git/unfiltered.git", filters=False)
        harness.write_many_kernels(self.folder / "many", MANY_FILES, FUNCTIONS)
        harness.make_repository(self.folder / "many", self.folder / "git/many.git")
        demo = {f"demo_kernels/{p.name}": p.read_text() for p in harness.DEMO_SOURCES.glob("**/vector_add.py")}
        assert demo, "tests/data/kernels-repo has no vector_add.py"
        self.wheel = harness.make_wheel(self.folder / "wheels", "demo-kernels", "1.0", demo)


class WholeJob(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.folder = pathlib.Path(cls.stack.enter_context(tempfile.TemporaryDirectory()))
        cls.sources = Sources(cls.folder)
        cls.git = cls.stack.enter_context(harness.git_server(cls.folder / "git"))
        cls.index = cls.stack.enter_context(harness.package_index(cls.folder / "wheels"))
        cls.index_url = cls.index.url + "/simple"
        cls.job = cls.write_job("job.yaml", f"""
            name: whole-job
            sources:
              - git: {cls.git.url}/demo.git
                name: demo
                url: https://github.com/example/demo
                ref: main
                category: demo
              - git: {cls.git.url}/many.git
                name: many
                category: made
                weight: 2.5
              - package: demo-kernels==1.0
                category: wheel
                tier: 2
              - path: ./many
                name: many-again
                include: ["kernels_0000*.py"]
                tier: 3
            """)
        cls.reference = cls.folder / "reference"
        harness.crawl(cls.job, cls.reference, cls.folder / "reference-data", "--workers", "1",
                      index_url=cls.index_url)

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    @classmethod
    def write_job(cls, name, text):
        path = cls.folder / name
        path.write_text(textwrap.dedent(text).lstrip())
        return path

    def assert_same_dataset(self, out):
        self.assertEqual(harness.dataset_digest(out), harness.dataset_digest(self.reference))
        ours, theirs = harness.tree_hashes(out), harness.tree_hashes(self.reference)
        self.assertEqual(ours, theirs)

    # -- the same dataset

    def test_found_what_was_written(self):
        rows = harness.ledger(self.reference)
        many = [r for r in rows if r["repository"] == "many"]
        self.assertEqual(len(many), MANY_FILES * FUNCTIONS)
        self.assertTrue(any(r["fate"] == "duplicate" for r in rows if r["repository"] == "many-again"))
        self.assertTrue(any(r["fate"] == "rejected" and r["reason"].startswith("license:") for r in rows))
        self.assertEqual({r["fate"] for r in rows} - {"kept", "rejected", "duplicate", "contaminated"}, set())

    def test_every_row_is_as_its_schema_says(self):
        self.assertEqual(row_schema.problems(self.reference), [])

    def test_a_record_has_its_own_bytes(self):
        with open(self.reference / "kernels.jsonl", encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        rows = {r["id"]: r for r in harness.ledger(self.reference)}
        kept = {i for i, r in rows.items() if r["fate"] == "kept"}
        self.assertEqual({r["id"] for r in records}, kept)
        for record in records:
            text = record["source"].encode()
            self.assertEqual(hashlib.sha256(text).hexdigest(), record["sha256"])
            self.assertEqual(text.count(b"\n"), record["last_line"] - record["first_line"] + 1, record["path"])
            self.assertEqual(record["cluster"], record["id"])
            for other in record["duplicates"]:
                self.assertEqual((rows[other]["fate"], rows[other]["of"]), ("duplicate", record["id"]))
        stood_for = [d for r in records for d in r["duplicates"]]
        self.assertEqual(sorted(stood_for), sorted(i for i, r in rows.items() if r["fate"] == "duplicate"))

    def test_a_row_links_to_its_lines_where_the_job_says_where_the_source_is(self):
        for row in harness.ledger(self.reference):
            if row["repository"] != "demo":
                self.assertEqual((row["repository_url"], row["url"]), (None, None))
                continue
            self.assertEqual(row["repository_url"], "https://github.com/example/demo")
            self.assertEqual(row["url"], f"{row['repository_url']}/blob/{row['commit']}/{row['path']}"
                                         f"#L{row['first_line']}-L{row['last_line']}")

    def test_four_workers_give_the_same_dataset(self):
        out = self.folder / "four"
        harness.crawl(self.job, out, self.folder / "four-data", "--workers", "4", index_url=self.index_url)
        self.assert_same_dataset(out)

    def test_relative_folders_within_another_repository(self):
        """As the quick start runs: git must not take the repository around its own folder for it."""
        around = self.folder / "around"
        around.mkdir()
        harness.git("init", "-q", cwd=around)
        harness.crawl(self.job, "out/dataset", "out/data", index_url=self.index_url, cwd=around)
        self.assert_same_dataset(around / "out/dataset")

    def test_a_second_run_does_no_stage_work(self):
        out = self.folder / "warm"
        data = self.folder / "warm-data"
        for _ in range(2):
            done = harness.crawl(self.job, out, data, "--json", index_url=self.index_url)
        self.assert_same_dataset(out)
        status = harness.last_status(done.stdout + done.stderr)
        for stage in status["stages"]:
            if stage["stage"] != "pin":
                self.assertEqual(stage.get("cached"), stage.get("done"), stage)

    def test_seven_processes_give_the_same_dataset(self):
        with harness.Cluster(self.folder / "seven", self.index_url) as cluster:
            cluster.start_workers(each=2)
            out = self.folder / "seven-out"
            cluster.client("submit", self.job, "--wait", "--out", out)
            self.assert_same_dataset(out)
            job = cluster.jobs()[0]["job"]
            again = self.folder / "seven-exported"
            cluster.client("export", job, "--out", again)
            self.assert_same_dataset(again)
            statuses = [p.stop() for p in cluster.processes[::-1]]
            self.assertEqual(set(statuses), {0}, "a process did not drain cleanly on SIGTERM")

    @unittest.skipUnless(harness.BazelRemote.PROGRAM.exists(),
                         "no bazel-remote: tests/peers/install_bazel_remote.sh installs it")
    def test_bazel_remote_as_the_store_gives_the_same_dataset(self):
        with harness.Cluster(self.folder / "peer", self.index_url, store=harness.BazelRemote) as cluster:
            cluster.start_workers()
            for out in (self.folder / "peer-out", self.folder / "peer-again"):
                done = cluster.client("submit", self.job, "--wait", "--json", "--out", out)
                self.assert_same_dataset(out)
            # The second job's results came from bazel-remote's action cache.
            for stage in harness.last_status(done.stdout + done.stderr)["stages"]:
                if stage["stage"] != "pin":
                    self.assertEqual(stage.get("cached"), stage.get("done"), stage)

    def test_killed_workers_do_not_change_the_dataset(self):
        with harness.Cluster(self.folder / "killed", self.index_url, lease_ttl=1) as cluster:
            for role in ("fetcher", "validator", "deduplicator"):
                cluster.start_worker(role)
            out = self.folder / "killed-out"
            waiter = threading.Thread(target=lambda: cluster.client("submit", self.job, "--wait", "--out", out))
            waiter.start()
            harness.wait_until(lambda: stage_total(cluster, "extract") > 3, "shards to extract")
            # Stopped the moment it holds leases, then killed: its tasks are in its hands, not done.
            victim = cluster.start_worker("extractor")
            harness.wait_until(lambda: stage_of(cluster, "extract").get("running"), "a lease", pause=0.001)
            victim.kill(signal.SIGKILL)
            cluster.start_worker("extractor")
            waiter.join(120)
            self.assertFalse(waiter.is_alive(), "the job did not end")
            self.assert_same_dataset(out)
            metrics = cluster.coordinator.metrics()
            leases = harness.metric(metrics, "kernelmill_coordinator_leases_total")
            completions = harness.metric(metrics, "kernelmill_coordinator_completions_total")
            self.assertGreater(leases, completions, "the worker held no lease when it was killed")

    def test_kill_9_of_a_crawl_leaves_nothing_half_written(self):
        out, data = self.folder / "half", self.folder / "half-data"
        for delay in (0.15, 0.4):
            victim = subprocess.Popen([harness.BIN / "kernelmill", "crawl", self.job, "--out", out, "--data", data],
                                      env=dict(os.environ, PIP_INDEX_URL=self.index_url),
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            victim.kill()
            victim.wait()
            if out.exists():  # it was quicker than the kill: then it is whole
                self.assert_same_dataset(out)
        harness.crawl(self.job, out, data, index_url=self.index_url)
        self.assert_same_dataset(out)

    def test_a_crawl_killed_in_the_middle_goes_on_with_what_it_had(self):
        out, data = self.folder / "middle", self.folder / "middle-data"
        victim = subprocess.Popen([harness.BIN / "kernelmill", "crawl", self.job, "--out", out, "--data", data, "--json",
                                   "--workers", "1"], env=dict(os.environ, PIP_INDEX_URL=self.index_url),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        done = {}
        for line in victim.stderr:
            with contextlib.suppress(AssertionError):
                done = {stage["stage"]: int(stage["done"]) for stage in harness.last_status(line)["stages"]}
            if done.get("extract", 0) >= 2:
                break
        victim.kill()
        victim.wait()
        victim.stderr.close()
        self.assertGreaterEqual(done["extract"], 2)
        self.assertFalse(out.exists(), "the crawl was over before the kill")
        again = harness.crawl(self.job, out, data, "--json", index_url=self.index_url)
        self.assert_same_dataset(out)
        cached = {stage["stage"]: int(stage["cached"]) for stage in harness.last_status(again.stdout + again.stderr)["stages"]}
        for stage in ("fetch", "extract"):
            self.assertGreaterEqual(cached[stage], done[stage], "finished work was done again")

    def test_the_lock_file_gives_the_same_dataset(self):
        out = self.folder / "locked"
        harness.crawl(self.reference / "job.lock.yaml", out, self.folder / "locked-data", index_url=self.index_url)
        self.assert_same_dataset(out)

    def test_the_way_that_a_repository_came_does_not_change_the_dataset(self):
        urls = {"http": f"{self.git.url}/demo.git", "unfiltered": f"{self.git.url}/unfiltered.git",
                "file": f"file://{self.folder}/git/demo.git", "path": self.folder / "git/demo.git"}
        digests = {}
        for way, url in urls.items():
            job = self.write_job(f"{way}.yaml", f"name: way\nsources:\n  - git: {url}\n    name: demo\n")
            harness.crawl(job, self.folder / way, self.folder / f"{way}-data")
            digests[way] = harness.dataset_digest(self.folder / way)
        self.assertEqual(len(set(digests.values())), 1, digests)

    # -- bad input

    def test_a_wrong_job_file_exits_2_and_names_file_line_and_key(self):
        cases = {
            "unknown key": ("name: x\nsources:\n  - git: https://example.org/a\n    brunch: main\n", "4", "brunch"),
            "wrong type": ("name: x\nsources:\n  - path: .\n    tier: many\n", "4", "tier"),
            "no sources": ("name: x\nsources: []\n", "2", "sources"),
        }
        for what, (text, line, key) in cases.items():
            with self.subTest(what):
                job = self.folder / "bad.yaml"
                job.write_text(text)
                done = harness.crawl(job, self.folder / "bad-out", self.folder / "bad-data", check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                message = done.stderr.strip()
                self.assertEqual(len(message.splitlines()), 1, message)
                for part in ("bad.yaml", f":{line}", key):
                    self.assertIn(part, message)

    def test_a_missing_job_file_exits_2(self):
        done = harness.crawl(self.folder / "none.yaml", self.folder / "o", self.folder / "d", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("none.yaml", done.stderr)

    def test_sources_that_fail_are_listed_and_the_others_go_on(self):
        job = self.write_job("partly.yaml", f"""
            name: partly
            sources:
              - git: {self.git.url}/demo.git
                name: demo
              - git: {self.git.url}/no-such.git
              - git: {self.git.url}/demo.git
                name: unknown-ref
                ref: no-such-branch
              - package: demo-kernels==1.0
                name: wrong-hash
                sha256: "{'0' * 64}"
              - package: demo-kernels==9.9
              - git: "ext::sh -c touch% /tmp/owned"
            """)
        out = self.folder / "partly"
        done = harness.crawl(job, out, self.folder / "partly-data", index_url=self.index_url, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        report = json.loads((out / "report.json").read_text())
        failed = {f["source"]: f["code"] for f in report["failures"]}
        self.assertEqual(set(failed), {f"{self.git.url}/no-such.git", "unknown-ref", "wrong-hash",
                                       "demo-kernels==9.9", "ext::sh -c touch% /tmp/owned"})
        self.assertEqual(failed["unknown-ref"], "NOT_FOUND")
        self.assertEqual({r["repository"] for r in harness.ledger(out)}, {"demo"})

    def test_an_unreachable_cluster_exits_3(self):
        port = harness.free_port()
        done = harness.run(harness.BIN / "kernelmill", "jobs", "--coordinator", f"127.0.0.1:{port}",
                           check=False, timeout=120)
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_an_export_into_a_foreign_folder_is_refused(self):
        foreign = self.folder / "foreign"
        foreign.mkdir()
        (foreign / "thesis.tex").write_text("precious")
        done = harness.crawl(self.job, foreign, self.folder / "reference-data", index_url=self.index_url, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual((foreign / "thesis.tex").read_text(), "precious")


def stage_of(cluster, stage):
    jobs = cluster.jobs()
    for row in (jobs[0].get("stages", []) if jobs else []):
        if row["stage"] == stage:
            return {k: int(v) if str(v).isdigit() else v for k, v in row.items()}
    return {}


def stage_total(cluster, stage):
    return stage_of(cluster, stage).get("total", 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
