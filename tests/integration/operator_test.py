"""An operator's hour: what moves, what does not, who says why, and how to come back. Runs the tests in operator/.
usage: operator_test.py [NAME...]: only the modules of these names."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def main():
    sys.path[:0] = [str(HERE), str(HERE / "operator")]
    modules = sys.argv[1:] or sorted(path.stem for path in (HERE / "operator").glob("*.py"))
    suite = unittest.defaultTestLoader.loadTestsFromNames(modules)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())


if __name__ == "__main__":
    main()
