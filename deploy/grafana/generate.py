#!/usr/bin/env python3
"""Writes deploy/grafana/dashboards/*.json from deploy/grafana/pages.
usage: generate.py [--check]: --check writes nothing, and exits with 1 where a file is out of step."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import panels  # noqa: E402
from pages import PAGES  # noqa: E402


def main():
    wanted = {HERE / "dashboards" / f"{page.uid}.json": panels.render(page) for page in PAGES}
    there = set((HERE / "dashboards").glob("*.json"))
    wrong = [path for path, text in wanted.items() if path not in there or path.read_text() != text]
    wrong += sorted(there - set(wanted))
    if "--check" in sys.argv[1:]:
        for path in wrong:
            print(f"{path.name} is out of step: deploy/grafana/generate.py writes it")
        sys.exit(bool(wrong))
    for path in there - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        path.write_text(text)
    print(f"{len(wanted)} dashboards")


if __name__ == "__main__":
    main()
