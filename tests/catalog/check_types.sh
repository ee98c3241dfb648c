#!/usr/bin/env bash
# The types of the front ends hold. Exit 77: TypeScript is not here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tsc=build/peers/typescript/node_modules/.bin/tsc
[[ -x "$tsc" ]] || {
  echo "skipped: no TypeScript: tests/catalog/install_typescript.sh"
  exit 77
}
for project in client/catalog/web client/jobs_page/web; do
  "$tsc" --project "$project"
done
echo "types hold"
