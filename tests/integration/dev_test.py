"""`kernelmill dev`: a cluster in one command, whose page shows a job; a server that is killed comes back; Ctrl-C stops all."""

import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import harness

sys.path.insert(0, str(harness.ROOT / "tests/catalog"))
import catalog_site  # noqa: E402

KERNELMILL = harness.BIN / "kernelmill"
ROLES = ("store", "coordinator", "fetcher", "extractor", "validator", "deduplicator")


def children(pid):
    """The names of a process's children, with their ids."""
    listed = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True, text=True, check=False).stdout
    found = {}
    for line in listed.splitlines():
        child, program = line.split()[:2]
        found[pathlib.Path(program).name.removeprefix("kernelmill-")] = int(child)
    return found


def free_ports():
    """The first of seven free ports whose metrics' ports are free, too; below those that systems give out."""
    while True:
        first = random.randrange(10_000, 30_000)
        try:
            for port in (*range(first, first + 7), *range(first + 1000, first + 1007)):
                socket.create_server(("127.0.0.1", port)).close()
            return first
        except OSError:
            continue


class Dev(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.first = free_ports()
        self.page = harness.free_port()
        self.log = self.folder / "dev.log"
        with self.log.open("w") as log:
            self.dev = subprocess.Popen(
                [KERNELMILL, "dev", "--data", self.folder / "data", "--first-port", str(self.first), "--page-port", str(self.page),
                 "--allow-local", harness.ROOT / "tests/data"], stdout=log, stderr=log)
        self.addCleanup(self.end)
        harness.wait_until(lambda: "The cluster runs" in self.log.read_text() or self.dev.poll() is not None, "the cluster", 60)
        self.assertIsNone(self.dev.poll(), self.log.read_text())

    def end(self):
        if self.dev.poll() is None:
            self.dev.kill()
        self.dev.wait()

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.page}{path}", timeout=20) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def crawl(self):
        job = self.folder / "job.yaml"
        job.write_text(f"name: try\nsources:\n  - path: {harness.ROOT}/tests/data/kernels-repo\n")
        harness.run(KERNELMILL, "submit", job, "--wait", "--out", self.folder / "dataset", "--coordinator",
                    f"127.0.0.1:{self.first}", "--store", f"127.0.0.1:{self.first + 1}", timeout=120)

    def test_a_job_runs_and_the_page_shows_it(self):
        self.crawl()
        state = self.get("/api/state")
        self.assertEqual([job["state"] for job in state["jobs"]], ["done"])
        self.assertEqual(len(state["workers"]), 4)
        job = self.get(f"/api/job?name={state['jobs'][0]['job']}")
        kept = len((self.folder / "dataset/kernels.jsonl").read_text().splitlines())
        self.assertEqual(job["counters"]["dataset.kept"], kept)
        self.assertIn("extract", [stage["stage"] for stage in job["timeline"]["stages"]])

    @unittest.skipIf(catalog_site.MISSING, catalog_site.MISSING)
    def test_a_browser_shows_jobs_stages_and_workers(self):
        self.crawl()
        with catalog_site.browser() as browser:
            for options in ({}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}}):
                context = browser.new_context(**options)
                page = context.new_page()
                said = []
                page.on("console", lambda message, said=said: said.append(message.text))
                page.on("pageerror", lambda error, said=said: said.append(str(error)))
                page.goto(f"http://127.0.0.1:{self.page}/")
                page.wait_for_selector("#job h2")
                for text in ("try-000001", "done", "extract", "Timeline"):
                    self.assertIn(text, page.inner_text("main"))
                self.assertEqual(page.locator("#workers tbody tr").count(), 4)
                page.evaluate(catalog_site.AXE.read_text())
                violations = page.evaluate("axe.run().then(found => found.violations)")
                self.assertEqual([(one["id"], one["nodes"][0]["html"][:200]) for one in violations], [])
                self.assertEqual(said, [])
                context.close()

    def test_a_server_that_is_killed_comes_back(self):
        before = children(self.dev.pid)
        self.assertEqual(set(before), set(ROLES))
        for role in ("extractor", "coordinator"):
            os.kill(before[role], signal.SIGKILL)
        harness.wait_until(lambda: set(children(self.dev.pid)) == set(ROLES) and
                           all(children(self.dev.pid)[role] != before[role] for role in ("extractor", "coordinator")), "them to come back", 30)
        self.assertIn("extractor was ended by signal 9", self.log.read_text())
        self.crawl()

    def test_ctrl_c_stops_all_of_it_in_order(self):
        started = children(self.dev.pid)
        begun = time.monotonic()
        self.dev.send_signal(signal.SIGINT)
        self.assertEqual(self.dev.wait(60), 0, self.log.read_text())
        self.assertLess(time.monotonic() - begun, 30)
        for pid in started.values():
            self.assertFalse(pathlib.Path(f"/proc/{pid}").exists())

    def test_ports_in_use_are_named(self):
        done = harness.run(KERNELMILL, "dev", "--data", self.folder / "other", "--first-port", str(self.first), check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        store = children(self.dev.pid)["store"]
        self.assertIn(f"port {self.first + 1} of the store is in use by process {store} (kernelmill-store)", done.stderr)

    def test_a_second_dev_in_the_folder_names_the_first(self):
        done = harness.run(KERNELMILL, "dev", "--data", self.folder / "data", "--first-port", str(free_ports()), "--page-port", "0", check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(f"another `kernelmill dev` runs in {self.folder}/data: process {self.dev.pid}, "
                      f"coordinator 127.0.0.1:{self.first}; --data chooses", done.stderr)
        self.assertNotIn("\n", done.stderr.strip())

    def test_the_page_says_that_the_coordinator_is_away(self):
        os.kill(children(self.dev.pid)["coordinator"], signal.SIGSTOP)
        self.addCleanup(os.kill, children(self.dev.pid)["coordinator"], signal.SIGCONT)
        self.assertIn("error", self.get("/api/state"))


if __name__ == "__main__":
    unittest.main()
