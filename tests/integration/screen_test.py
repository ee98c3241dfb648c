"""A person's screen: the end of a run on one screen, colours, the source that holds up a run, and an answer to
Ctrl-C at once."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

import harness
import kernel_texts

COLOUR = re.compile(r"\x1b\[3\dm")
LINES, COLUMNS = 24, 100
# A machine whose cores are busy may be late; an answer takes some milliseconds (the test prints them).
AT_ONCE = 1.0


class Screen:
    """A program whose output goes to a terminal of 24 lines and 100 columns; its text with the time at which each part came."""

    def __init__(self, *argv, env=None):
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CLICOLOR_FORCE")}
        self.popen = subprocess.Popen([str(a) for a in argv], stdin=child, stdout=child, stderr=child,
                                      env=environment | {"TERM": "xterm"} | (env or {}), start_new_session=True)
        os.close(child)
        self.parts = []
        self.reader = threading.Thread(target=self.read, args=(parent,), daemon=True)
        self.reader.start()

    def read(self, parent):
        while select.select([parent], [], [], 300)[0]:
            try:
                part = os.read(parent, 65536)
            except OSError:  # the program has ended
                break
            self.parts.append((time.monotonic(), part.decode(errors="replace")))
        os.close(parent)

    def text(self):
        return "".join(part for _, part in self.parts)

    def until(self, text, seconds=60):
        harness.wait_until(lambda: text in self.text() or self.popen.poll() is not None, f"{text!r} on the screen", seconds, pause=0.01)
        assert text in self.text(), self.text()

    def takes_signals(self):
        """Says whether the program has begun, and blocks SIGINT for a thread that takes it; or has ended."""
        try:
            blocked = re.search(r"^SigBlk:\t(\w+)$", pathlib.Path(f"/proc/{self.popen.pid}/status").read_text(), re.MULTILINE)
        except OSError:
            return True
        return blocked is None or int(blocked[1], 16) >> (signal.SIGINT - 1) & 1

    def end(self, seconds=60):
        code = self.popen.wait(seconds)
        self.reader.join(10)
        return code

    def interrupt(self):
        """Presses Ctrl-C; returns the seconds until the answer."""
        before, begin = len(self.parts), time.monotonic()
        self.popen.send_signal(signal.SIGINT)

        def answer():
            return next((when for when, part in self.parts[before:] if "Ctrl-C again" in part or "interrupted" in part), None)

        harness.wait_until(lambda: answer() or self.popen.poll() is not None, "an answer", 20, pause=0.001)
        self.reader.join(0.5)
        assert answer(), f"no answer: {self.text()}"
        return answer() - begin


class OnScreen(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        harness.write_many_kernels(cls.folder / "a", 4, 2)
        harness.write_files(cls.folder / "b", {"LICENSE": harness.MIT_TEXT, "b.py": "import triton\nimport triton.language as tl\n\n\n" + kernel_texts.SCALE_ROWS})
        cls.silent = cls.enterClassContext(socket.create_server(("127.0.0.1", 0)))
        cls.slow = cls.write("slow", f"  - {{git: 'http://127.0.0.1:{cls.silent.getsockname()[1]}/x/y.git'}}\n")

    @classmethod
    def write(cls, name, sources, more=""):
        job = cls.folder / f"{name}.yaml"
        job.write_text(f"name: {name}\nsources:\n{sources}{more}")
        return job

    def crawl(self, job, *flags, env=None, out="out"):
        return Screen(harness.BIN / "kernelmill", "crawl", job, "--out", self.folder / out, "--data", self.folder / f"{out}-data", *flags, env=env)

    def test_the_end_of_a_run_is_one_screen(self):
        job = self.write("usual", "  - {path: ./a, name: a}\n  - {path: ./b, name: b}\n  - {path: ./none, name: none}\n",
                         "splits: {validation_repositories: [a, b]}\n")
        done = harness.crawl(job, "out", self.folder / "data", check=False, cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        lines = done.stdout.splitlines()
        self.assertLessEqual(len(lines), LINES, done.stdout)
        self.assertLessEqual(max(map(len, lines)), COLUMNS, done.stdout)
        for said in (r"^  kept +triton \d+; from 2 of 2 sources$", r"^failures +1$", r"^  none  pin  NOT_FOUND: ", r"^splits +validation \d+",
                     r"^  splits\.train  gets none of \d+ rows: there are only 2 repositories to divide$",
                     r"^time +\w+ [\d.]+\w*s, .* writing [\d.]+\w*s$", r"^  wall time; stages overlap; the slowest source is [ab], [\d.]+\w*s, most of it \w+$",
                     r"^next +the same command again +# ", r"^ +kernelmill head out +# ", r"^ +kernelmill publish out hf://OWNER/NAME +# "):
            self.assertRegex(done.stdout, re.compile(said, re.MULTILINE))

    def test_colours_are_for_terminals_and_for_those_who_want_them(self):
        job = self.write("plain", "  - {path: ./a, name: a}\n")
        screen = self.crawl(job, out="colours")
        self.assertEqual(screen.end(), 0, screen.text())
        self.assertIn("\x1b[32mjob\x1b[0m ", screen.text())
        for flags, env, coloured in (([], {"NO_COLOR": "1"}, False), (["--color", "never"], {}, False), ([], {"TERM": "dumb"}, False),
                                     (["--color", "always"], {"NO_COLOR": "1"}, True)):
            with self.subTest(flags=flags, env=env):
                screen = self.crawl(job, *flags, env=env, out="colours")
                self.assertEqual(screen.end(), 0, screen.text())
                self.assertEqual(bool(COLOUR.search(screen.text())), coloured)
        wrong = [harness.BIN / "kernelmill", "stats", self.folder / "nowhere"]
        screen = Screen(*wrong)
        screen.end()
        self.assertIn("\x1b[31mkernelmill:\x1b[0m ", screen.text())
        self.assertNotIn("\x1b", harness.run(*wrong, check=False).stderr)
        self.assertIn("\x1b[31m", harness.run(*wrong, check=False, env=dict(os.environ, CLICOLOR_FORCE="1")).stderr)

    def test_the_source_that_holds_up_a_run_is_named(self):
        screen = self.crawl(self.slow, out="held")
        screen.until("only pin of http://127.0.0.1", 40)
        screen.popen.send_signal(signal.SIGINT)
        time.sleep(0.2)
        screen.popen.send_signal(signal.SIGINT)
        self.assertEqual(screen.end(), 130)

    def answered(self, screen, what):
        """Presses Ctrl-C once the screen shows something; it is answered at once."""
        took = screen.interrupt()
        print(f"{what}: answered in {took * 1000:.1f} ms", file=sys.stderr)
        self.assertLess(took, AT_ONCE, what)

    def ended_at_once(self, screen, what):
        begin = time.monotonic()
        screen.popen.send_signal(signal.SIGINT)
        code = screen.end()
        took = time.monotonic() - begin
        print(f"{what}: a second Ctrl-C ended it in {took * 1000:.1f} ms", file=sys.stderr)
        self.assertEqual(code, 130, screen.text())
        self.assertLess(took, AT_ONCE, what)

    def test_a_crawl_answers_ctrl_c_at_once_and_ends_by_itself_or_at_a_second_one(self):
        for twice in (False, True):
            screen = self.crawl(self.slow, out=f"twice-{twice}")
            screen.until("pin ")
            self.answered(screen, "crawl")
            screen.until("stopping: running tasks get 5s, finished work is kept; Ctrl-C again ends at once")
            if twice:
                self.ended_at_once(screen, "crawl")
                continue
            begin = time.monotonic()
            self.assertEqual(screen.end(), 130, screen.text())
            self.assertLess(time.monotonic() - begin, 20)
            self.assertIn("interrupted; run the same command again to continue", screen.text())

    def test_who_waits_for_a_cluster_is_told_that_the_job_continues(self):
        with harness.Cluster(self.folder / "cluster") as cluster:
            screen = Screen(harness.BIN / "kernelmill", "submit", self.slow, "--wait", *cluster.addresses())
            screen.until("pin ")
            self.answered(screen, "submit --wait")
            self.assertEqual(screen.end(), 130)
            self.assertRegex(screen.text(), r"leaving; job slow-\d+ continues on the cluster; Ctrl-C again ends at once")

    def test_commands_on_datasets_answer_too(self):
        dataset = self.folder / "made"
        harness.run(sys.executable, harness.ROOT / "tests/catalog/made_dataset.py", dataset, "6000")
        generations = self.folder / "generations.jsonl"
        row = (self.folder / "a/kernels_00000.py").read_text()
        generations.write_text("".join(json.dumps({"task_id": f"t{i}", "completion": row}) + "\n" for i in range(3000)))
        for argv, shown in ((["catalog", dataset, "--out", self.folder / "site"], "read "), (["stats", dataset], ""),
                            (["evaluate", generations, "--no-compile"], " of 3000 samples")):
            with self.subTest(argv[0]):
                screen = Screen(harness.BIN / "kernelmill", *argv)
                if shown:
                    screen.until(shown)
                else:
                    harness.wait_until(screen.takes_signals, "the program to take signals", pause=0.001)
                try:
                    self.answered(screen, argv[0])
                except AssertionError:
                    if screen.popen.poll() == 0 and "interrupted" not in screen.text():
                        self.skipTest(f"{argv[0]} is too fast to be interrupted")
                    raise
                self.assertEqual(screen.end(), 130, screen.text())


if __name__ == "__main__":
    unittest.main()
