"""An operator's hour: what moves, what does not, who says why, and how to come back. Runs the tests in operator/.
usage: operator_test.py [NAME...]: only the modules of these names."""

import run_folder

if __name__ == "__main__":
    run_folder.main("operator")
