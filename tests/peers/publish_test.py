"""Publishes datasets to a Hub, S3, Google Cloud Storage and a folder, by the clients that people use: to a Hub on the loopback
interface (hub_server.py), to servers of the protocols that others wrote, and to a disk. Then `datasets` loads them from there. Skipped
where the clients (tests/peers/install_readers.sh) or the servers (install_object_stores.sh) are not installed."""

import contextlib
import json
import operator
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402
import hub_server  # noqa: E402

READERS = pathlib.Path(os.environ.get("KERNELMILL_READERS", harness.ROOT / "build/peers/readers"))
SERVERS = pathlib.Path(os.environ.get("KERNELMILL_OBJECT_STORES", harness.ROOT / "build/peers"))
SECRET = "the-secret-of-this-test"
UNCHANGED = 200 << 10  # bytes of a file that is the same in all versions, and how many there are
FILES = 40
WITHDRAWN_PATH = "kernels/softmax.py"
# A kernel and a helper, and a kernel of another file whose module has the helper's text.
BASE = """import triton
import triton.language as tl


@triton.jit
def scaled(x, factor):
    shifted = x * factor + 0.37 * tl.exp(-x * x)
    return tl.where(shifted > 0, shifted * 1.0507, 1.7581 * (tl.exp(shifted) - 1))


@triton.jit
def base_kernel(x_ptr, y_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, scaled(x, factor), mask=offsets < n)
"""
USER = """import triton
import triton.language as tl
from base import scaled


@triton.jit
def user_kernel(values, sums, width, factor, CHUNK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for begin in range(0, width, CHUNK):
        places = begin + tl.arange(0, CHUNK)
        part = tl.load(values + row * width + places, mask=places < width, other=0.0)
        total += tl.sum(scaled(part, factor), axis=0)
    tl.store(sums + row, total / width)
"""


def server_of(name):
    return unittest.skipUnless((SERVERS / name).exists(), f"no {name}: tests/peers/install_object_stores.sh")


def setUpModule():
    """Datasets: `first`; `second` has one more source; `opted` is `second` without a file that its author opted out of; `less` is
    `first` without it."""
    global work, datasets
    if not (READERS / ".requirements").is_file():
        raise unittest.SkipTest("no readers: tests/peers/install_readers.sh")
    harness.run(sys.executable, harness.ROOT / "python/generate.py")
    work = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    demo = {"path": str(harness.DEMO_SOURCES), "name": "demo"}
    cuda = {"path": str(harness.ROOT / "tests/data/cuda"), "name": "cuda", "include": ["**/*.{cu,cuh}"]}
    gone = {"opt_out": [{"repository": "demo", "path": WITHDRAWN_PATH}]}
    jobs = {"first": {"sources": [demo]}, "second": {"sources": [demo, cuda]}, "opted": {"sources": [demo, cuda], **gone},
            "less": {"sources": [demo], **gone}}
    datasets = {name: export(name, job) for name, job in jobs.items()}


def export(name, job, check=True):
    """A dataset, and beside it files that are the same in each."""
    file, out = work / f"{name}.json", work / name
    file.write_text(json.dumps({"name": "published", **job}))
    harness.run(harness.BIN / "kernelmill", "crawl", file, "--out", out, "--data", work / "data", check=check)
    (out / "tokens").mkdir()
    for number in range(FILES):
        (out / f"tokens/{number:03}.bin").write_bytes(random.Random(number).randbytes(UNCHANGED))
    return out


def rows_of(folder, table="kernels"):
    return [json.loads(line) for line in (folder / f"{table}.jsonl").read_text().split("\n") if line]


def removed_texts():
    """The kernels whose author opted out, and what of them must be nowhere."""
    left = {row["id"] for row in rows_of(datasets["opted"])}
    gone = [row for row in rows_of(datasets["second"]) if row["id"] not in left]
    assert any(row["path"] == WITHDRAWN_PATH for row in gone), gone
    return gone


