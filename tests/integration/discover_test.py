"""Jobs whose repositories are found by a search, or come from a list: the same dataset as if the job named
them one by one."""

import contextlib
import pathlib
import tempfile
import time
import unittest

import github_stub
import harness

TOKEN = "a-token-that-nobody-may-see"


class DiscoverTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.folder = pathlib.Path(cls.stack.enter_context(tempfile.TemporaryDirectory()))
        (cls.folder / "git").mkdir()
        cls.token_file = cls.folder / "token"
        cls.token_file.write_text(TOKEN + "\n")
        harness.make_repository(harness.DEMO_SOURCES, cls.folder / "git/demo.git")
        for name, files in (("few", 3), ("many", 30)):
            harness.write_many_kernels(cls.folder / name, files, 2)
            harness.make_repository(cls.folder / name, cls.folder / f"git/{name}.git")
        cls.git = cls.stack.enter_context(harness.git_server(cls.folder / "git"))
        cls.urls = {name: f"{cls.git.url}/{name}.git" for name in ("demo", "few", "many")}
        cls.named = cls.crawl("named", "".join(
            f"  - git: {cls.urls[name]}\n    category: found\n    tier: 2\n" for name in ("demo", "few", "many")))

    @classmethod
    def job(cls, name, sources):
        path = cls.folder / f"{name}.yaml"
        path.write_text("name: discovered\nsources:\n" + sources)
        return path

    @classmethod
    def crawl(cls, name, sources, *flags, data=None, check=True):
        out = cls.folder / f"{name}-out"
        cls.done = harness.crawl(cls.job(name, sources), out, cls.folder / (data or f"{name}-data"), *flags,
                                 check=check)
        return out

    def api(self):
        """The stub, with the three repositories and others that no search here may take."""
        wanted = {"topics": ["triton"], "readme": "uses triton", "code": "@triton.jit"}
        repositories = [github_stub.repository(f"us/{name}", url, 100 + i, **wanted)
                        for i, (name, url) in enumerate(self.urls.items())]
        nowhere = f"{self.git.url}/nowhere.git"
        repositories += [
            github_stub.repository("us/small", nowhere, 99, **wanted),
            github_stub.repository("us/archived", nowhere, 500, archived=True, **wanted),
            github_stub.repository("us/fork", nowhere, 500, fork=True, **wanted),
            github_stub.repository("us/other", nowhere, 500, readme="another language"),
        ]
        return github_stub.github(repositories, token=TOKEN)

    def flags(self, api):
        return ["--github-api", api.url, "--github-token-file", self.token_file]

    @staticmethod
    def discover(conditions):
        return f"  - discover: {{{conditions}}}\n    category: found\n    tier: 2\n"

    def assert_as_named(self, out):
        self.assertEqual(harness.dataset_digest(out), harness.dataset_digest(self.named))
        self.assertEqual(harness.tree_hashes(out), harness.tree_hashes(self.named))

    # -- searches

    def test_what_a_search_finds_is_as_if_the_job_named_it(self):
        searches = {"topic": "topics: [triton]", "readme": "readme: [triton]", "code": "code: triton.jit",
                    "all": "topics: [triton], readme: [uses], code: triton.jit, min_stars: 100, limit: 3"}
        for name, conditions in searches.items():
            with self.subTest(name), self.api() as api:
                out = self.crawl(name, self.discover(conditions), *self.flags(api))
                self.assert_as_named(out)
                self.assertNotIn(TOKEN, self.done.stdout + self.done.stderr)

    def test_a_second_run_is_answered_from_what_is_kept(self):
        with self.api() as api:
            for _ in range(2):
                out = self.crawl("again", self.discover("topics: [triton]"), *self.flags(api))
                self.assert_as_named(out)
            self.assertEqual(len(api.asked), 2)
            self.assertEqual(api.not_modified, 1)

    def test_a_limit_takes_those_with_the_most_stars(self):
        with self.api() as api:
            out = self.crawl("limit", self.discover("topics: [triton], limit: 1"), *self.flags(api))
        self.assertEqual({r["repository"] for r in harness.ledger(out)}, {self.urls["many"]})

    def test_the_lock_file_needs_no_search(self):
        with self.api() as api:
            out = self.crawl("locked", self.discover("topics: [triton]"), *self.flags(api))
        again = self.folder / "locked-again"
        harness.crawl(out / "job.lock.yaml", again, self.folder / "locked-again-data")
        self.assert_as_named(again)

    def test_a_rate_limit_is_waited_for(self):
        with self.api() as api:
            reset = [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", str(int(time.time()) + 1))]
            api.refusals = [(403, {"message": "API rate limit exceeded"}, reset)]
            out = self.crawl("limited", self.discover("topics: [triton]"), *self.flags(api))
            self.assert_as_named(out)
            self.assertEqual(len(api.asked), 2)

    def test_a_cluster_finds_the_same(self):
        with self.api() as api, harness.Cluster(self.folder / "cluster") as cluster:
            cluster.start("fetcher", *cluster.addresses(), "--allow-private", *self.flags(api))
            for role in ("extractor", "validator", "deduplicator"):
                cluster.start_worker(role)
            out = self.folder / "cluster-out"
            cluster.client("submit", self.job("cluster", self.discover("topics: [triton]")), "--wait", "--out", out)
            self.assert_as_named(out)
            for log in (self.folder / "cluster").glob("*.log"):
                self.assertNotIn(TOKEN, log.read_text())

    def test_a_search_that_is_refused_fails_alone_and_is_listed(self):
        with self.api() as api:
            wrong = self.folder / "wrong-token"
            wrong.write_text("another")
            out = self.crawl("refused", f"  - git: {self.urls['few']}\n" + self.discover("topics: [triton]"),
                             "--github-api", api.url, "--github-token-file", wrong, check=False)
        self.assertEqual(self.done.returncode, 1, self.done.stderr)
        self.assertIn("Bad credentials", (out / "report.json").read_text())
        self.assertEqual({r["repository"] for r in harness.ledger(out)}, {self.urls["few"]})

    # -- lists

    def test_what_a_list_names_is_as_if_the_job_named_it(self):
        rows = list(self.urls.values())
        lists = {"l.txt": "# ours\n" + "\n".join(rows + rows[:1]) + "\n",
                 "l.csv": "stars,url\n" + "".join(f'1,"{url}"\n' for url in rows),
                 "l.jsonl": f'"{rows[0]}"\n' + "".join(f'{{"git": "{url}"}}\n' for url in rows[1:])}
        for name, text in lists.items():
            with self.subTest(name):
                (self.folder / name).write_text(text)
                out = self.crawl(name, f"  - list: {name}\n    category: found\n    tier: 2\n")
                self.assert_as_named(out)

    def test_a_wrong_list_exits_2_and_names_file_and_line(self):
        (self.folder / "bad.txt").write_text("# ours\nkernels\n")
        self.crawl("bad-list", "  - list: bad.txt\n", check=False)
        self.assertEqual(self.done.returncode, 2, self.done.stderr)
        self.assertIn("bad.txt:2: ", self.done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
