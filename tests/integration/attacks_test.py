"""What strangers, and workers that went bad, try on a cluster; each must fail, and the cluster go on. Runs the tests in attacks/.
usage: attacks_test.py [NAME...]: only the modules of these names."""

import run_folder

if __name__ == "__main__":
    run_folder.main("attacks")
