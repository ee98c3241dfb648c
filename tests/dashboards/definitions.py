"""What is said of metrics in several places: the table, dashboards, rules and runbooks."""

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
    """Names of /metrics, by docs/metrics.md; a histogram's three series each."""
    names = set()
    for name, kind in re.findall(r"^\| `(\w+)` \| (\w+) \|", (ROOT / "docs/metrics.md").read_text(), re.M):
        names |= {f"{name}_{part}" for part in ("bucket", "sum", "count")} if kind == "histogram" else {name}
    return names


def rules(kind):
    """The recording rules or the alerts, as they stand in the files."""
    return [rule for path in sorted(RULES.glob("*.yml")) for group in yaml.safe_load(path.read_text())["groups"]
            for rule in group["rules"] if kind in rule]


def dashboards():
    return [json.loads(path.read_text()) for path in sorted((ROOT / "deploy/grafana/dashboards").glob("*.json"))]


def panels(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def metrics_of(expression):
    """The metrics and recorded series that an expression names."""
    return set(NAME.findall(LABELS.sub("", expression)))
