"""The manifests of deploy/kubernetes as the tests read them: rendered, as lists of objects."""

import functools
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MANIFESTS = ROOT / "deploy/kubernetes"
OVERLAYS = sorted(path.parent for path in (MANIFESTS / "overlays").glob("*/kustomization.yaml"))
TOOLS = ROOT / "build/peers/kubernetes"  # by install_tools.sh
sys.path.insert(0, str(TOOLS))


def kustomize():
    """The command that renders a folder; None where there is none."""
    if shutil.which("kubectl"):
        return ["kubectl", "kustomize"]
    program = TOOLS / "kustomize"
    return [program, "build"] if program.exists() else None


def missing():
    """Why the manifests cannot be read here; empty where they can."""
    try:
        import yaml  # noqa: F401
    except ImportError:
        return "no PyYAML: tests/kubernetes/install_tools.sh"
    return "" if kustomize() else "neither kubectl nor kustomize: tests/kubernetes/install_tools.sh"


@functools.lru_cache
def render(folder):
    import yaml
    done = subprocess.run([*map(str, kustomize()), str(folder)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"{folder}: {done.stderr}")
    return list(yaml.safe_load_all(done.stdout))


def name(thing):
    return f"{thing['kind']}/{thing['metadata']['name']}"


def of_kind(things, *kinds):
    return [thing for thing in things if thing["kind"] in kinds]


def pod_template(thing):
    """The pod of a workload; None of anything else."""
    spec = thing.get("spec", {})
    if thing["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    return spec.get("template") if thing["kind"] in ("Deployment", "StatefulSet", "CronJob", "Job") else None


def selects(selector, labels):
    """Whether a label selector of Kubernetes takes these labels."""
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
