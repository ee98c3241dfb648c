"""Sources that would tell what they must not: files of the fetcher's machine, passwords."""

import pathlib
import tempfile
import unittest

import harness


class Sources(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        for name in ("open", "closed"):
            harness.write_many_kernels(cls.folder / name, 2, 2)
        (cls.folder / "open/way-out").symlink_to(cls.folder / "closed")
        cls.cluster = harness.Cluster(cls.folder / "cluster")
        cls.addClassCleanup(cls.cluster.__exit__)
        for role in cls.cluster.WORKERS:
            cls.cluster.start_worker(role, allow=("--allow-local", cls.folder / "open"))

    def submit(self, name, source, code):
        job = self.folder / f"{name}.yaml"
        job.write_text(f"name: {name}\nsources:\n  - {source}\n")
        done = self.cluster.client("submit", job, "--out", self.folder / f"out-{name}", check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_only_named_folders_are_read_whatever_links_lead_out_of_them(self):
        self.submit("named", f"path: {self.folder / 'open'}", code=0)
        for name, path in (("other", self.folder / "closed"), ("link", self.folder / "open/way-out"),
                           ("climb", self.folder / "open/../closed"), ("system", "/etc")):
            said = self.submit(name, f"path: {path}", code=1)
            self.assertIn("allow-local", said.stdout + said.stderr)

    def test_a_password_in_a_url_is_refused_before_anything_is_kept(self):
        before = self.cluster.jobs()
        said = self.submit("secret", "git: https://me:hunter2@git.example/a.git", code=2)
        self.assertNotIn("hunter2", said.stdout + said.stderr)
        self.assertEqual(self.cluster.jobs(), before)
        self.assertNotIn("hunter2", self.cluster.coordinator.log.read_text())
        kept = b"".join(path.read_bytes() for path in (self.folder / "cluster/coordinator").rglob("*") if path.is_file())
        self.assertNotIn(b"hunter2", kept)


if __name__ == "__main__":
    unittest.main()
