#!/usr/bin/env bash
# usage: go_program.sh PROGRAM MODULE@VERSION HASH PACKAGE
# Builds a package of a Go module (go_module.sh), "." or "./cmd/NAME", to the path PROGRAM, and prints that. Nothing once it is there.
# Exit 77: it cannot be had here, and why.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

mkdir -p "$(dirname "$1")"
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
if [[ ! -x "$program" ]]; then
  module=$("$here/go_module.sh" "$2" "$3")
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  echo "go_program.sh: building $(basename "$program") of $2" >&2
  # Built beside its place and moved: a build that was cut short is not taken for a whole one.
  (cd "$module" && nice -n 19 go build -mod=readonly -trimpath -ldflags="-s -w" -o "$program.new" "$4") >"$log" 2>&1 || {
    tail -n 5 "$log" >&2
    echo "go_program.sh: skipped: $2 does not build" >&2
    exit 77
  }
  mv "$program.new" "$program"
fi
echo "$program"
