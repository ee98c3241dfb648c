#!/usr/bin/env bash
# usage: install_tools.sh [FOLDER]
# Gets what the tests of manifests and of lists of parts (SBOM) ask, into FOLDER (default build/peers/kubernetes), and prints
# where it is: PyYAML, kubernetes-validate and cyclonedx-python-lib from the Python package index, by hash; kustomize from its Go
# module, by its hash, unless kubectl is here, which has it. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

kustomize_version=v5.7.1
kustomize_hash=h1:sYJsarwy/SDJfjjLMUqwFDGPwzUtMOQ1i1Ed49+XSbw=
folder=${1:-build/peers/kubernetes}

tests/peers/pip_by_hash.sh "$folder" tests/kubernetes/requirements.txt >/dev/null
if ! command -v kubectl >/dev/null && [[ ! -x "$folder/kustomize" ]]; then
  tests/peers/go_program.sh "$folder/kustomize" "sigs.k8s.io/kustomize/kustomize/v5@$kustomize_version" "$kustomize_hash" . >/dev/null
fi
echo "$folder"
