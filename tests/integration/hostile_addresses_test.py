"""Rows 17 and 20 of the list of faults: a fetcher whose operator allows neither local sources nor private
addresses, in a network where the loopback interface has two public addresses too: whatever leads elsewhere is
refused, by name, by number or by redirect, and no server there is ever asked."""

import contextlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness

SKIPPED = 77  # as CMake's SKIP_RETURN_CODE has it
INSIDE = "KERNELMILL_HOSTILE_INSIDE"
PUBLIC, OTHER_PUBLIC = "203.0.113.7", "203.0.113.8"
PRIVATE = {"loopback": "127.0.0.1", "numbered": "2130706433", "ipv6": "[::1]", "mapped": "[::ffff:127.0.0.1]",
           "named": "localhost", "metadata": "169.254.169.254", "private": "10.1.2.3", "aliased": "inside.example.org"}


def enter():
    """Runs this program again in network and mount namespaces of its own; returns there."""
    if os.environ.get(INSIDE) is None:
        missing = [tool for tool in ("unshare", "ip", "mount") if shutil.which(tool) is None]
        if missing or os.geteuid() != 0 or subprocess.run(["unshare", "--net", "--mount", "true"]).returncode != 0:
            print(f"skipped: no {missing or 'right to make namespaces'}")
            sys.exit(SKIPPED)
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--net", "--mount", sys.executable, *sys.argv])
    harness.run("ip", "link", "set", "lo", "up")
    for address in (PUBLIC, OTHER_PUBLIC, PRIVATE["metadata"], PRIVATE["private"]):
        harness.run("ip", "address", "add", f"{address}/32", "dev", "lo")


class Redirector(http.server.BaseHTTPRequestHandler):
    """Sends /HOST/PORT/REST to http://HOST:PORT/REST; /post/HOST/PORT/NAME.git is a repository whose first request
    is answered here and whose second is sent on."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        first, host, port, rest = self.path[1:].split("/", 3) if self.path.startswith("/post/") else \
            ("", *self.path[1:].split("/", 2))
        if first and self.command == "GET":
            body = b"001e# service=git-upload-pack\n0000000eversion 2\n000cls-refs\n0012fetch=shallow\n0000"
            self.send_response(200)
            self.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_response(307 if first else 302)
        self.send_header("Location", f"http://{host}:{port}/{rest}")
        self.end_headers()

    do_POST = do_GET


class HostileAddresses(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.folder = pathlib.Path(cls.stack.enter_context(tempfile.TemporaryDirectory()))
        (cls.folder / "git").mkdir()
        harness.make_repository(harness.DEMO_SOURCES, cls.folder / "git/good.git")
        (cls.folder / "hosts").write_text("127.0.0.1 localhost\n127.0.0.1 inside.example.org\n")
        harness.run("mount", "--bind", cls.folder / "hosts", "/etc/hosts")
        cls.stack.callback(harness.run, "umount", "/etc/hosts")
        cls.public = cls.stack.enter_context(harness.git_server(cls.folder / "git", host=OTHER_PUBLIC))
        cls.inside = cls.stack.enter_context(harness.git_server(cls.folder / "git", host="0.0.0.0"))
        cls.redirects = cls.stack.enter_context(harness.serving(Redirector, host=PUBLIC))
        cls.good_url = f"http://{OTHER_PUBLIC}:{cls.public.server_address[1]}/good.git"
        cls.cluster = cls.stack.enter_context(harness.Cluster(cls.folder / "cluster", lease_ttl=30))
        for role in (*harness.Cluster.WORKERS, "fetcher"):
            cls.cluster.start_worker(role, allow=())

    def redirected(self, host, port, prefix=""):
        return f"http://{PUBLIC}:{self.redirects.server_address[1]}/{prefix}{host}/{port}/good.git"

    def codes(self, sources):
        """{name: code} of the failures of a job of these {name: source as YAML}, beside a good one that is fetched
        through a redirect to another public address."""
        name = self.id().rsplit(".", 1)[-1]
        good = self.redirected(OTHER_PUBLIC, self.public.server_address[1])
        job = self.folder / f"{name}.yaml"
        job.write_text(f"name: hostile\nsources:\n  - git: {good}\n    name: good\n" + "".join(
            f"  - {source}\n    name: {name}\n" for name, source in sources.items()))
        out = self.folder / name
        done = self.cluster.client("submit", job, "--wait", "--out", out, check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual({r["repository"] for r in harness.ledger(out)}, {"good"})
        return {f["source"]: f["code"] for f in json.loads((out / "report.json").read_text())["failures"]}

    def assert_refused(self, urls):
        asked = self.inside.requests
        self.assertEqual(self.codes({name: f'git: "{url}"' for name, url in urls.items()}),
                         dict.fromkeys(urls, "PERMISSION_DENIED"))
        self.assertEqual(self.inside.requests, asked, "somebody inside was asked")

    def test_local_sources_are_refused(self):
        """row 17"""
        local = self.folder / "git/good.git"
        sources = {"file": f"git: file://{local}", "folder": f"git: {local}", "relative": "git: ./good.git",
                   "tree": f"path: {harness.DEMO_SOURCES}"}
        self.assertEqual(self.codes(sources), dict.fromkeys(sources, "PERMISSION_DENIED"))

    def test_private_addresses_are_refused(self):
        """row 20"""
        port = self.inside.server_address[1]
        self.assert_refused({name: f"http://{host}:{port}/good.git" for name, host in PRIVATE.items()})

    def test_redirects_to_private_addresses_are_refused(self):
        """row 20"""
        port = self.inside.server_address[1]
        self.assert_refused({name: self.redirected(host, port) for name, host in PRIVATE.items()})

    def test_redirect_of_a_later_request_is_not_followed(self):
        """row 20: the first answer is the public server's own."""
        asked = self.inside.requests
        codes = self.codes({"post": f"git: {self.redirected('127.0.0.1', self.inside.server_address[1], 'post/')}"})
        self.assertIn(codes["post"], {"PERMISSION_DENIED", "FAILED_PRECONDITION"})
        self.assertEqual(self.inside.requests, asked, "somebody inside was asked")


if __name__ == "__main__":
    enter()
    unittest.main(verbosity=2)
