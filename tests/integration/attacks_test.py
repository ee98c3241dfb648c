"""What strangers, and workers that went bad, try on a cluster; each must fail, and the cluster go on. Runs the tests in attacks/.
usage: attacks_test.py [NAME...]: only the modules of these names."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def main():
    sys.path[:0] = [str(HERE), str(HERE / "attacks")]
    modules = sys.argv[1:] or sorted(path.stem for path in (HERE / "attacks").glob("*.py"))
    suite = unittest.defaultTestLoader.loadTestsFromNames(modules)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())


if __name__ == "__main__":
    main()
