#!/usr/bin/env bash
# usage: install_typescript.sh [FOLDER]
# Installs what checks the types of the catalog's front end into FOLDER (default build/peers/typescript) by its lock file, and
# prints where it is. Does nothing where it is there already. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folder=${1:-build/peers/typescript}
web=client/catalog/web
if ! cmp --silent "$web/package-lock.json" "$folder/package-lock.json" || [[ ! -e "$folder/.whole" ]]; then
  command -v npm >/dev/null || {
    echo "install_typescript.sh: skipped: there is no npm" >&2
    exit 77
  }
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$web/package.json" "$web/package-lock.json" "$folder"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  timeout 300 npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund >"$log" 2>&1 || {
    tail -n 3 "$log" >&2
    echo "install_typescript.sh: skipped: npm does not give what $web/package-lock.json names" >&2
    exit 77
  }
  touch "$folder/.whole"
fi
echo "$folder"
