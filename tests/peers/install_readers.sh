#!/usr/bin/env bash
# usage: install_readers.sh [FOLDER]
# Installs what people read a dataset with, pyarrow, datasets and DuckDB, into FOLDER (default build/peers/readers) from the
# Python package index, and prints where it is. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

packages=(pyarrow==26.0.1 datasets==5.2.0 duckdb==2.0.0)
folder=${1:-build/peers/readers}

if [[ ! -f "$folder/.version" || "$(<"$folder/.version")" != "${packages[*]}" ]]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: --target "$folder" \
    "${packages[@]}" >"$log" 2>&1 || {
    tail -n 3 "$log" >&2
    echo "install_readers.sh: skipped: pip does not give ${packages[*]} for this Python" >&2
    exit 77
  }
  echo "${packages[*]}" >"$folder/.version"
fi
echo "$folder"
