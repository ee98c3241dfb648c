#!/usr/bin/env bash
# usage: go_module.sh MODULE@VERSION HASH
# Prints the folder of a Go module whose hash, as go.sum files write it, is HASH. A build in that folder uses the versions that
# the module's own go.sum pins. Exit 77: the module is not available here (it prints why); 1: the hash differs.
set -euo pipefail

command -v go >/dev/null || {
  echo "go_module.sh: skipped: no go here, for $1" >&2
  exit 77
}
cd / # outside of any module
said=$(go mod download -json "$1" 2>&1) || {
  echo "go_module.sh: skipped: the Go module proxy does not give $1" >&2
  exit 77
}
field() { sed -n "s/^\t\"$1\": \"\(.*\)\",\{0,1\}\$/\1/p" <<<"$said"; }
[[ "$(field Sum)" = "$2" ]] || {
  echo "go_module.sh: $1 has the hash $(field Sum), not the pinned $2" >&2
  exit 1
}
field Dir
