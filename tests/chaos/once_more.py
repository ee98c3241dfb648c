"""usage: once_more.py run MARKER SCRIPT [ARG...] | once_more.py check MARKER

Chaos tests depend on when a fault meets what. `run` runs one, and once more if it fails; MARKER, a file, is there
afterwards if it took the second time. `check` exits with 77 where it is, so that ctest's summary lists the test as
skipped: a chaos test that is repeated does not go by unseen.
"""

import pathlib
import subprocess
import sys

SKIPPED = 77


def run(marker, command):
    marker.unlink(missing_ok=True)
    first = subprocess.run(command, check=False).returncode
    if first in (0, SKIPPED):
        return first
    print(f"once_more.py: exit code {first}; the same test once more", flush=True)
    second = subprocess.run(command, check=False).returncode
    if second == 0:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.write_text(f"{first}\n")
    return second


def main():
    mode, marker, *command = sys.argv[1:]
    marker = pathlib.Path(marker)
    if mode == "run":
        return run(marker, [sys.executable, *command])
    if marker.exists():
        print(f"{marker.name} failed once with exit code {marker.read_text().strip()}, and passed the second time")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
