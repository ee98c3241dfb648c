"""usage: foreign_kinds.py OUT
Writes the definitions of the kinds of others that our manifests use (cert-manager, KEDA, the Prometheus operator) to the folder
OUT, as JSON, from their Go modules, by their hashes. Needs PyYAML (install_tools.sh). Exit 77: they cannot be had here, and why."""

import json
import pathlib
import subprocess
import sys

import manifests  # noqa: F401 (where PyYAML lies)

GET = pathlib.Path(__file__).resolve().parents[1] / "peers/go_module.sh"
# Module and hash, as go.sum writes it: files.
MODULES = {
    ("github.com/cert-manager/cert-manager@v1.18.2", "h1:H2P75ycGcTMauV3gvpkDqLdS3RSXonWF2S49QGA1PZE="): [
        "deploy/crds/crd-certificates.yaml", "deploy/crds/crd-issuers.yaml"],
    ("github.com/kedacore/keda/v2@v2.17.2", "h1:xlrcK5TKABJF9PebK79sgL07s/csGjL3H4m72OkZXxk="): [
        "config/crd/bases/keda.sh_scaledobjects.yaml"],
    ("github.com/prometheus-operator/prometheus-operator@v0.85.0", "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s="): [
        "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
        "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml"],
}


def folder_of(module, digest):
    done = subprocess.run([GET, module, digest], stdout=subprocess.PIPE, text=True, timeout=300)
    if done.returncode != 0:  # it said why
        sys.exit(done.returncode)
    return pathlib.Path(done.stdout.strip())


def main():
    import yaml
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for (module, digest), paths in MODULES.items():
        folder = folder_of(module, digest)
        items = [yaml.safe_load((folder / path).read_text(encoding="utf-8")) for path in paths]
        for item in items:  # templates that are not YAML of a cluster yet
            for key in ("labels", "annotations"):
                item["metadata"].pop(key, None)
        name = module.split("/")[1]
        (out / f"{name}.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


if __name__ == "__main__":
    main()
