#!/usr/bin/env python3
"""Makes the PrometheusRule of components/service-monitors of deploy/prometheus/rules, so that each rule has one place.

usage: make_rules.py [--check]      --check: only says whether it is that of the rules, by its exit code"""

import pathlib
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
RULES = HERE.parent / "prometheus/rules"
OUT = HERE / "components/service-monitors/rules.yaml"
HEAD = """\
# Made by deploy/kubernetes/make_rules.py of deploy/prometheus/rules: change those.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: kernelmill}
spec:
  groups:
"""


def groups(path):
    """The text below `groups:`."""
    head, _, body = path.read_text(encoding="utf-8").partition("groups:\n")
    assert body and all(line.startswith("#") or not line.strip() for line in head.splitlines()), path
    return textwrap.indent(body, "  ")


def main():
    text = HEAD + "".join(groups(path) for path in sorted(RULES.glob("*.yml")))
    if sys.argv[1:] == ["--check"]:
        if not OUT.exists() or OUT.read_text(encoding="utf-8") != text:
            sys.exit("make_rules.py: not that of the rules; run deploy/kubernetes/make_rules.py")
        return
    OUT.write_text(text, encoding="utf-8")
    print(OUT)


if __name__ == "__main__":
    main()
