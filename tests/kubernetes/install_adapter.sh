#!/usr/bin/env bash
# usage: install_adapter.sh [FOLDER]
# Builds prometheus-adapter of its Go module into FOLDER (default build/peers/kubernetes), and prints where it is. Some minutes;
# nothing once it is there. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=v0.12.0
hash=h1:e29A6BIwA/NKxPZeuamBMHJsvz0sSUXTb92Obg7RMV4=
folder=${1:-build/peers/kubernetes}
CGO_ENABLED=0 exec tests/peers/go_program.sh "$folder/adapter" "sigs.k8s.io/prometheus-adapter@$version" "$hash" ./cmd/adapter
