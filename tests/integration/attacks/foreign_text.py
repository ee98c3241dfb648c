"""Names and texts of a repository that a terminal or a page would act on: none of their bytes comes out as it is, and no address in them is a link."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import harness
from hostile_repositories import kernel

ESCAPE, CSI, BIDI, HIDDEN = "\x1b]0;owned\x07\x1b[2J", "\x9b31m", "\u202e", "\u200b\ufeff"
HOSTILE = f"a{ESCAPE}{CSI}{BIDI}{HIDDEN} https:--evil.example www.evil.example me@evil.example ![x](https:--evil.example) <b>"
# Control characters, those of C1 too, and characters that reorder or hide text.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
FENCED = re.compile(r"^(`{3,}).*?^\1$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LICENSE = harness.MIT_TEXT.replace("the authors of this test", f"the authors {ESCAPE}{CSI}{BIDI} https://evil.example")


def address(text):
    """A name of a file cannot have a slash."""
    return text.replace("--", "//")


class ForeignText(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        source = cls.folder / "source"
        name = HOSTILE.replace("/", "-")
        harness.write_files(source, {
            "LICENSE": LICENSE, f"{name}/LICENSE": LICENSE, f"{name}/{name}.py": kernel("first"), "plain.py": kernel("second"), "a\nforged.py": kernel("third"),
            "broken.py": b"import triton\n@triton.jit\ndef k(x):\n" + "    return \u202e(\n".encode()})
        cls.job = cls.folder / "job.yaml"
        # A job file has no control characters below 0x80.
        category = address(HOSTILE).replace(ESCAPE, "").encode("unicode_escape").decode().replace("\\x9b", "\\u009b")
        cls.job.write_text(f'name: hostile\nsources:\n  - path: ./source\n    name: a\n    category: "{category}"\n'
                           "  - path: ./source\n    name: nothing\n    include: [\"no-such-\\u202e*.py\"]\n"
                           "  - path: \"./gone\\u202e\\u009b\"\n    name: gone\n", encoding="utf-8")
        cls.said = {}
        cls.out, data = cls.folder / "out", cls.folder / "data"
        cls.say("check", cls.job)
        cls.say("check", cls.job, "--json")
        cls.say("crawl", cls.job, "--out", cls.out, "--data", data, "--allow-failed")
        cls.say("crawl", cls.job, "--dry-run", "--data", data)
        cls.say("crawl", cls.job, "--dry-run", "--data", data, "--json")
        cls.say("crawl", cls.job, "--out", cls.folder / "again", "--data", data, "--allow-failed", "--json", "--log-level", "debug")
        cls.say("catalog", cls.out, "--out", cls.folder / "site")
        cls.say("diff", cls.out, cls.folder / "again")
        cls.say("extract", source)
        cls.say("extract", source, "--json")
        cls.say("validate", source)
        with harness.Cluster(cls.folder / "cluster") as cluster:
            cluster.start_workers()
            cls.say("submit", cls.job, "--wait", *cluster.addresses())
            job = cluster.jobs()[0]["job"]
            cls.say("report", job, *cluster.addresses())
            cls.say("jobs", *cluster.addresses())
            cls.say("workers", *cluster.addresses())
            cls.logs = {process.role: process.log for process in cluster.processes}
            for process in cluster.processes:
                process.stop()
            cls.logs = {role: path.read_bytes() for role, path in cls.logs.items()}

    @classmethod
    def say(cls, *words):
        """Runs a command and keeps what it says."""
        argv = [str(harness.BIN / "kernelmill"), *map(str, words)]
        done = subprocess.run(argv, capture_output=True, timeout=300, check=False, cwd=cls.folder)
        key = " ".join(str(word) for word in (words[0], *(w for w in words if str(w).startswith("--json"))))
        cls.said[f"{key} {len(cls.said)}"] = done.stdout + done.stderr

    def assert_safe(self, name, data):
        text = data.decode("utf-8")  # raises for what is no UTF-8
        found = UNSAFE.search(text)
        self.assertIsNone(found, f"{name}: {text[max(0, found.start() - 60):found.end() + 60]!r}" if found else "")

    def markdown(self):
        files = [path for folder in ("out", "site") for path in (self.folder / folder).rglob("*.md")]
        self.assertGreaterEqual(len(files), 4, files)
        return files

    def test_no_command_writes_what_a_terminal_acts_on(self):
        for name, data in self.said.items():
            with self.subTest(name):
                self.assert_safe(name, data)
                self.assertFalse([line for line in data.splitlines() if line.startswith(b"forged")], "a name begins a line")
        self.assertTrue(any(b"evil" in data for data in self.said.values()), "nothing hostile was said: no test")

    def test_no_log_has_it(self):
        for role, data in self.logs.items():
            with self.subTest(role):
                self.assert_safe(role, data)

    def test_no_markdown_has_it(self):
        for path in self.markdown():
            with self.subTest(path.name):
                self.assert_safe(path.name, path.read_bytes())

    def test_no_address_in_it_is_a_link(self):
        for path in self.markdown():
            text = FENCED.sub("", path.read_text(encoding="utf-8"))
            with self.subTest(path.name):
                self.assertNotRegex(text, r"https?://evil|www\.evil|@evil|(?<!\\)\[[^\]\n]*\]\([^)\n]*evil")
        self.assertTrue(any("evil" in path.read_text() for path in self.markdown()), "nothing hostile is in a page: no test")


if __name__ == "__main__":
    unittest.main(verbosity=2)
