"""once_more.py: one failure is repeated and shown, a second is a failure."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ONCE_MORE = pathlib.Path(__file__).with_name("once_more.py")
# Fails until it was run as often as its argument says.
FLAKY = """
import pathlib, sys
runs = pathlib.Path(__file__).with_suffix('.runs')
count = int(runs.read_text()) + 1 if runs.exists() else 1
runs.write_text(str(count))
sys.exit(0 if count >= int(sys.argv[1]) else 3)
"""


class OnceMore(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.marker = pathlib.Path(folder.name, "repeats", "flaky")
        self.script = pathlib.Path(folder.name, "flaky.py")
        self.script.write_text(FLAKY)

    def call(self, mode, *args):
        return subprocess.run([sys.executable, ONCE_MORE, mode, self.marker, *args], check=False,
                              stdout=subprocess.DEVNULL).returncode

    def test_what_passes_at_once_is_run_once_and_leaves_no_mark(self):
        self.assertEqual(self.call("run", self.script, "1"), 0)
        self.assertEqual(self.script.with_suffix(".runs").read_text(), "1")
        self.assertEqual(self.call("check"), 0)

    def test_what_passes_at_the_second_time_is_shown_as_skipped(self):
        self.assertEqual(self.call("run", self.script, "2"), 0)
        self.assertEqual(self.call("check"), 77)

    def test_what_fails_twice_fails(self):
        self.assertEqual(self.call("run", self.script, "3"), 3)
        self.assertEqual(self.call("check"), 0)

    def test_a_later_run_that_passes_at_once_takes_the_mark_away(self):
        self.assertEqual(self.call("run", self.script, "2"), 0)
        self.assertEqual(self.call("run", self.script, "1"), 0)
        self.assertEqual(self.call("check"), 0)


if __name__ == "__main__":
    unittest.main()
