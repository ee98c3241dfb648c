"""Renders kustomize folders to lists of objects. Needs PyYAML, and kubectl or kustomize; tests/kubernetes/install_tools.sh puts
PyYAML and kustomize into build/peers/kubernetes, which is searched too."""

import functools
import pathlib
import shutil
import subprocess
import sys

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "build/peers/kubernetes"
sys.path.insert(0, str(TOOLS))


def find_kustomize():
    """Returns the command that renders a folder, or None if there is no such program."""
    if shutil.which("kubectl"):
        return ["kubectl", "kustomize"]
    program = TOOLS / "kustomize"
    return [program, "build"] if program.exists() else None


def missing():
    """Returns what is missing to render manifests; empty if nothing is."""
    try:
        import yaml  # noqa: F401
    except ImportError:
        return "no PyYAML: tests/kubernetes/install_tools.sh"
    return "" if find_kustomize() else "neither kubectl nor kustomize: tests/kubernetes/install_tools.sh"


@functools.lru_cache
def render(folder):
    """Returns the objects that a folder's kustomization renders to. Callers share the list."""
    import yaml
    done = subprocess.run([*map(str, find_kustomize()), str(folder)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"{folder}: {done.stderr}")
    return list(yaml.safe_load_all(done.stdout))


def pod_template(thing):
    """Returns the pod template of a workload, or None for other objects."""
    spec = thing.get("spec", {})
    if thing["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    return spec.get("template") if thing["kind"] in ("Deployment", "StatefulSet", "CronJob", "Job") else None
