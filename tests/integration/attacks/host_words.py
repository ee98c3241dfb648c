"""Hosts that do not serve what a job asks for, and what the job says: whether the repository is private, empty, or none at all."""

import contextlib
import json
import pathlib
import tempfile
import unittest

import harness
import hostile_servers
from hostile_repositories import SOMEBODY, RawRepository, kernel


class Words(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.folder = pathlib.Path(cls.stack.enter_context(tempfile.TemporaryDirectory()))
        (cls.folder / "git").mkdir()
        cls.repository = RawRepository(cls.folder / "git/a.git")
        cls.first = cls.repository.commit(cls.repository.files({b"a.py": kernel("a")}))
        cls.tree = cls.repository.files({b"b.py": kernel("b")})
        second = cls.repository.write(b"commit", b"tree %s\nparent %s\nauthor %s\ncommitter %s\n\nsecond\n" %
                                      (cls.tree.encode(), cls.first.encode(), SOMEBODY, SOMEBODY))
        (cls.repository.path / "refs/heads/main").write_text(second + "\n")
        cls.empty = RawRepository(cls.folder / "git/empty.git")
        (cls.repository.path / "refs/tags").mkdir(parents=True, exist_ok=True)
        (cls.repository.path / "refs/tags/a-tree").write_text(cls.tree + "\n")
        config = cls.repository.path / "config"
        config.write_text(config.read_text().replace("true\n\tallowAny", "false\n\tallowAny").replace("InWant = true", "InWant = false"))
        cls.git = cls.stack.enter_context(hostile_servers.faulty_git_server(cls.folder / "git"))

    def crawl(self, url, **keys):
        """Crawls the repository at the server's `url`; returns the failures and the output folder."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        lines = "".join(f"    {key}: {json.dumps(value)}\n" for key, value in keys.items())
        (folder / "job.yaml").write_text(f"name: words\nsources:\n  - git: {self.git.url}/{url}\n    name: a\n{lines}")
        done = harness.run(harness.BIN / "kernelmill", "crawl", folder / "job.yaml", "--out", folder / "out", "--data",
                           folder / "data", "--allow-failed", check=False, timeout=120)
        report = folder / "out/report.json"
        self.assertTrue(report.exists(), done.stderr)
        return json.loads(report.read_text())["failures"], folder / "out"

    def says(self, url, code, words, **keys):
        failures, _ = self.crawl(url, **keys)
        print(failures[0]["code"], failures[0]["message"], flush=True)
        self.assertEqual((len(failures), failures[0]["code"]), (1, code), failures)
        self.assertIn(words, failures[0]["message"])

    def test_a_commit_of_a_server_of_an_older_protocol_is_found_on_its_branches(self):
        failures, out = self.crawl("old/a.git", ref=self.first)
        self.assertEqual(failures, [])
        self.assertEqual([row["path"] for row in harness.ledger(out)], ["a.py"])

    def test_a_commit_that_is_on_no_branch_is_named(self):
        self.says("old/a.git", "NOT_FOUND", "is on no branch or tag", ref="1" * 40)

    def test_a_redirect_to_a_sign_in_page(self):
        self.says("signin/a.git", "PERMISSION_DENIED", "redirects to a sign-in page: the repository is private or does not exist")

    def test_a_web_page_in_place_of_a_repository(self):
        self.says("page/a.git", "FAILED_PRECONDITION", "answers with a web page, perhaps for signing in")

    def test_an_empty_repository(self):
        self.says("empty.git", "NOT_FOUND", "the repository is empty")

    def test_a_ref_that_names_a_tree(self):
        self.says("a.git", "FAILED_PRECONDITION", "is a tree, not a commit", ref="a-tree")


if __name__ == "__main__":
    unittest.main(verbosity=2)
