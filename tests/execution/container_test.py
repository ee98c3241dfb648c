"""Records in a container: a hostile test of a repository reads, writes and reaches nothing that it should not."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import environment

environment.need("recording")
import harness  # noqa: E402
import kernels  # noqa: E402
from kernelmill.execution import recording  # noqa: E402
from kernelmill.execution.evidence import Evidence  # noqa: E402

SCRIPT = environment.ROOT / "deploy" / "record.sh"
HOSTILE = '''

def test_hostile():
    import os, pathlib, socket
    for path in (%(secret)r, "/root/.bashrc", "/home", "/etc/shadow"):
        assert not os.path.exists(path), path
    for path in (%(checkout)r + "/kernels.py", %(dataset)r + "/kernels.jsonl"):
        try:
            pathlib.Path(path).open("a")
        except OSError:
            continue
        raise AssertionError(path)
    try:
        socket.create_connection(("127.0.0.1", %(port)d), timeout=5)
    except OSError:
        pass
    else:
        raise AssertionError("the host's network")
    assert len([each for each in os.listdir("/proc") if each.isdigit()]) < 20
    x = torch.ones(8, device="cuda")
    copy_kernel[(1,)](x, torch.empty(8, device="cuda"), 8, 1, BLOCK=8)
'''


def can_make_containers():
    return shutil.which("bwrap") and subprocess.run(
        ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"], capture_output=True, check=False).returncode == 0


@unittest.skipUnless(can_make_containers(), "no bubblewrap, or it may not make containers")
class Container(unittest.TestCase):
    def test_a_hostile_test_is_alone(self):
        import socket

        work = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        repository, dataset = kernels.crawl(work)
        secret = work / "secret"
        secret.write_text("password")
        with socket.create_server(("127.0.0.1", 0)) as server:
            with (repository / "test_kernels.py").open("a") as file:
                file.write(HOSTILE % {"secret": str(secret), "checkout": str(repository), "dataset": str(dataset),
                                      "port": server.getsockname()[1]})
            out = work / "out" / "evidence.jsonl"
            done = subprocess.run(
                [SCRIPT, "--python", sys.executable, dataset, f"demo={repository}", "--", "--evidence", out, "--json",
                 "--tests", "test_kernels.py::test_hostile"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        row = json.loads(done.stdout)
        self.assertEqual((row["tests"], row["failures"]), ({"passed": 1}, []), row)
        self.assertEqual([case.kernel for case in Evidence(out).cases()], ["copy_kernel"])

    def test_a_lock_without_hashes_installs_nothing(self):
        work = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (work / "lock.txt").write_text("einops==0.8.1\n")
        done = subprocess.run([SCRIPT, "--lock", work / "lock.txt", work, f"demo={work}"], capture_output=True, text=True, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": str(work / "cache")})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("hash", done.stderr.lower())


@unittest.skipIf(any(os.path.exists(path) for path in recording.CONTAINERS), "this machine is a container")
class Refusal(unittest.TestCase):
    def test_record_runs_no_test_outside_of_a_container(self):
        env = {**os.environ, "KERNELMILL_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        env.pop("KUBERNETES_SERVICE_HOST", None)
        done = harness.run(harness.BIN / "kernelmill", "record", "/nowhere", "--repository", "demo=/tmp", env=env, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("deploy/record.sh", done.stderr)


if __name__ == "__main__":
    unittest.main()
