#!/usr/bin/env bash
# usage: install_helm.sh [FOLDER]
# Builds Helm of its Go module into FOLDER (default build/peers/kubernetes), and prints where it is. Some minutes; nothing once it
# is there. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=v3.19.2
folder=${1:-build/peers/kubernetes}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [[ ! -x "$folder/helm" ]]; then
  command -v go >/dev/null || {
    echo "install_helm.sh: skipped: no go here" >&2
    exit 77
  }
  # Go checks the module with the checksum database, and what it is made of with its own go.sum.
  (cd / && GOBIN="$folder" CGO_ENABLED=0 nice -n 19 go install -trimpath -ldflags "-s -w" "helm.sh/helm/v3/cmd/helm@$version") >&2 || {
    echo "install_helm.sh: skipped: the Go module proxy does not give Helm $version, or it does not build" >&2
    exit 77
  }
fi
echo "$folder/helm"
