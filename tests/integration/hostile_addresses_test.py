"""Rows 17 and 20 of the list of faults: a fetcher whose operator allows neither local sources nor private
addresses, and one whose operator lists the hosts, in a network where the loopback interface has two public addresses
too: whatever leads elsewhere is refused, by name, by number or by redirect, and no server there is ever asked."""

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
HOSTS = """\
127.0.0.1 localhost
127.0.0.1 inside.example.org
203.0.113.8 good.example.org
203.0.113.8 evil-example.org example.org
169.254.169.254 cloud.example.org
"""
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


class Fetched(unittest.TestCase):
    """A cluster whose fetcher has the flags `allow`, where a redirect to `good_host` is followed."""

    maxDiff = None
    allow, good_host = (), OTHER_PUBLIC

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.folder = pathlib.Path(cls.stack.enter_context(tempfile.TemporaryDirectory()))
        (cls.folder / "git").mkdir()
        harness.make_repository(harness.DEMO_SOURCES, cls.folder / "git/good.git")
        (cls.folder / "hosts").write_text(HOSTS)
        harness.run("mount", "--bind", cls.folder / "hosts", "/etc/hosts")
        cls.stack.callback(harness.run, "umount", "/etc/hosts")
        cls.public = cls.stack.enter_context(harness.git_server(cls.folder / "git", host=OTHER_PUBLIC))
        cls.inside = cls.stack.enter_context(harness.git_server(cls.folder / "git", host="0.0.0.0"))
        cls.redirects = cls.stack.enter_context(harness.serving(Redirector, host=PUBLIC))
        cls.cluster = cls.stack.enter_context(harness.Cluster(cls.folder / "cluster", lease_ttl=30))
        for role in (*harness.Cluster.WORKERS, "fetcher"):
            cls.cluster.start_worker(role, allow=cls.allow)

    def redirected(self, host, port, prefix=""):
        return f"http://{PUBLIC}:{self.redirects.server_address[1]}/{prefix}{host}/{port}/good.git"

    def codes(self, sources):
        """{name: code} of the failures of a job of these {name: source as YAML}, beside a good one that is fetched
        through a redirect to another host."""
        name = self.id().rsplit(".", 1)[-1]
        good = self.redirected(self.good_host, self.public.server_address[1])
        job = self.folder / f"{name}.yaml"
        job.write_text(f"name: hostile\nsources:\n  - git: {good}\n    name: good\n" + "".join(
            f"  - {source}\n    name: {name}\n" for name, source in sources.items()))
        out = self.folder / name
        done = self.cluster.client("submit", job, "--wait", "--out", out, check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual({r["repository"] for r in harness.ledger(out)}, {"good"})
        return {f["source"]: f["code"] for f in json.loads((out / "report.json").read_text())["failures"]}

    def assert_refused(self, hosts):
        """Asserts that these {name: host} are refused, as they are and where a redirect leads to them."""
        port, asked = self.inside.server_address[1], self.inside.requests
        urls = {name: f"http://{host}:{port}/good.git" for name, host in hosts.items()}
        urls |= {f"redirected-{name}": self.redirected(host, port) for name, host in hosts.items()}
        self.assertEqual(self.codes({name: f'git: "{url}"' for name, url in urls.items()}),
                         dict.fromkeys(urls, "PERMISSION_DENIED"))
        self.assertEqual(self.inside.requests, asked, "somebody inside was asked")


class HostileAddresses(Fetched):

    def test_local_sources_are_refused(self):
        """row 17"""
        local = self.folder / "git/good.git"
        sources = {"file": f"git: file://{local}", "folder": f"git: {local}", "relative": "git: ./good.git",
                   "tree": f"path: {harness.DEMO_SOURCES}"}
        self.assertEqual(self.codes(sources), dict.fromkeys(sources, "PERMISSION_DENIED"))

    def test_private_addresses_are_refused(self):
        """row 20"""
        self.assert_refused(PRIVATE)

    def test_redirect_of_a_later_request_is_not_followed(self):
        """row 20: the first answer is the public server's own."""
        asked = self.inside.requests
        codes = self.codes({"post": f"git: {self.redirected('127.0.0.1', self.inside.server_address[1], 'post/')}"})
        self.assertIn(codes["post"], {"PERMISSION_DENIED", "FAILED_PRECONDITION"})
        self.assertEqual(self.inside.requests, asked, "somebody inside was asked")


class ListedHosts(Fetched):
    """Private addresses are allowed, and of hosts those in a list."""

    allow, good_host = ("--allow-hosts", f"{PUBLIC},*.example.org", "--allow-private"), "good.example.org"

    def test_hosts_that_are_not_listed_are_refused(self):
        """row 20"""
        self.assert_refused({"loopback": "127.0.0.1", "named": "localhost", "private": "10.1.2.3",
                             "public": OTHER_PUBLIC, "like": "evil-example.org", "apex": "example.org",
                             "mapped": f"[::ffff:{OTHER_PUBLIC}]"})

    def test_metadata_is_refused_though_its_name_is_listed(self):
        """row 20"""
        self.assert_refused({"metadata": "169.254.169.254", "number": "2852039166", "hex": "0xa9fea9fe",
                             "mapped": "[::ffff:169.254.169.254]", "named": "cloud.example.org"})

    def test_a_listed_name_may_have_a_private_address(self):
        asked = self.inside.requests
        port = self.inside.server_address[1]
        self.assertEqual(self.codes({"listed": f"git: http://inside.example.org:{port}/none.git"}),
                         {"listed": "NOT_FOUND"})
        self.assertGreater(self.inside.requests, asked)


if __name__ == "__main__":
    enter()
    unittest.main(verbosity=2)
