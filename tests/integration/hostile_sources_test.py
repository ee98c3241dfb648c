"""Rows 16 to 28 of the list of faults: hostile repositories, servers and archives. Each is crawled beside a good
repository, whose kernels must come out as if it were alone; what is wrong must be told, typed, of the bad one
alone; and nothing may be left behind."""

import contextlib
import json
import os
import pathlib
import tempfile
import unittest

import harness
import hostile_servers
from hostile_repositories import FILE, FOLDER, LINK, MODULE, RawRepository, delta_bomb, kernel, pack_of

LFS_POINTER = (b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
               b"# import triton\n")
FILE_LIMIT = 16 << 20  # bytes of a file that is read


class HostileSources(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.folder = pathlib.Path(cls.stack.enter_context(tempfile.TemporaryDirectory()))
        (cls.folder / "git").mkdir()
        harness.make_repository(harness.DEMO_SOURCES, cls.folder / "git/good.git")
        cls.git = cls.stack.enter_context(hostile_servers.faulty_git_server(cls.folder / "git"))
        cls.stack.callback(cls.git.released.set)
        cls.reference = cls.rows_of_good(cls.crawl("")[1])
        assert cls.reference

    # -- how a test goes

    def shortDescription(self):
        return None  # the tests' names say more than their rows

    @classmethod
    def crawl(cls, source, index_url="", environment=()):
        """Crawls the good repository and one more source, as YAML lines; returns what `crawl` printed and the folder
        that it wrote. Nothing is left in the folder for temporary files."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=cls.folder))
        (folder / "tmp").mkdir()
        (folder / "job.yaml").write_text(f"name: hostile\nsources:\n  - git: {cls.git.url}/good.git\n    name: good\n"
                                         + source)
        env = dict(os.environ, TMPDIR=str(folder / "tmp"), **dict(environment))
        if index_url:
            env["PIP_INDEX_URL"] = index_url
        done = harness.run(harness.BIN / "kernelmill", "crawl", folder / "job.yaml", "--out", folder / "out", "--data",
                           folder / "data", check=False, timeout=240, env=env, cwd=folder)
        left = sorted(p.name for p in (folder / "tmp").iterdir())
        assert not left, f"left behind: {left}"
        return done, folder / "out"

    @staticmethod
    def rows_of_good(out):
        return [r for r in harness.ledger(out) if r["repository"] == "good"]

    def fails(self, source, codes, **kwargs):
        """The source fails with one of these codes; returns the failure. The good one is as it always is."""
        done, out = self.crawl(source, **kwargs)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        failures = json.loads((out / "report.json").read_text())["failures"]
        self.assertEqual(len(failures), 1, failures)
        self.assertIn(failures[0]["code"], codes, failures)
        self.assertEqual(self.rows_of_good(out), self.reference)
        self.assertEqual({r["repository"] for r in harness.ledger(out)}, {"good"})
        return failures[0]

    def is_refused(self, source, key):
        """The job file is refused, with the key's line, before anybody is asked."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        job = folder / "job.yaml"
        job.write_text(f"name: hostile\nsources:\n{source}")
        done = harness.crawl(job, folder / "out", folder / "data", check=False)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, rf"job\.yaml:\d+: sources\[0\]\.{key}: ")

    def survives(self, source, **kwargs):
        """The source "bad" gives what can be had of it: returns the paths of its kernels, and all files that were
        passed over or lost, counted by reason. The good one is as it always is, and has none of those."""
        done, out = self.crawl(source, **kwargs)
        report = json.loads((out / "report.json").read_text())
        files = report["files"]
        self.assertEqual(done.returncode, 1 if files["failed"] else 0, done.stdout + done.stderr)
        self.assertEqual(sum(f["files"] for f in report["failures"]), files["failed"])
        self.assertEqual(files["seen"], files["extracted"] + files["skipped"] + files["failed"])
        self.assertEqual(self.rows_of_good(out), self.reference)
        kernels = sorted(r["path"] for r in harness.ledger(out) if r["repository"] == "bad")
        return kernels, files["skipped_by_reason"] | files["failed_by_reason"]

    def repository(self):
        """A new one, which the server has at /NAME.git."""
        self.name = self.id().rsplit(".", 1)[-1]
        return RawRepository(self.folder / f"git/{self.name}.git")

    def source(self, fault="", **keys):
        """The test's repository as a source, with that fault of its server."""
        url = "/".join(filter(None, [self.git.url, fault, f"{self.name}.git"]))
        return f"  - git: {url}\n    name: bad\n" + "".join(f"    {k}: {json.dumps(v)}\n" for k, v in keys.items())

    # -- URLs: rows 16 to 19

    def test_other_transports_are_refused(self):
        """row 16"""
        touched = self.folder / "touched"
        for url in (f"ext::sh -c touch% {touched}", f"ext::{self.git.url}/good.git", "fd::0", "x::y",
                    "ftp://example.org/a.git"):
            with self.subTest(url):
                self.fails(f"  - git: {json.dumps(url)}\n    name: bad\n", {"PERMISSION_DENIED"})
        self.assertFalse(touched.exists())

    def test_options_in_disguise_are_refused(self):
        """row 18"""
        touched = self.folder / "touched"
        for url in ("-x", f"--upload-pack=touch {touched}"):
            with self.subTest(url=url):
                self.is_refused(f"  - git: {json.dumps(url)}\n", "git")
        for ref in ("-q", f"--upload-pack=touch {touched}"):
            with self.subTest(ref=ref):
                self.is_refused(f"  - git: {self.git.url}/good.git\n    ref: {json.dumps(ref)}\n", "ref")
        for url in (f"ssh://-oProxyCommand=touch {touched}/x", "ssh://a@-oProxyCommand=x/y", "ssh://example.org/-x"):
            with self.subTest(url=url):
                self.fails(f"  - git: {json.dumps(url)}\n    name: bad\n", {"INVALID_ARGUMENT"})
        self.assertFalse(touched.exists())

    def test_control_bytes_are_refused(self):
        """row 19"""
        for byte in ("\\n", "\\r", "\\0"):
            with self.subTest(byte):
                self.is_refused(f'  - git: "{self.git.url}/good.git{byte}x"\n', "git")
        for byte in ("%0a", "%0D", "%00"):
            with self.subTest(byte):
                self.fails(f'  - git: "{self.git.url}/good.git{byte}x"\n    name: bad\n', {"INVALID_ARGUMENT"})

    def test_nobody_is_asked_for_a_password(self):
        """row 19: a server that wants a login, and a HOME whose git would have a helper give it one."""
        home, touched = self.folder / "home", self.folder / "helped"
        home.mkdir()
        (home / ".gitconfig").write_text(f'[credential]\n\thelper = "!touch {touched}; echo password=x"\n')
        self.repository()
        failure = self.fails(self.source("login"), {"PERMISSION_DENIED"},
                             environment={"HOME": str(home), "GIT_ASKPASS": f"touch {touched}"})
        self.assertFalse(touched.exists(), failure)

    # -- what a tree may name: rows 21 to 23, 25

    def test_submodules_and_links_are_recorded_not_followed(self):
        """row 21"""
        repository = self.repository()
        module = f'[submodule "m"]\n\tpath = m.py\n\turl = {self.git.url}/never.git\n'.encode()
        repository.commit(repository.tree([(FILE, b".gitmodules", repository.blob(module)),
                                           (FILE, b"a.py", repository.blob(kernel("a"))),
                                           (LINK, b"link.py", repository.blob(b"/etc/passwd")),
                                           (LINK, b"loop.py", repository.blob(b"loop.py")),
                                           (MODULE, b"m.py", "d" * 40)]))
        kernels, reasons = self.survives(self.source())
        self.assertEqual((kernels, reasons), (["a.py"], {"symlink": 2, "submodule": 1}))
        self.assertFalse([p for p in self.git.paths if "never.git" in p])

    def test_unsafe_paths_are_skipped_and_counted(self):
        """row 22"""
        repository = self.repository()
        evil = repository.files({b"x.py": kernel("evil")})
        folders = (b"..", b".", b".GIT", b".git", b".git ", b"git~1", b".g\xe2\x80\x8cit")
        names = (b"/etc/absolute.py", b"..\xe2\x80\xaepy.py", b"\xef\xbb\xbf.py")
        repository.commit(repository.tree(sorted([(FOLDER, name, evil) for name in folders] +
                                                 [(FILE, name, repository.blob(kernel("evil"))) for name in names] +
                                                 [(FILE, b"ok.py", repository.blob(kernel("ok")))])))
        kernels, reasons = self.survives(self.source())
        self.assertEqual((kernels, reasons), (["ok.py"], {"unsafe_path": len(folders) + len(names)}))

    def test_tree_bomb_is_bounded(self):
        """row 23: ten objects and two stand for 10^9 paths."""
        repository = self.repository()
        repository.commit(repository.tree_bomb(levels=9, width=10))
        self.fails(self.source(), {"FAILED_PRECONDITION"})

    def test_depth_is_bounded(self):
        """row 23"""
        repository = self.repository()
        repository.commit(repository.deep_tree(10_000))
        self.fails(self.source(), {"FAILED_PRECONDITION"})

    def test_paths_and_contents_are_bytes(self):
        """row 25: names that differ in case alone, that are no UTF-8; and every way to end a line."""
        repository = self.repository()
        contents = {b"A.py": kernel("upper"), b"a.py": kernel("lower"), b"\xff\xfe.py": kernel("not_utf8"),
                    b"new\nline.py": kernel("newline"), b"bom.py": b"\xef\xbb\xbf" + kernel("bom"),
                    b"crlf.py": kernel("crlf").replace(b"\n", b"\r\n"), b"cr.py": kernel("cr").replace(b"\n", b"\r"),
                    b"latin.py": b"# \xe9\n" + kernel("latin"), b"nul.py": b"# \0\n" + kernel("nul")}
        repository.commit(repository.files(contents))
        kernels, reasons = self.survives(self.source())
        self.assertEqual(len(kernels), len(contents), kernels)
        self.assertTrue({name.decode() for name in contents if b"\xff" not in name} <= set(kernels), kernels)
        self.assertEqual(reasons, {})

    # -- what a blob may hold: rows 24, 26

    def test_huge_blob_is_skipped(self):
        """row 24"""
        repository = self.repository()
        repository.commit(repository.files({b"a.py": kernel("a"), b"huge.py": b"#" * (FILE_LIMIT + 1)}))
        self.assertEqual(self.survives(self.source()), (["a.py"], {"too_large": 1}))

    def test_delta_bomb_is_skipped(self):
        """row 24: some hundred bytes of a pack stand for 256 MiB."""
        repository = self.repository()
        bomb = repository.delta_bomb(256 << 20)
        repository.commit(repository.tree([(FILE, b"a.py", repository.blob(kernel("a"))), (FILE, b"bomb.py", bomb)]))
        self.assertEqual(self.survives(self.source()), (["a.py"], {"too_large": 1}))

    def test_delta_that_claims_a_terabyte_fails_typed(self):
        """row 24: a server sends what it could not have made."""
        repository = self.repository()
        bomb, objects = delta_bomb(1 << 40, honest=False)
        self.git.canned[bomb] = pack_of(objects)
        repository.commit(repository.tree([(FILE, b"bomb.py", bomb)]))
        self.fails(self.source("canned"), {"FAILED_PRECONDITION", "DATA_LOSS", "RESOURCE_EXHAUSTED", "UNAVAILABLE"})
        self.assertIn(bomb, self.git.sent)

    def test_lfs_pointer_is_counted_and_not_fetched(self):
        """row 26"""
        repository = self.repository()
        repository.commit(repository.files({b".gitattributes": b"*.py filter=lfs diff=lfs merge=lfs -text\n",
                                            b"a.py": kernel("a"), b"big.py": LFS_POINTER}))
        self.assertEqual(self.survives(self.source()), (["a.py"], {"lfs_pointer": 1}))
        self.assertFalse([p for p in self.git.paths if "lfs" in p.replace("lfs_pointer", "")])

    # -- repositories that are not whole: row 27

    def test_missing_repository_head_and_ref_are_not_found(self):
        """row 27"""
        repository = self.repository()
        self.fails(self.source(), {"NOT_FOUND"})  # an empty one: HEAD names nothing
        repository.commit(repository.files({b"a.py": kernel("a")}))
        self.fails(self.source(ref="no-such-branch"), {"NOT_FOUND"})
        self.fails(self.source(ref="0" * 39 + "1"), {"NOT_FOUND"})
        (repository.path / "HEAD").write_text("ref: refs/heads/gone\n")
        self.fails(self.source(), {"NOT_FOUND"})
        (repository.path / "refs/heads/main").write_text("f" * 40 + "\n")
        self.fails(self.source(ref="main"), {"NOT_FOUND", "DATA_LOSS", "UNAVAILABLE"})
        self.name = "no-such-repository"
        self.fails(self.source(), {"NOT_FOUND"})

    def test_missing_blob_fails_its_file_alone(self):
        """row 27"""
        repository = self.repository()
        repository.commit(repository.files({b"a.py": kernel("a"), b"b.py": kernel("b"), b"c.py": kernel("c")}))
        repository.object_file(repository.blob(kernel("b"))).unlink()
        self.assertEqual(self.survives(self.source()), (["a.py", "c.py"], {"missing_object": 1}))

    def test_missing_tree_and_commit_fail_the_source(self):
        """row 27"""
        repository = self.repository()
        sub = repository.files({b"a.py": kernel("a")})
        commit = repository.commit(repository.tree([(FOLDER, b"sub", sub)]))
        repository.object_file(sub).unlink()
        self.fails(self.source(), {"DATA_LOSS"})
        repository.object_file(commit).unlink()
        self.fails(self.source(ref=commit), {"NOT_FOUND", "DATA_LOSS"})

    def test_corrupt_object_fails_the_source(self):
        """row 27: the server finds out while it sends."""
        repository = self.repository()
        repository.commit(repository.files({b"a.py": kernel("a"), b"b.py": kernel("b")}))
        repository.object_file(repository.blob(kernel("b"))).write_bytes(b"no zlib stream")
        self.fails(self.source(), {"DATA_LOSS", "UNAVAILABLE"})

    def test_damaged_pack_fails_the_source(self):
        """row 27: cut off, a byte changed in the middle, and one of its checksum."""
        repository = self.repository()
        repository.commit(repository.files({b"k%03d.py" % n: kernel(f"k{n}") + os.urandom(99).hex().encode()
                                            for n in range(50)}))
        for fault in ("truncated", "flipped", "checksum"):
            with self.subTest(fault):
                self.fails(self.source(fault), {"DATA_LOSS", "UNAVAILABLE"})

    def test_a_million_refs_do_no_harm(self):
        """row 27"""
        repository = self.repository()
        repository.many_refs(1_000_000, repository.commit(repository.files({b"a.py": kernel("a")})))
        self.assertEqual(self.survives(self.source()), (["a.py"], {}))

    def test_servers_that_are_none_fail_typed(self):
        """row 27: endless refs, the dumb protocol, a web page, an error, a circle of redirects."""
        repository = self.repository()
        repository.commit(repository.files({b"a.py": kernel("a")}))
        for fault, codes in (("flood", {"FAILED_PRECONDITION", "UNAVAILABLE"}), ("dumb", {"FAILED_PRECONDITION"}),
                             ("page", {"FAILED_PRECONDITION", "NOT_FOUND", "UNAVAILABLE"}), ("broken", {"UNAVAILABLE"}),
                             ("circle", {"FAILED_PRECONDITION", "UNAVAILABLE"})):
            with self.subTest(fault):
                self.fails(self.source(fault, ref="main"), codes)

    def test_server_that_stalls_is_given_up(self):
        """row 27: before it says anything, and in the middle of a pack; two fetchers, each with two seconds a time."""
        repository = self.repository()
        repository.commit(repository.files({b"a.py": kernel("a")}))
        job = self.folder / "stalls.yaml"
        job.write_text(f"name: stalls\nsources:\n  - git: {self.git.url}/good.git\n    name: good\n" +
                       self.source("silent") + self.source("stalled").replace("bad", "worse"))
        with harness.Cluster(self.folder / "stalls", lease_ttl=30) as cluster:
            temporary = self.folder / "stalls/tmp"
            temporary.mkdir()
            for role in (*cluster.WORKERS, "fetcher"):
                cluster.start_worker(role, *(["--command-timeout-seconds", 2, "--temp-dir", temporary]
                                             if role == "fetcher" else []))
            done = cluster.client("submit", job, "--wait", "--out", self.folder / "stalls-out", check=False)
            repositories = sorted(temporary.rglob("objects"))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        failures = json.loads((self.folder / "stalls-out/report.json").read_text())["failures"]
        self.assertEqual({(f["source"], f["stage"], f["code"]) for f in failures},
                         {("bad", "pin", "DEADLINE_EXCEEDED"), ("worse", "fetch", "DEADLINE_EXCEEDED")})
        self.assertEqual(self.rows_of_good(self.folder / "stalls-out"), self.reference)
        self.assertEqual(repositories, [], "left behind by the failure")
        self.assertEqual(sorted(temporary.iterdir()), [], "left behind by the fetchers")

    # -- archives: row 28

    def wheel(self, members):
        """Serves a wheel of these members alone; the source's YAML, and what else a crawl needs to find it."""
        folder = self.folder / (self.id().rsplit(".", 1)[-1] + "-wheels")
        folder.mkdir()
        path = hostile_servers.wheel(folder, members)
        index = self.enterContext(harness.package_index(folder))
        return path, "  - package: bad-kernels==1.0\n    name: bad\n", {"index_url": index.url + "/simple"}

    def test_members_of_a_wheel_stay_where_they_are(self):
        """row 28: traversal, absolute names and links."""
        _, source, index = self.wheel([("../../up.py", kernel("up")), ("/abs.py", kernel("abs")),
                                       ("a/../../b.py", kernel("b")), ("ok/a.py", kernel("a")),
                                       hostile_servers.link("ok/link.py", "/etc/passwd")])
        kernels, reasons = self.survives(source, **index)
        self.assertEqual((kernels, reasons), (["ok/a.py"], {"unsafe_path": 3, "symlink": 1}))
        self.assertFalse((self.folder / "up.py").exists() or pathlib.Path("/abs.py").exists())

    def test_zip_bomb_is_refused(self):
        """row 28: 960 MiB in less than one."""
        _, source, index = self.wheel([(f"b{n:02}.py", b"#" * (15 << 20)) for n in range(64)])
        self.fails(source, {"FAILED_PRECONDITION"}, **index)

    def test_large_member_is_skipped(self):
        """row 28"""
        _, source, index = self.wheel([("a.py", kernel("a")), ("large.py", b"#" * (FILE_LIMIT + 1))])
        self.assertEqual(self.survives(source, **index), (["a.py"], {"too_large": 1}))

    def test_wrong_hash_and_damage_are_refused(self):
        """row 28"""
        path, source, index = self.wheel([("a.py", kernel("a"))])
        self.fails(source + f"    sha256: {'a' * 64}\n", {"NOT_FOUND", "FAILED_PRECONDITION"}, **index)
        path.write_bytes(path.read_bytes()[:200])
        self.fails(source, {"DATA_LOSS"}, **index)


if __name__ == "__main__":
    unittest.main(verbosity=2)
