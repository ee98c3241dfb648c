#!/usr/bin/env bash
# The types of the catalog's front end hold. Exit 77: TypeScript is not here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tsc=build/peers/typescript/node_modules/.bin/tsc
[[ -x "$tsc" ]] || {
  echo "skipped: no TypeScript: tests/catalog/install_typescript.sh"
  exit 77
}
"$tsc" --project client/catalog/web
echo "types hold"
