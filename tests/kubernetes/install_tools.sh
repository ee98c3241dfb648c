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
  module=$(tests/peers/go_module.sh "sigs.k8s.io/kustomize/kustomize/v5@$kustomize_version" "$kustomize_hash")
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  program=$(cd "$folder" && pwd)/kustomize
  # Built beside its place and moved: a build that was cut short is not taken for a whole one.
  (cd "$module" && go build -mod=readonly -trimpath -o "$program.new" .) >"$log" 2>&1 || {
    tail -n 3 "$log" >&2
    echo "install_tools.sh: skipped: kustomize $kustomize_version does not build" >&2
    exit 77
  }
  mv "$program.new" "$program"
fi
echo "$folder"
