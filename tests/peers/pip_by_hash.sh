#!/usr/bin/env bash
# usage: pip_by_hash.sh FOLDER REQUIREMENTS [PIP_ARGUMENT...]
# Installs what a requirements file pins, by hash, from the Python package index into FOLDER, and prints where it is. Does nothing,
# quickly, where it is there already. Exit 77: it cannot be had here, and why.
#
# Such a file is made anew by: uv pip compile --generate-hashes --no-emit-index-url --no-annotate --python-version 3.11
set -euo pipefail

folder=$1
requirements=$2
shift 2

# The file, and the files that it names.
named=$(sed -n 's/^--requirement //p' "$requirements")
wanted=$(cd "$(dirname "$requirements")" && cat "$(basename "$requirements")" ${named:+"$named"} | sha256sum)

if [[ ! -f "$folder/.requirements" || "$(<"$folder/.requirements")" != "$wanted" ]]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes --target "$folder" \
    --requirement "$requirements" "$@" >"$log" 2>&1 || {
    tail -n 3 "$log" >&2
    echo "$(basename "$0"): skipped: pip does not give what $requirements names for this Python" >&2
    exit 77
  }
  echo "$wanted" >"$folder/.requirements"
fi
echo "$folder"
