#!/usr/bin/env bash
# usage: install_adapter.sh [FOLDER]
# Builds prometheus-adapter of its Go module into FOLDER (default build/peers/kubernetes), and prints where it is. Some minutes;
# nothing once it is there. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=v0.12.0
folder=${1:-build/peers/kubernetes}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [[ ! -x "$folder/adapter" ]]; then
  command -v go >/dev/null || {
    echo "install_adapter.sh: skipped: no go here" >&2
    exit 77
  }
  # Go checks the module with the checksum database, and what it is made of with its own go.sum.
  (cd / && GOBIN="$folder" CGO_ENABLED=0 nice -n 19 go install -trimpath -ldflags "-s -w" \
    "sigs.k8s.io/prometheus-adapter/cmd/adapter@$version") >&2 || {
    echo "install_adapter.sh: skipped: the Go module proxy does not give prometheus-adapter $version, or it does not build" >&2
    exit 77
  }
fi
echo "$folder/adapter"
