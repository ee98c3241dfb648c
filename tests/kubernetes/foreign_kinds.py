"""usage: foreign_kinds.py OUT
Writes the definitions of the kinds of others that our manifests use (cert-manager, KEDA, the Prometheus operator) to the folder
OUT, as JSON, from their Go modules, which Go checks with the checksum database. Needs PyYAML (install_tools.sh). Exit 77: they
cannot be had here, and why."""

import json
import pathlib
import subprocess
import sys

import manifests  # noqa: F401 (where PyYAML lies)

MODULES = {
    "github.com/cert-manager/cert-manager@v1.18.2": ["deploy/crds/crd-certificates.yaml", "deploy/crds/crd-issuers.yaml"],
    "github.com/kedacore/keda/v2@v2.17.2": ["config/crd/bases/keda.sh_scaledobjects.yaml"],
    "github.com/prometheus-operator/prometheus-operator@v0.85.0": [
        "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
        "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml"],
}


def folder_of(module):
    try:
        done = subprocess.run(["go", "mod", "download", "-json", module], capture_output=True, text=True, cwd="/", timeout=300)
        return pathlib.Path(json.loads(done.stdout)["Dir"])
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        print(f"foreign_kinds.py: skipped: {module}: {error!r}", file=sys.stderr)
        sys.exit(77)


def main():
    import yaml
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for module, paths in MODULES.items():
        folder = folder_of(module)
        items = [yaml.safe_load((folder / path).read_text(encoding="utf-8")) for path in paths]
        for item in items:  # of templates that are no YAML of a cluster yet
            for key in ("labels", "annotations"):
                item["metadata"].pop(key, None)
        name = module.split("/")[1]
        (out / f"{name}.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


if __name__ == "__main__":
    main()
