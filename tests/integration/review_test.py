"""Review of what a dataset flags: a person at a pseudo-terminal decides, the decisions go into a file that the job names,
and the next dataset follows them. Also what a person's terminal is kept from, and the commands for machines."""

import csv
import json
import os
import pathlib
import pty
import select
import subprocess
import tempfile
import textwrap
import time
import unittest

import cuda_pairs_test as pairs
import harness

# A kernel whose docstring has all the words of its body, and an escape sequence that would clear a terminal.
LOADS = [f"v{i} = tl.load(x_ptr + {i})" for i in range(40)]
ALIKE = '''\
import triton
import triton.language as tl


@triton.jit
def alike(x_ptr, y_ptr):
    """\x1b[2J WORDS"""
'''.replace("WORDS", " ".join(LOADS)) + "".join(f"    {load}\n" for load in LOADS)


class Reviewer:
    """`kernelmill review` on a pseudo-terminal."""

    def __init__(self, *argv, environment=None):
        self.parent, child = pty.openpty()
        self.shown = b""
        self.process = subprocess.Popen([harness.BIN / "kernelmill", "review", *map(str, argv)], stdin=child, stdout=child,
                                        stderr=child, env={**os.environ, "TERM": "dumb", **(environment or {})})
        os.close(child)

    def until(self, text, seconds=60):
        """Waits for `text`; returns what the terminal shows before it, from where the last call ended."""
        deadline = time.monotonic() + seconds
        while text.encode() not in self.shown:
            if time.monotonic() > deadline:
                raise AssertionError(f"no {text!r} in {self.shown!r}")
            if select.select([self.parent], [], [], 0.1)[0]:
                try:
                    self.shown += os.read(self.parent, 65536)
                except OSError:  # the other end is closed
                    raise AssertionError(f"ended without {text!r}: {self.shown!r}") from None
        before, _, self.shown = self.shown.partition(text.encode())
        return before.decode()

    def press(self, keys):
        os.write(self.parent, keys.encode())

    def end(self):
        code = self.process.wait(60)
        os.close(self.parent)
        return code


class Review(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        harness.write_files(self.folder / "repo", {**pairs.FILES, "ops/alike.py": ALIKE})
        self.reviews = self.folder / "reviews.jsonl"

    def crawl(self, name, more="", expect=0):
        job = self.folder / f"{name}.yaml"
        job.write_text(textwrap.dedent("""\
            name: reviewed
            sources:
              - path: ./repo
                name: ops
                include: ["**/*.py", "**/*.cu"]
            """) + more)
        done = harness.crawl(job, self.folder / name, self.folder / "data", "--json", check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return self.folder / name

    def run_review(self, *argv):
        return harness.run(harness.BIN / "kernelmill", "review", *map(str, argv), check=False)

    def listed(self, dataset, *argv):
        done = self.run_review(dataset, "--list", "--json", "--reviews", self.reviews, *argv)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {item["id"]: item for item in map(json.loads, done.stdout.splitlines())}

    def test_a_person_decides_and_the_next_dataset_follows(self):
        first = self.crawl("first")
        items = self.listed(first)
        self.assertEqual([item["flag"] for item in items.values()], ["word_overlap", "pair"])

        reviewer = Reviewer(first, "--reviews", self.reviews, "--who", "ann")
        reviewer.until("[1 of 2] word_overlap")
        shown = reviewer.until("[?] ")
        self.assertIn("\\x1b[2J", shown)
        self.assertNotIn("\x1b", shown)
        reviewer.press("r")
        reviewer.until("why: ")
        reviewer.press("it repeats itself\r")
        reviewer.until("[2 of 2] pair")
        reviewer.press("q")
        reviewer.until("1 rejected")
        self.assertEqual(reviewer.end(), 0)

        again = Reviewer(first, "--reviews", self.reviews, environment={"KERNELMILL_REVIEWER": "bob"})
        shown = again.until("[1 of 1] pair") + again.until("[?] ")
        self.assertNotIn("word_overlap", shown)
        self.assertIn("GeluForward", shown)
        self.assertIn("_gelu_fwd_kernel", shown)
        again.press("a")
        again.until("0 left undecided")
        self.assertEqual(again.end(), 0)
        self.assertEqual([(review["flag"], review["decision"], review["who"], review["why"])
                          for review in map(json.loads, self.reviews.read_text().splitlines())],
                         [("word_overlap", "reject", "ann", "it repeats itself"), ("pair", "accept", "bob", "")])

        second = self.crawl("second", "reviews: reviews.jsonl\n")
        self.assertEqual([row["reason"] for row in harness.ledger(second) if row["fate"] == "rejected"],
                         ["review:word_overlap"])
        rows = list(csv.DictReader((second / "cu2triton_sft.csv").read_text().splitlines(keepends=True)))
        self.assertEqual(len(rows), 1)
        self.assertIn("GeluForward", rows[0]["prompt"])
        self.assertIn("_gelu_fwd_kernel", rows[0]["completion"])
        report = json.loads((second / "report.json").read_text())
        self.assertEqual(report["reviews"], {"accepted": {"pair": 1}, "rejected": {"word_overlap": 1}, "unmatched": []})
        self.assertEqual(self.listed(second), {})
        self.assertNotEqual(harness.dataset_digest(first), harness.dataset_digest(second))
        self.assertEqual(harness.dataset_digest(self.crawl("third")), harness.dataset_digest(first))

    def test_machines_decide_by_id(self):
        dataset = self.crawl("dataset")
        alike, pair = self.listed(dataset)
        self.assertEqual(self.run_review(dataset, "--reviews", self.reviews, "--accept", alike, "--who", "ann").returncode, 0)
        self.assertEqual(self.run_review(dataset, "--reviews", self.reviews, "--reject", pair, "--why", "others",
                                         "--who", "ann").returncode, 0)
        self.assertEqual(self.listed(dataset), {})
        self.assertEqual(self.listed(dataset, "--all")[pair]["decision"]["why"], "others")
        self.assertNotEqual(self.run_review(dataset, "--reviews", self.reviews, "--accept", "pair:1-2").returncode, 0)

        followed = self.crawl("followed", "reviews: reviews.jsonl\n")
        kernels = [json.loads(line) for line in (followed / "kernels.jsonl").read_text().splitlines()]
        self.assertEqual([kernel["word_overlap"] for kernel in kernels if kernel["name"] == "alike"], [None])
        self.assertEqual(harness.rows_of(followed, "cuda_triton_pairs"), [])

    def test_without_a_terminal_nothing_is_asked(self):
        dataset = self.crawl("dataset")
        done = self.run_review(dataset, "--reviews", self.reviews)
        self.assertEqual(done.returncode, 2)
        self.assertIn("review requires a terminal", done.stderr)
        self.assertFalse(self.reviews.exists())

    def test_a_decision_on_what_is_gone_is_listed_and_the_job_ends_with_1(self):
        self.reviews.write_text(json.dumps({"kernel": {"path": "gone.py", "name": "k"}, "flag": "license",
                                            "decision": "reject", "who": "ann", "why": "w", "date": "2026-11-23"}) + "\n")
        dataset = self.crawl("dataset", "reviews: reviews.jsonl\n", expect=1)
        report = json.loads((dataset / "report.json").read_text())
        self.assertEqual(report["reviews"]["unmatched"], [{"review": 0, "problem": "no such kernel"}])


if __name__ == "__main__":
    unittest.main()
