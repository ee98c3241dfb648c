#!/usr/bin/env bash
# usage: install_helm.sh [FOLDER]
# Builds Helm of its Go module, by its hash, into FOLDER (default build/peers/kubernetes), and prints where it is. Some minutes;
# nothing once it is there. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=v3.19.2
hash=h1:psQjaM8aIWrSVEly6PgYtLu/y6MRSmok4ERiGhZmtUY=
folder=${1:-build/peers/kubernetes}
CGO_ENABLED=0 exec tests/peers/go_program.sh "$folder/helm" "helm.sh/helm/v3@$version" "$hash" ./cmd/helm
