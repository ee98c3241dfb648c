"""Runs the test modules of a folder beside this file, or of these names alone; for a program that says what the folder is about."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def main(folder):
    sys.path[:0] = [str(HERE), str(HERE / folder)]
    modules = sys.argv[1:] or sorted(path.stem for path in (HERE / folder).glob("*.py"))
    suite = unittest.defaultTestLoader.loadTestsFromNames(modules)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
