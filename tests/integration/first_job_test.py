"""The commands around a first job: init writes it, check and crawl --dry-run look at it without fetching, and cache looks
after what crawls keep. Real git and package servers, a pipe and an endless file as inputs, and a real terminal."""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import termios
import time
import unittest

import harness

KERNELMILL = harness.BIN / "kernelmill"
QUICK = 30  # seconds; a command that hangs takes longer


def run(*argv, cwd, **kwargs):
    """Runs kernelmill without a terminal."""
    return harness.run(KERNELMILL, *argv, check=False, cwd=cwd, stdin=subprocess.DEVNULL, timeout=QUICK, **kwargs)


class FirstJob(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "git").mkdir()
        shutil.copytree(harness.DEMO_SOURCES, self.folder / "kernels")
        harness.make_repository(self.folder / "kernels", self.folder / "git/ops.git")
        self.git = self.enterContext(harness.git_server(self.folder / "git"))
        (self.folder / "wheels").mkdir()
        harness.make_wheel(self.folder / "wheels", "ops", "1.0", {"ops/k.py": "import triton\n"})
        self.index = self.enterContext(harness.package_index(self.folder / "wheels"))
        self.data = self.folder / "data"
        self.job = self.folder / "job.yaml"

    def write_job(self, *sources, more=""):
        self.job.write_text("name: first\nsources:\n" + "".join(f"  - {source}\n" for source in sources) + more)

    def dry_run(self, *flags):
        return run("crawl", self.job, "--dry-run", "--data", self.data, "--package-index", f"{self.index.url}/simple", *flags,
                   cwd=self.folder)

    def check(self, *flags, job=None):
        return run("check", job or self.job, "--package-index", f"{self.index.url}/simple", *flags, cwd=self.folder)

    # ---- init

    def test_init_writes_a_job_that_runs_with_the_command_that_it_prints(self):
        done = run("init", "--repository", f"{self.git.url}/ops.git", "--language", "triton", "--language", "cuda", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "wrote job.yaml; now run\n  kernelmill crawl job.yaml --out ops\n")
        text = self.job.read_text()
        self.assertIn('include: ["**/*.{py,ipynb,cu,cuh}"]  # ', text)
        for key in ("name:", "- git:", "allow:", "threshold:", "min_kept:"):
            line = next(line for line in text.splitlines() if key in line)
            before = text[:text.index(line)].rstrip().splitlines()[-1]
            self.assertTrue("#" in line or before.startswith(("#", "licenses", "dedup", "gates")), line)
        self.assertEqual(self.check().returncode, 0)
        words = done.stdout.splitlines()[1].split()
        harness.run(harness.BIN / words[0], *words[1:], "--data", self.data, cwd=self.folder)
        self.assertTrue((self.folder / "ops/kernels.jsonl").read_text())
        # The written values are the defaults: without them the dataset is the same.
        self.write_job(f"git: {self.git.url}/ops.git\n    include: [\"**/*.{{py,ipynb,cu,cuh}}\"]")
        harness.crawl(self.job, self.folder / "out", self.data)
        kernels = [(self.folder / out / "kernels.jsonl").read_text() for out in ("ops", "out")]
        self.assertEqual(*kernels)

    def test_init_overwrites_nothing_without_force(self):
        self.job.write_text("mine\n")
        done = run("init", "--repository", "a/b", cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("job.yaml exists; name another file, or replace it with --force", done.stderr)
        self.assertEqual(self.job.read_text(), "mine\n")
        (self.folder / "link.yaml").symlink_to("nowhere")
        self.assertEqual(run("init", "link.yaml", "--repository", "a/b", cwd=self.folder).returncode, 2)
        self.assertEqual(run("init", "--repository", "a/b", "--force", "--json", cwd=self.folder).returncode, 0)
        self.assertIn("https://github.com/a/b", self.job.read_text())

    def test_init_without_a_terminal_says_what_it_needs(self):
        done = run("init", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--repository owner/name (or a URL), --package name==version or --folder DIR", done.stderr)
        for flags, error in ((("--repository", "ops"), "must be owner/name (at GitHub) or a URL"),
                             (("--package", "ops"), "must be name==version"),
                             (("--repository", "a/b", "--language", "cuba"), "did you mean cuda?"),
                             (("--repository", "a/b", "--name", "a b"), "name: ")):
            done = run("init", *flags, cwd=self.folder)
            self.assertEqual(done.returncode, 2, flags)
            self.assertIn(error, done.stderr)
        self.assertFalse(self.job.exists())

    def test_init_writes_the_dataset_beside_the_folder_that_the_job_is_named_for(self):
        done = run("init", "new.yaml", "--folder", "./not-yet", cwd=self.folder)
        self.assertTrue(done.stdout.endswith("--out not-yet-dataset\n"), done.stdout)

    def test_init_asks_on_a_terminal(self):
        with Terminal("init", cwd=self.folder) as terminal:
            terminal.answer("separated by blanks: ", "")  # asks again
            terminal.answer("separated by blanks: ", "a/b ops==1.0 ./kernels")
            terminal.answer("[triton]: ", "hip")
            self.assertEqual(terminal.end(), 0)
        spec = json.loads(self.check("--json").stdout)
        self.assertEqual([s.get("git") or s.get("package") or s.get("path") for s in spec["sources"]],
                         [str(self.folder / "kernels"), "https://github.com/a/b", "ops==1.0"])
        self.assertEqual({tuple(s["include"]) for s in spec["sources"]}, {("**/*.{hip,cu,cuh}",)})
        with Terminal("init", "other.yaml", cwd=self.folder) as terminal:
            terminal.wait_for("separated by blanks: ")
            terminal.write("\x03")
            self.assertEqual(terminal.end(), 130)
        self.assertFalse((self.folder / "other.yaml").exists())

    # ---- crawl --dry-run

    def test_a_dry_run_names_versions_sizes_and_what_the_cache_has(self):
        self.write_job(f"git: {self.git.url}/ops.git\n    name: ops", "package: ops==1.0", "path: ./kernels")
        done = self.dry_run("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        commit = harness.git("rev-parse", "main", cwd=self.folder / "git/ops.git")
        self.assertEqual((answer["job"], answer["failed"], answer["exit"]), ("first", 0, 0))
        git, package, path = answer["sources"]
        self.assertEqual((git["name"], git["version"], git["from"], git["files"]), ("ops", commit, "network", None))
        self.assertEqual((package["kind"], package["from"], package["bytes"]), ("package", "network", None))
        sizes = [p.stat().st_size for p in (self.folder / "kernels").rglob("*.py")]
        self.assertEqual((path["from"], path["files"], path["bytes"]), ("disk", len(sizes), sum(sizes)))
        self.assertFalse(self.data.exists(), "a dry run keeps nothing")

        harness.crawl(self.job, self.folder / "out", self.data, index_url=f"{self.index.url}/simple")
        lock = (self.folder / "out/job.lock.yaml").read_text()
        cached = json.loads(self.dry_run("--json").stdout)["sources"]
        self.assertEqual([s["from"] for s in cached], ["cache"] * 3)
        for source in cached:
            self.assertIn(source["version"].removeprefix("sha256:"), lock)
        self.assertEqual((cached[0]["files"], cached[0]["bytes"]), (path["files"], path["bytes"]))

        (self.folder / "kernels/more.py").write_text("import triton\n")
        shutil.rmtree(self.folder / "git/ops.git")
        harness.make_repository(self.folder / "kernels", self.folder / "git/ops.git")
        text = self.dry_run().stdout
        self.assertRegex(text, r"\nops +[0-9a-f]{12} +\? +\? +changes\n")
        self.assertTrue(text.endswith("3 sources: 1 in the cache, 1 to update from another version in the cache, "
                                      "1 to read from this machine\n"), text)

    def test_a_dry_run_lists_failed_sources_and_exits_1(self):
        self.write_job(f"git: {self.git.url}/ops.git", f"git: {self.git.url}/none.git", "package: ops==9", "path: ./nowhere")
        done = self.dry_run()
        self.assertEqual(done.returncode, 1)
        for line in (f"{self.git.url}/none.git  failed: NOT_FOUND: ", "ops==9 ", "./nowhere ", "4 sources: 1 to fetch, 3 failed"):
            self.assertIn(line, done.stdout)
        answer = json.loads(self.dry_run("--json").stdout)
        self.assertEqual((answer["failed"], answer["exit"]), (3, 1))
        self.assertEqual([s["error"] and s["error"]["code"] for s in answer["sources"]], [None, "NOT_FOUND", "NOT_FOUND", "NOT_FOUND"])

    def test_an_interrupted_dry_run_ends(self):
        with silent_host() as url:
            self.write_job(f"git: {url}/x")
            with subprocess.Popen([KERNELMILL, "crawl", self.job, "--dry-run", "--data", self.data], stderr=subprocess.PIPE) as crawl:
                time.sleep(1)
                crawl.send_signal(signal.SIGINT)
                self.assertEqual(crawl.wait(QUICK), 130)
                self.assertIn(b"interrupted", crawl.stderr.read())

    # ---- check

    def test_check_looks_at_this_machine_and_says_what_it_did_not_ask(self):
        self.write_job(f"git: {self.git.url}/none.git", "package: ops==9", "path: ./kernels", f"git: {self.folder}/git/ops.git")
        asked = self.git.requests
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.git.requests, asked)
        self.assertIn("checked      keys and values, 2 local folders\n"
                      "not checked  1 repository, 1 package, the files that globs match; --online asks the hosts\n", done.stderr)
        self.assertEqual(json.loads(self.check("--json").stderr.splitlines()[-1])["not_checked"], ["1 repository, 1 package", "the files that globs match"])
        self.write_job("path: ./nowhere", "path: ./job.yaml", f"git: {self.folder}/git/ops.git\n    ref: nosuch")
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed       ./nowhere  NOT_FOUND: ", done.stderr)
        self.assertIn("failed       ./job.yaml  FAILED_PRECONDITION: ", done.stderr)
        self.assertIn("git/ops.git  NOT_FOUND: ", done.stderr)
        self.write_job("path: ./kernels\n    license: Apache2", more="")
        self.assertIn("Apache-2.0", self.check().stderr)

    def test_check_online_asks_each_host_and_types_the_errors(self):
        pinned = "abcdef0123" * 4
        self.write_job(f"git: {self.git.url}/ops.git", f"git: {self.git.url}/none.git", f"git: {self.git.url}/ops.git\n    name: r\n    ref: nosuch",
                       "package: ops==1.0", "package: ops==9", f"git: {self.git.url}/ops.git\n    name: p\n    ref: {pinned}")
        done = self.check("--online")
        self.assertEqual(done.returncode, 1, done.stderr)
        failed = [line.split()[1:3] for line in done.stderr.splitlines() if line.startswith("failed")]
        self.assertEqual(failed, [[f"{self.git.url}/none.git", "NOT_FOUND:"], ["r", "NOT_FOUND:"], ["ops==9", "NOT_FOUND:"]])
        self.assertIn("checked      keys and values, 4 repositories, 2 packages\nnot checked  1 pinned commit or hash, the files that globs match\n", done.stderr)
        self.assertIn(pinned, done.stdout)

    def test_check_never_hangs(self):
        os.mkfifo(self.folder / "pipe")
        for job in ("pipe", "/dev/zero", "/dev/tty", self.folder):
            self.assertEqual(self.check(job=job).returncode, 2, job)
        for source, error in (("path: ./pipe", "must be a folder"), ("git: ./pipe", "must be a folder"), ("path: /dev/zero", "must be a folder")):
            self.write_job(source)
            done = self.check()
            self.assertEqual(done.returncode, 1, source)
            self.assertIn(error, done.stderr)
        self.write_job("list: pipe")
        self.assertEqual(self.check().returncode, 2)
        self.write_job("path: ./kernels", more="opt_out: pipe.txt\n")
        os.mkfifo(self.folder / "pipe.txt")
        self.assertEqual(self.check().returncode, 2)
        os.mkfifo(self.folder / "kernels/pipe.py")
        self.write_job("path: ./kernels")
        self.assertEqual(self.check().returncode, 0)
        self.assertEqual(self.dry_run().returncode, 0)
        with silent_host() as url:
            self.write_job(f"git: {url}/x")
            done = self.check("--online", "--timeout-seconds", "1")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"failed +\S+/x +(DEADLINE_EXCEEDED|UNAVAILABLE): ")

    # ---- cache

    def test_the_cache_is_measured_pruned_and_cleared(self):
        self.write_job(f"git: {self.git.url}/ops.git")
        harness.crawl(self.job, self.folder / "out", self.data)
        for kept in ("toolchains/triton", "notes"):
            (self.data / kept).mkdir(parents=True)
            (self.data / kept / "file").write_bytes(b"x" * 100_000)
        size = json.loads(run("cache", "size", "--data", self.data, "--json", cwd=self.folder).stdout)
        parts = {part["part"]: part["bytes"] for part in size["parts"]}
        self.assertEqual((size["in_use"], size["bytes"]), (False, sum(parts.values())))
        self.assertTrue(all(parts[part] >= 100_000 for part in ("store", "toolchains", "other")), parts)
        text = run("cache", "size", cwd=self.folder, env=dict(os.environ, KERNELMILL_DATA=str(self.data))).stdout
        self.assertIn("fetched repositories and results of stages\n", text)

        pruned = json.loads(run("cache", "prune", "--limit-bytes", "0", "--data", self.data, "--json", cwd=self.folder).stdout)
        self.assertGreater(pruned["dropped_blobs"], 0)
        self.assertEqual(json.loads(self.dry_run("--json").stdout)["sources"][0]["from"], "network")
        harness.crawl(self.job, self.folder / "again", self.data)
        self.assertEqual(harness.dataset_digest(self.folder / "again"), harness.dataset_digest(self.folder / "out"))

        done = run("cache", "clear", "--data", self.data, cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--yes deletes without asking", done.stderr)
        for answer, left in (("n", True), ("y", False)):
            with Terminal("cache", "clear", "--data", self.data, cwd=self.folder) as terminal:
                terminal.answer("[y/N] ", answer)
                self.assertEqual(terminal.end(), 0)
            self.assertEqual((self.data / "store").exists(), left)
        self.assertEqual(sorted(p.name for p in self.data.iterdir()), ["notes", "toolchains"])
        harness.crawl(self.job, self.folder / "cold", self.data)
        self.assertEqual(run("cache", "clear", "--data", self.data, "--yes", cwd=self.folder).returncode, 0)

    def test_a_folder_of_others_is_not_cleared(self):
        for name in ("store", "tmp", "coordinator"):
            (self.data / name).mkdir(parents=True)
            (self.data / name / "mine").write_text("mine")
        for command in (("clear", "--yes"), ("prune", "--limit-bytes", "0")):
            done = run("cache", *command, "--data", self.data, cwd=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn("is not a crawl's data folder", done.stderr)
        self.assertEqual(len(list(self.data.rglob("mine"))), 3)

    def test_an_open_folder_is_neither_pruned_nor_cleared(self):
        with silent_host() as url:
            self.write_job(f"git: {url}/x")
            with subprocess.Popen([KERNELMILL, "crawl", self.job, "--out", self.folder / "out", "--data", self.data],
                                  stderr=subprocess.DEVNULL) as crawl:
                lock = self.data / "coordinator/LOCK"
                deadline = time.monotonic() + QUICK
                while not lock.exists() and time.monotonic() < deadline:
                    time.sleep(0.05)
                for command in (("clear", "--yes"), ("prune", "--limit-bytes", "0")):
                    done = run("cache", *command, "--data", self.data, cwd=self.folder)
                    self.assertEqual(done.returncode, 2)
                    self.assertIn("another process has it open, such as a crawl", done.stderr)
                self.assertIn("another process has it open", run("cache", "size", "--data", self.data, cwd=self.folder).stdout)
                crawl.send_signal(signal.SIGINT)
                crawl.wait(QUICK)
        self.assertTrue((self.data / "store/CURRENT").exists())


@contextlib.contextmanager
def silent_host():
    """A host that takes connections and never answers; yields its URL."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


class Terminal:
    """kernelmill on a terminal of its own."""

    def __init__(self, *argv, cwd):
        self.said = ""
        self.main, side = pty.openpty()
        self.process = subprocess.Popen([KERNELMILL, *argv], cwd=cwd, stdin=side, stdout=side, stderr=side, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(side, termios.TIOCSCTTY, 0))
        os.close(side)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.main)

    def wait_for(self, text):
        deadline = time.monotonic() + QUICK
        while text not in self.said:
            if not select.select([self.main], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"no {text!r} in {self.said!r}")
            self.said += os.read(self.main, 4096).decode()
        self.said = self.said.partition(text)[2]

    def write(self, text):
        os.write(self.main, text.encode())

    def answer(self, question, text):
        self.wait_for(question)
        self.write(text + "\n")

    def end(self):
        return self.process.wait(QUICK)


if __name__ == "__main__":
    unittest.main(verbosity=2)
