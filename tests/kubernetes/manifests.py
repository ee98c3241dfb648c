"""The manifests of deploy/kubernetes as the tests read them: rendered, as lists of objects."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MANIFESTS = ROOT / "deploy/kubernetes"
sys.path.insert(0, str(MANIFESTS))
from kustomize import TOOLS, missing, pod_template, render  # noqa: E402, F401 (for the tests; TOOLS, where PyYAML lies, is searched)

OVERLAYS = sorted(path.parent for path in (MANIFESTS / "overlays").glob("*/kustomization.yaml"))


def name(thing):
    return f"{thing['kind']}/{thing['metadata']['name']}"


def of_kind(things, *kinds):
    return [thing for thing in things if thing["kind"] in kinds]


def selects(selector, labels):
    """Returns true if a label selector of Kubernetes matches these labels."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    for rule in selector.get("matchExpressions") or []:
        value, values = labels.get(rule["key"]), rule.get("values", [])
        if rule["operator"] not in ("In", "NotIn", "Exists", "DoesNotExist"):
            raise AssertionError(f"no such operator: {rule}")
        if {"In": value not in values, "NotIn": value in values, "Exists": value is None,
                "DoesNotExist": value is not None}[rule["operator"]]:
            return False
    return True
