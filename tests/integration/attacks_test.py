"""Runs the tests in attacks/: attacks by strangers and by malicious workers must fail, and the cluster must go on.
usage: attacks_test.py [NAME...]: only the modules of these names."""

import run_folder

if __name__ == "__main__":
    run_folder.main("attacks")
