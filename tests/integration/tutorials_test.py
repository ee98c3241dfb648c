"""Runs the commands of docs/tutorials and of docs/howto/cluster-by-hand.md as they are, one after the other in one shell; they end as the page says. Packages come from an index
of ours, whose wheels have the names of the page's. In a network of its own, since servers take their usual ports."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness
import kernel_texts

DOCS = harness.ROOT / "docs"
PAGES = DOCS / "tutorials"
BLOCK = re.compile(r"^```(sh|console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Commands that end with another code than 0, as the page says.
CODES = {"kernelmill validate kernels": 1, "kernelmill diff clean loose": 1}
# Not run here: it takes a gigabyte of wheels.
LEFT_OUT = "kernelmill toolchains --install"
IMPORT = "import triton\nimport triton.language as tl\n\n\n"


def in_own_network():
    """Starts this test anew in a network of its own; returns what is missing for that."""
    if os.environ.get("TUTORIALS_IN_OWN_NETWORK"):
        return ""
    if not shutil.which("unshare") or not shutil.which("ip"):
        return "no unshare, or no ip"
    unshare = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        return "no network of its own for this user"
    os.environ["TUTORIALS_IN_OWN_NETWORK"] = "yes"
    os.execvp("unshare", [*unshare, "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, *sys.argv])
    return ""


def steps(page):
    """Yields (language, text) of each command of the page: a block of sh, a line of a console after its $, a program of Python."""
    for language, text in BLOCK.findall(page):
        if language == "console":
            yield from (("sh", line[2:]) for line in text.splitlines() if line.startswith("$ "))
        else:
            yield language, text


def can_run(text):
    names = re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)
    return all(importlib.util.find_spec(name) for name in names)


def script(page, toolchains):
    """One shell script of the page's commands. Each ends with a line `step N CODE`."""
    lines = []
    for number, (language, text) in enumerate(steps(page)):
        if "compile:" in text or "compiled" in text:
            if not toolchains:
                continue
            text = text.replace(f"{LEFT_OUT}\n", "")
        if language == "python":
            if not can_run(text):
                continue
            text = f"{sys.executable} - <<'PYTHON'\n{text}PYTHON\n"
        if text.rstrip().endswith("&") and "coordinator --data" in text and "fetcher" not in text:
            text = text.rstrip() + " coordinator=$!\nsleep 1\n"
        lines += [text.rstrip(), f'echo "step {number} $?"']
    return "\n".join(lines) + "\n"


class Tutorials(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("tests", "deploy"):
            (self.folder / name).symlink_to(harness.ROOT / name)
        wheels = self.folder / "wheels"
        wheels.mkdir()
        for name, version, text in (("liger-kernel", "0.8.5", kernel_texts.SCALE_ROWS), ("fla-core", "0.6.0", kernel_texts.GELU_TANH)):
            harness.make_wheel(wheels, name, version, {f"{name.replace('-', '_')}/kernels.py": IMPORT + text})
        self.index = self.enterContext(harness.package_index(wheels))

    def run_page(self, name, **instead):
        """Runs a page's commands, with other words than some of its, and returns what they print."""
        page = (DOCS / name).read_text(encoding="utf-8")
        for word, other in instead.items():
            page = page.replace(f"{word}.example.org", other)
        self.assertGreater(len(list(steps(page))), 5, name)
        page = page.replace("min_kept: 100", "min_kept: 1")  # the wheels are small here
        toolchains, _ = harness.installed_toolchains()
        environment = {"PATH": f"{harness.BIN}:{os.environ['PATH']}", "HOME": str(self.folder / "home"),
                       "PIP_INDEX_URL": self.index.url + "/simple"}
        done = subprocess.run(["bash", "-c", script(page, toolchains) + "kill $(jobs -p) 2>/dev/null; wait"], cwd=self.folder,
                              env=environment, capture_output=True, text=True, timeout=600)
        codes = dict(re.findall(r"^step (\d+) (\d+)$", done.stdout, re.MULTILINE))
        self.assertTrue(codes, done.stderr)
        for number, (_, text) in enumerate(steps(page)):
            if str(number) in codes:
                right = next((code for start, code in CODES.items() if start in text), 0)
                self.assertEqual(int(codes[str(number)]), right, f"{name}: {text}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done.stdout

    def test_kernel_engineer(self):
        said = self.run_page("tutorials/kernel-engineer.md")
        self.assertIn("kernels/kernels/softmax.py:10-22  softmax_forward_kernel  triton kernel, 157 tokens", said)
        self.assertIn("open index.html there", said)

    def test_data_engineer(self):
        said = self.run_page("tutorials/data-engineer.md")
        digests = re.findall(r"^dataset +(\S+)$", said, re.MULTILINE)
        self.assertEqual(digests[0], digests[1], "the lock makes the same dataset")
        self.assertIn('"reason":"near:source"', said)

    def test_platform_engineer(self):
        said = self.run_page("tutorials/platform-engineer.md")
        self.assertIn("\n3\nstep", said, "the coordinator is away")
        self.assertIn("restored from backups/monday", said)

    def test_a_cluster_by_hand(self):
        said = self.run_page("howto/cluster-by-hand.md", store="localhost", coordinator="localhost")
        for words in ("holds            0", "fetcher-1 (worker fetcher)", "written to my-dataset", "client client", '"caller":"client","status":"OK"'):
            self.assertIn(words, said)

    def test_every_page_has_its_test(self):
        self.assertEqual(sorted(path.stem for path in PAGES.glob("*.md")), ["data-engineer", "kernel-engineer", "platform-engineer"])


if __name__ == "__main__":
    missing = in_own_network()
    if missing:
        print(f"tutorials_test: skipped: {missing}")
        sys.exit(77)
    unittest.main()