class Relay:
    """Passes connections on to a server and counts the bytes that clients send. `kill` is called once `limit` of them went through."""

    def __init__(self, port):
        self.sent, self.limit, self.kill = 0, None, None
        self._port, self._lock = port, threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", self._port))
                for source, sink, counts in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass, args=(source, sink, counts), daemon=True).start()

    def _pass(self, source, sink, counts):
        with contextlib.suppress(OSError), source:
            while block := source.recv(1 << 16):
                sink.sendall(block)
                if counts:
                    self._count(len(block))
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)

    def _count(self, size):
        with self._lock:
            self.sent += size
            if self.limit is not None and self.sent >= self.limit:
                self.limit = None
                self.kill()

    def close(self):
        self._listener.close()


class Publishing:
    """The tests of every destination. A subclass has a `url`, the `environment` of the client, and says what its server holds."""

    environment = {}

    def setUp(self):
        super().setUp()
        self.home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def env(self, **more):
        return {**os.environ, "PYTHONPATH": f"{harness.ROOT / 'python'}:{READERS}", "KERNELMILL_PYTHON": sys.executable,
                "HF_HOME": str(self.home / "hf"), "HF_HUB_DISABLE_XET": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
                **self.environment, **more}

    def command(self, dataset, *flags):
        return [harness.BIN / "kernelmill", "publish", str(datasets.get(dataset, dataset)), self.url, *flags, "--json"]

    def publish(self, dataset, *flags, code=0, **environment):
        done = harness.run(*self.command(dataset, *flags), env=self.env(**environment), check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn(SECRET, done.stdout + done.stderr)
        return json.loads(done.stdout if code == 0 else done.stderr.splitlines()[-1])

    def load(self, code):
        """Returns the rows that `datasets` reads, in a process of its own."""
        code = f"import datasets, json\nrows = {code}\nprint(json.dumps([row for row in rows]))"
        return json.loads(harness.run(sys.executable, "-c", code, env=self.env()).stdout)

    def check_version(self, version, dataset):
        """The version has the files of the dataset, and `datasets` its rows."""
        files = self.files(version)
        publication = json.loads(files.pop("PUBLICATION.json"))
        folder = datasets[dataset]
        self.assertEqual(publication["dataset"], harness.dataset_digest(folder))
        self.assertEqual({file["path"] for file in publication["files"]}, set(files))
        for path, content in files.items():
            if path not in ("CHANGELOG.md", "croissant.json", "job.lock.yaml"):
                self.assertEqual(content, (folder / path).read_bytes(), path)
        self.assertEqual([path for path in files if path.endswith((".jsonl", ".csv"))], [])
        for table in ("kernels", "ledger"):
            rows = self.rows(version, table)
            if rows is not None:
                by_id = operator.itemgetter("id")  # the lines may have some rows first
                self.assertEqual(sorted(rows, key=by_id), sorted(rows_of(folder, table), key=by_id))

    def test_versions_hold_the_datasets_and_only_changed_files_go_up(self):
        sizes = []
        for dataset, version in (("first", "v1"), ("second", "v2"), ("first", "v3")):
            before = self.received()
            made = self.publish(dataset)
            sizes.append(self.received() - before)
            self.assertEqual((made["version"], made["new"]), (version, True))
            self.assertGreaterEqual(sizes[-1], made["moved"]["uploaded_bytes"])
            self.check_version(version, dataset)
        total = FILES * UNCHANGED
        self.assertGreater(sizes[0], total)
        self.assertLess(max(sizes[1:]), total / 8, "unchanged files went up again")
        before = self.received()
        again = self.publish("first")
        self.assertEqual((again["version"], again["new"]), ("v3", False))
        self.assertLess(self.received() - before, 10000)
        log = self.files("v3")["CHANGELOG.md"].decode()
        self.assertEqual([line for line in log.splitlines() if line.startswith("## ")], ["## v3", "## v2", "## v1"])
        self.assertIn("| came | 7 | the source is new |", log)
        self.assertIn("| went | 7 | the source is gone |", log)
        print(f"{self.url}: {sizes} bytes sent")

    def test_a_killed_run_shows_nothing_and_the_next_one_continues(self):
        self.publish("first")
        # A dataset whose files are all new.
        other = self.home / "other"
        shutil.copytree(datasets["second"], other)
        for file in (other / "tokens").iterdir():
            file.write_bytes(b"other" + file.read_bytes())
        before = self.received()
        process = subprocess.Popen(self.command(other), env=self.env(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.kill_after(process, before + FILES * UNCHANGED // 2)
        self.assertEqual(process.wait(120), -signal.SIGKILL)
        self.check_version("v1", "first")
        self.assertEqual(self.published(), {"v1"})
        self.check_unfinished()
        before = self.received()
        self.assertEqual(self.publish(other)["version"], "v2")
        self.assertLess(self.received() - before, FILES * UNCHANGED * 0.8, "it began anew")
        self.assertEqual(self.published(), {"v1", "v2"})
        self.assertEqual(self.files("v2")["tokens/001.bin"], (other / "tokens/001.bin").read_bytes())

    def check_unfinished(self):
        """Another dataset does not mix its files with those of a run that may be at work."""
        self.assertIn("has an unfinished upload of other files", self.publish("second", code=2)["error"])

    def test_a_patch_withdraws_and_carries_no_removed_text(self):
        self.publish("second", "--patch", code=2)  # there is no version
        self.publish("second")
        self.assertTrue(any(removed_texts()[0]["source"].split("\n")[1].encode() in content for content in self.parquet_texts()))
        self.assertIn("a patch only withdraws", self.publish("less", "--patch", code=2)["error"])
        made = self.publish("opted", "--patch", "--delete-older")
        gone = removed_texts()
        self.assertEqual((made["version"], sorted(made["withdrawn"])), ("v1.1", sorted(row["id"] for row in gone)))
        self.check_version("v1.1", "opted")
        self.assertEqual(self.published(), {"v1.1"})
        log = self.files("v1.1")["CHANGELOG.md"].decode()
        for row in gone:
            self.assertIn(row["id"], log)
            self.assertNotIn(row["qualname"], log)
        everything = [*self.everything(), *self.parquet_texts()]
        for row in gone:
            lines = [line.strip() for line in row["source"].splitlines() if len(line.strip()) > 40]
            kept = "".join(text["module"] for text in rows_of(datasets["opted"]))
            own = [line for line in lines if line not in kept]
            self.assertTrue(own)
            self.assertFalse([line for line in own for content in everything if line.encode() in content])
        # It stays withdrawn.
        back = self.publish("second", code=1)
        self.assertIn(f"{len(gone)} kernels that an earlier version withdrew came back", back["error"])
        self.assertIn("--allow withdrawn", back["error"])

    def parquet_texts(self):
        """The texts in all Parquet files of the destination, which are compressed there."""
        code = textwrap.dedent("""
            import pyarrow, pyarrow.parquet, sys
            for name in sys.argv[1:]:
                try:
                    table = pyarrow.parquet.read_table(name)
                except pyarrow.ArrowInvalid:  # a part of an upload, which begins as a file does
                    continue
                print(table.to_pylist())""")
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for number, content in enumerate(self.everything()):
                if content[:4] == b"PAR1":
                    names.append(pathlib.Path(folder) / str(number))
                    names[-1].write_bytes(content)
            texts = harness.run(sys.executable, "-c", code, *names, env=self.env()).stdout
        return [line.replace("\\n", "\n").encode() for line in texts.splitlines()]


class ToAFolder(Publishing, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.home / "published"
        self.url = f"file:{self.folder}"

    def received(self):
        """The bytes on the disk: files that share them count once."""
        found = {}
        for path in self.folder.rglob("*"):
            with contextlib.suppress(FileNotFoundError):  # it was renamed meanwhile
                if path.is_file():
                    found[path.stat().st_ino] = path.stat().st_size
        return sum(found.values())

    def kill_after(self, process, limit):
        while process.poll() is None and self.received() < limit:
            time.sleep(0.001)
        process.kill()

    def published(self):
        newest = json.loads((self.folder / "latest.json").read_text())
        return set(newest["versions"])

    def files(self, version):
        folder = self.folder / version
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def everything(self):
        return [path.read_bytes() for path in self.folder.rglob("*") if path.is_file()]

    def rows(self, version, table):
        return self.load(f"datasets.load_dataset({str(self.folder / version)!r}, {table!r}, split='train')")


    def test_an_unfinished_upload_can_be_discarded(self):
        self.publish("first")
        (self.folder / "v2").mkdir()
        (self.folder / "v2/somebody.txt").write_text("else")
        self.assertIn("has files that kernelmill did not publish", self.publish("second", code=2)["error"])
        (self.folder / "v2/PUBLISHING.json").write_text("{}")
        self.publish("second", code=2)
        self.assertEqual(self.publish("second", "--discard")["version"], "v2")
        self.check_version("v2", "second")


class InObjects(Publishing):
    """A server behind a relay, which counts."""

    bucket = "bucket"

    def start(self, *argv):
        self.port = harness.free_port()
        log = open(self.home / "server.log", "wb")
        self.addCleanup(log.close)
        self.server = subprocess.Popen([str(arg).format(port=self.port) for arg in argv], stdout=log, stderr=log)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.kill)
        harness.wait_until(self.listens, f"{argv[0]} to listen")
        self.relay = Relay(self.port)
        self.addCleanup(self.relay.close)

    def listens(self):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False

    def received(self):
        return self.relay.sent

    def kill_after(self, process, limit):
        self.relay.kill, self.relay.limit = process.kill, limit

    def published(self):
        return set(json.loads(self.read("latest.json"))["versions"])

    def files(self, version):
        return {key.removeprefix(f"{version}/"): self.read(key) for key in self.keys() if key.startswith(f"{version}/")}

    def everything(self):
        return [self.read(key) for key in self.keys()]


@server_of("versitygw")
class ToS3(InObjects, unittest.TestCase):
    def setUp(self):
        super().setUp()
        (self.home / "objects" / self.bucket).mkdir(parents=True)
        self.start(SERVERS / "versitygw", "--access", "the-key", "--secret", SECRET, "--port", "127.0.0.1:{port}", "posix",
                   self.home / "objects")
        self.url = f"s3://{self.bucket}/some/dataset"
        self.environment = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.relay.port}", "AWS_ACCESS_KEY_ID": "the-key", "AWS_REGION": "us-east-1",
                            "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ALLOW_HTTP": "true"}

    def keys(self):
        """versitygw keeps an object as a file."""
        folder = self.home / "objects" / self.bucket / "some/dataset"
        return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]

    def read(self, key):
        return (self.home / "objects" / self.bucket / "some/dataset" / key).read_bytes()

    def rows(self, version, table):
        return self.load(f"datasets.load_dataset('parquet', data_files='{self.url}/{version}/data/{table}/train-*.parquet', split='train')")

    def test_a_wrong_secret_is_not_permitted_and_not_shown(self):
        wrong = self.publish("first", code=2, AWS_SECRET_ACCESS_KEY="another-secret")
        self.assertIn("403 Forbidden", wrong["error"])
        self.assertNotIn("another-secret", wrong["error"])

    def test_a_server_that_is_away_is_out_of_reach(self):
        self.publish("first", code=3, AWS_ENDPOINT_URL="http://127.0.0.1:9")


@server_of("fake-gcs-server")
class ToGoogle(InObjects, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.start(SERVERS / "fake-gcs-server", "-scheme", "http", "-host", "127.0.0.1", "-port", "{port}", "-backend", "memory")
        self.url = f"gs://{self.bucket}/some/dataset"
        self.environment = {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{self.relay.port}"}
        for path, body in (("_internal/config", {"externalUrl": self.environment["STORAGE_EMULATOR_HOST"]}), ("storage/v1/b", {"name": self.bucket})):
            method = "PUT" if path.startswith("_") else "POST"
            request = urllib.request.Request(f"http://127.0.0.1:{self.port}/{path}", json.dumps(body).encode(), method=method)
            with urllib.request.urlopen(request):
                pass

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/storage/v1/b/{self.bucket}/o{path}") as reply:
            return reply.read()

    def keys(self):
        return [item["name"].removeprefix("some/dataset/") for item in json.loads(self.get("?maxResults=5000")).get("items", [])]

    def read(self, key):
        return self.get(f"/{urllib.parse.quote(f'some/dataset/{key}', safe='')}?alt=media")

    def rows(self, version, table):
        return None  # `datasets` needs gcsfs for gs://; files() has compared the bytes


class ToTheHub(Publishing, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.hub = self.enterContext(hub_server.hub())
        self.url = "hf://somebody/kernels"
        self.environment = {"HF_ENDPOINT": self.hub.url, "HF_TOKEN": hub_server.TOKEN}

    @property
    def repository(self):
        return self.hub.repositories["somebody/kernels"]

    def received(self):
        return sum(size for _, _, size in self.hub.received)

    def kill_after(self, process, limit):
        self.hub.on_upload = lambda oid: process.kill() if self.received() >= limit else None

    def published(self):
        return set(self.repository.tags)

    def files(self, version):
        tree = self.repository.commits[self.repository.tags[version]]["tree"]
        return {path: self.repository.content(entry) for path, entry in tree.items() if path != ".gitattributes"}

    def everything(self):
        return list(self.repository.texts())

    def rows(self, version, table):
        return self.load(f"datasets.load_dataset('somebody/kernels', {table!r}, revision={version!r}, split='train')")

    def check_unfinished(self):
        """A commit changes all files at once, so that runs do not mix."""

    def test_a_run_killed_between_commit_and_tag_is_completed(self):
        self.publish("first")
        process = subprocess.Popen(self.command("second"), env=self.env(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.hub.on_committed = process.kill
        self.assertEqual(process.wait(120), -signal.SIGKILL)
        self.hub.on_committed = lambda: None
        self.assertEqual(self.published(), {"v1"})
        self.assertEqual(self.publish("second")["version"], "v2")
        self.check_version("v2", "second")
        self.assertEqual(self.published(), {"v1", "v2"})

    def test_another_publisher_s_commit_is_not_overwritten(self):
        self.publish("first")
        self.hub.on_upload = lambda oid: self.repository.commit(
            {**self.repository.commits[self.repository.branches["main"]]["tree"], "other": b"x"}, self.repository.branches["main"])
        self.assertIn("another publisher changed it meanwhile", self.publish("second", code=2)["error"])
        self.assertEqual(self.published(), {"v1"})

    def test_a_new_repository_can_be_private(self):
        self.publish("first", "--private")
        self.assertEqual(self.hub.private, {"somebody/kernels": True})

    def test_a_wrong_token_is_not_permitted_and_not_shown(self):
        wrong = self.publish("first", code=2, HF_TOKEN="hf_another_token")
        self.assertIn("401", wrong["error"])
        self.assertNotIn("hf_another_token", wrong["error"])


class Versions(unittest.TestCase):
    """Facts about versions, which are the same for all destinations."""

    publish, command, env, load = Publishing.publish, Publishing.command, Publishing.env, Publishing.load
    environment = {}

    def setUp(self):
        self.home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder = self.home / "published"
        self.url = f"file:{self.folder}"

    def diff(self, a, b, code, **environment):
        done = harness.run(harness.BIN / "kernelmill", "diff", a, b, "--json", env=self.env(**environment), check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_diff_reads_a_published_version_as_the_export(self):
        self.publish("first")
        self.publish("second")

        def changes(a, b):
            """The lines of JSON, without the folders' names."""
            rows = [json.loads(line) for line in self.diff(a, b, 1).stdout.splitlines()]
            return [{**rows[0], "a": {**rows[0]["a"], "folder": ""}, "b": {**rows[0]["b"], "folder": ""}}, *rows[1:]]

        expected = changes(datasets["first"], datasets["second"])
        self.assertIn("came", [row["change"] for row in expected[1:]])
        for a, b in ((self.folder / "v1", self.folder / "v2"), (self.folder / "v1", datasets["second"])):
            self.assertEqual(changes(a, b), expected)
        self.assertEqual(json.loads(self.diff(self.folder / "v1", datasets["first"], 0).stdout)["changes"], [])
        without = self.diff(self.folder / "v1", datasets["first"], 2, PYTHONPATH=str(harness.ROOT / "python")).stderr
        self.assertIn("was published without JSON lines", without)
        self.assertIn("No module named 'pyarrow'", without)

    def test_the_changelog_names_as_withdrawn_what_the_publication_does(self):
        source = self.home / "carry"
        harness.write_files(source, {"LICENSE": harness.MIT_TEXT, "base.py": BASE, "user.py": USER})
        job = {"sources": [{"path": str(source), "name": "carry"}]}
        before, after = (export(name, {**job, **more}) for name, more in (
            ("carry", {}), ("uncarry", {"opt_out": [{"repository": "carry", "path": "base.py"}]})))
        for out in (before, after):
            self.addCleanup(shutil.rmtree, out)
        ids = {row["qualname"]: row["id"] for row in rows_of(before)}
        self.publish(before)
        made = self.publish(after, "--patch", "--allow", "empty")
        withdrawn = {ids["base_kernel"], ids["scaled"]}
        self.assertEqual(set(made["withdrawn"]), withdrawn)
        publication = json.loads((self.folder / "v1.1/PUBLICATION.json").read_text())
        self.assertEqual({row["id"] for row in publication["withdrawn"]}, withdrawn)
        log = (self.folder / "v1.1/CHANGELOG.md").read_text().split("\n## v1\n")[0]
        named, carried = log.split("Withdrawn, since")[1].split("Left out, since their modules have a withdrawn text:")
        self.assertEqual({id for id in ids.values() if id in named}, withdrawn)
        self.assertEqual({id for id in ids.values() if id in carried}, {ids["user_kernel"]})

    def test_another_dataset_does_not_follow_by_mistake(self):
        self.publish("first")
        other = export("other", {"name": "another", "sources": [WhatMustNotGoOut.demo]})
        self.addCleanup(shutil.rmtree, other)
        error = self.publish(other, code=1)["error"]
        self.assertIn("v1 there is the dataset published, not another", error)
        self.assertIn("--allow name", error)
        self.assertEqual(self.publish(other, "--allow", "name")["version"], "v2")

    def test_the_lock_names_no_folder_of_this_machine_and_makes_the_same_dataset(self):
        job = {"sources": [{"path": str(harness.DEMO_SOURCES), "name": "a demo"},
                           {"path": str(harness.ROOT / "tests/data/cuda"), "name": "cuda", "include": ["**/*.{cu,cuh}"]}],
               "opt_out": [{"repository": "a demo", "path": WITHDRAWN_PATH}]}
        out = export("local", job)
        self.addCleanup(shutil.rmtree, out)
        self.publish(out)
        version = self.folder / "v1"
        for path in version.rglob("*"):
            if path.suffix in (".json", ".yaml", ".md"):
                self.assertNotIn(str(harness.ROOT), path.read_text(), path)
        lock = (version / "job.lock.yaml").read_text()
        self.assertIn('  - path: "a demo"\n', lock)
        self.assertIn(f'"{WITHDRAWN_PATH}"', lock)
        # As somebody else would use it.
        beside = self.home / "beside"
        beside.mkdir()
        shutil.copytree(harness.DEMO_SOURCES, beside / "a demo")
        shutil.copytree(harness.ROOT / "tests/data/cuda", beside / "cuda")
        (beside / "job.yaml").write_text(lock)
        harness.run(harness.BIN / "kernelmill", "crawl", beside / "job.yaml", "--out", beside / "out", "--data", beside / "data")
        self.assertEqual(harness.dataset_digest(beside / "out"), harness.dataset_digest(out))
        # The place of a folder is no change.
        summary = json.loads(self.diff(version, beside / "out", 0).stdout)
        self.assertEqual([summary["sources"], summary["settings"]], [[], []])


class WhatMustNotGoOut(unittest.TestCase):
    """Refusals, which are the same for all destinations."""

    publish, command, env = Publishing.publish, Publishing.command, Publishing.env
    environment = {}

    def setUp(self):
        self.home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.url = f"file:{self.home / 'published'}"

    def refused(self, name, job, check):
        out = export(name, job, check=False)
        self.addCleanup(shutil.rmtree, out)
        error = self.publish(out, code=1)["error"]
        self.assertIn(f"--allow {check}", error)
        self.assertFalse((self.home / "published").exists())
        self.assertEqual(self.publish(out, "--allow", check, "--dry-run")["version"], "v1")
        return error

    demo = {"path": str(harness.DEMO_SOURCES), "name": "demo"}

    def test_an_empty_dataset(self):
        (self.home / "none").mkdir()
        self.refused("none", {"sources": [{"path": str(self.home / "none"), "name": "none"}]}, "empty")

    def test_a_missed_gate(self):
        error = self.refused("gate", {"sources": [self.demo], "gates": {"min_kept": 1000}}, "gates")
        self.assertIn("gate min_kept: 24, the bound is 1000", error)

    def test_a_failed_source(self):
        error = self.refused("failed", {"sources": [self.demo, {"path": "/nonexistent/folder", "name": "gone"}]}, "failed")
        self.assertIn("1 source failed: gone", error)

    def test_a_kernel_without_a_known_licence(self):
        sources = self.home / "unlicensed"
        shutil.copytree(harness.DEMO_SOURCES / "kernels", sources)
        job = {"sources": [{"path": str(sources), "name": "unlicensed"}], "licenses": {"allow": ["*"]}}
        self.assertIn("no known licence: NOASSERTION", self.refused("unlicensed", job, "license"))

    def test_an_opt_out_that_names_nothing(self):
        job = {"sources": [self.demo], "opt_out": [{"repository": "linkedin/Liger-Kernl"}]}
        self.assertIn("linkedin/Liger-Kernl", self.refused("misspelt", job, "opt_out"))

    def test_a_dataset_without_train(self):
        job = {"sources": [self.demo], "splits": {"validation_repositories": ["demo"]}}
        self.assertIn("the split train has no kernels", self.refused("untrained", job, "empty"))

    def test_files_that_are_not_the_export_s(self):
        changed = self.home / "changed"
        shutil.copytree(datasets["first"], changed)
        with open(changed / "data/kernels/train-00000.parquet", "ab") as file:
            file.write(b"x")
        self.assertIn("is not as it was exported", self.publish(changed, code=2)["error"])
        (changed / "data/kernels/train-00000.parquet").unlink()
        (changed / "data/kernels/train-00000.parquet").symlink_to("/etc/hostname")
        self.assertIn("must be a regular file", self.publish(changed, code=2)["error"])

    def test_destinations_and_versions_that_are_none(self):
        for self.url in ("hf://nobody", "http://somewhere/x", "s3://key:secret@bucket", "kernels", "file:"):
            self.assertIn("the destination must be", self.publish("first", code=2)["error"])
        self.url = f"file:{self.home / 'published'}"
        for version in ("-v", "a/b", "..", "a..b", "v1.lock"):
            self.assertIn("--tag must be", self.publish("first", f"--tag={version}", code=2)["error"])
        self.assertIn("--allow must be one of", self.publish("first", "--allow", "everything", code=2)["error"])
        self.assertEqual(self.publish("first", "--tag", "2026-11")["version"], "2026-11")
        self.assertIn("set --tag", self.publish("second", code=2)["error"])
        self.assertIn("is published already", self.publish("second", "--tag", "2026-11", code=2)["error"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
