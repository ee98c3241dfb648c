#!/usr/bin/env bash
# usage: install_sdk.sh [FOLDER]
# Installs what deploy/grafana/generate.py writes dashboards with, and PyYAML, into FOLDER (default build/peers/grafana) from the Python
# package index, by hash, and prints where it is. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

requirements=tests/dashboards/requirements.txt
folder=${1:-build/peers/grafana}

if ! cmp -s "$requirements" "$folder/.requirements"; then
  rm -rf "$folder"
  mkdir -p "$folder"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --target "$folder" \
    --requirement "$requirements" >"$log" 2>&1 || {
    tail -n 3 "$log" >&2
    echo "install_sdk.sh: skipped: pip does not give what $requirements names" >&2
    exit 77
  }
  cp "$requirements" "$folder/.requirements"
fi
echo "$folder"
