#!/usr/bin/env bash
# usage: install_tiktoken.sh [FOLDER]
# Installs tiktoken, whose tokens ours are held against, into FOLDER (default build/peers/tiktoken) from the
# Python package index, and prints where it is. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=0.14.0
folder=${1:-build/peers/tiktoken}

if [[ ! -f "$folder/.version" || "$(<"$folder/.version")" != "$version" ]]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: --target "$folder" \
    "tiktoken==$version" >"$log" 2>&1 || {
    tail -n 3 "$log" >&2
    echo "install_tiktoken.sh: skipped: pip does not give tiktoken $version for this Python" >&2
    exit 77
  }
  echo "$version" >"$folder/.version"
fi
echo "$folder"
