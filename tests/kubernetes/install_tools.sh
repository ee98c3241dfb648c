#!/usr/bin/env bash
# usage: install_tools.sh [FOLDER]
# Gets what the tests of manifests and of lists of parts (SBOM) ask, into FOLDER (default build/peers/kubernetes), and prints
# where it is: PyYAML, kubernetes-validate and cyclonedx-python-lib from the Python package index, by hash; kustomize from its Go
# module, unless kubectl is here, which has it. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

requirements=tests/kubernetes/requirements.txt
kustomize_version=v5.7.1
folder=${1:-build/peers/kubernetes}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

cannot() {
  tail -n 3 "$log" >&2
  echo "install_tools.sh: skipped: $1" >&2
  exit 77
}

wanted=$(sha256sum <"$requirements")
if [[ ! -f "$folder/.requirements" || "$(<"$folder/.requirements")" != "$wanted" ]]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes --target "$folder" \
    --requirement "$requirements" >"$log" 2>&1 || cannot "pip does not give $requirements for this Python"
  echo "$wanted" >"$folder/.requirements"
fi
if ! command -v kubectl >/dev/null && [[ ! -x "$folder/kustomize" ]]; then
  command -v go >/dev/null || cannot "neither kubectl nor go is here"
  # Go checks the module with the checksum database, and what it is made of with its own go.sum.
  GOBIN="$(cd "$folder" && pwd)" go install "sigs.k8s.io/kustomize/kustomize/v5@$kustomize_version" >"$log" 2>&1 ||
    cannot "the Go module proxy does not give kustomize $kustomize_version"
fi
echo "$folder"
