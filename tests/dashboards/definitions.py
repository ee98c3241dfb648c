"""Reads the names of metrics from the table, dashboards and rules."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SDK = ROOT / "build/peers/grafana"  # tests/dashboards/install_sdk.sh
sys.path.insert(0, str(SDK))
try:
    import yaml
except ModuleNotFoundError:
    print("skipped: no PyYAML; tests/dashboards/install_sdk.sh gets it", file=sys.stderr)
    sys.exit(77)

RULES = ROOT / "deploy/prometheus/rules"
NAME = re.compile(r"\b(?:kernelmill_|grpc_|process_)\w+|\bkernelmill:[\w:]+")
LABELS = re.compile(r"\b(?:grpc_method|grpc_service|grpc_code|grpc_type)\b")


def table():
    """Returns the names of /metrics in docs/reference/metrics.md, with three series for each histogram."""
    names = set()
    for name, kind in re.findall(r"^\| `(\w+)` \| (\w+) \|", (ROOT / "docs/reference/metrics.md").read_text(), re.M):
        names |= {f"{name}_{part}" for part in ("bucket", "sum", "count")} if kind == "histogram" else {name}
    return names


def rules(kind):
    """Returns the recording rules or the alerts of the rule files."""
    return [rule for path in sorted(RULES.glob("*.yml")) for group in yaml.safe_load(path.read_text())["groups"]
            for rule in group["rules"] if kind in rule]


def dashboards():
    return [json.loads(path.read_text()) for path in sorted((ROOT / "deploy/grafana/dashboards").glob("*.json"))]


def panels(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def metrics_of(expression):
    """Returns the metrics and recorded series that an expression names."""
    return set(NAME.findall(LABELS.sub("", expression)))
