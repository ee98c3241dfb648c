#!/usr/bin/env bash
# usage: install_helm.sh [FOLDER]
# Builds Helm of its Go module, by its hash, into FOLDER (default build/peers/kubernetes), and prints where it is. Some minutes; nothing once it
# is there. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=v3.19.2
hash=h1:psQjaM8aIWrSVEly6PgYtLu/y6MRSmok4ERiGhZmtUY=
folder=${1:-build/peers/kubernetes}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [[ ! -x "$folder/helm" ]]; then
  module=$(tests/peers/go_module.sh "helm.sh/helm/v3@$version" "$hash")
  (cd "$module" && CGO_ENABLED=0 nice -n 19 go build -mod=readonly -trimpath -ldflags "-s -w" -o "$folder/helm.new" ./cmd/helm) >&2 || {
    echo "install_helm.sh: skipped: Helm $version does not build" >&2
    exit 77
  }
  mv "$folder/helm.new" "$folder/helm"
fi
echo "$folder/helm"
