#!/usr/bin/env bash
# usage: install_bazel_remote.sh [FOLDER]
# Builds bazel-remote, the content store that ours is held against, into FOLDER (default build/peers) and
# prints where it is. Does nothing, quickly, where it is there already. Exit 77: it cannot be had here, and
# why.
#
# The module is pinned by its hash, and built in its own folder of Go's module cache, so that what it is made of is pinned
# by its own go.sum.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=v2.6.1
hash=h1:vTMw3VmzjHfmR9jHcnqzQLLuHXRIFkROOcp5Pjke59c=
go_minor=24 # what that version's go.mod asks for: 1.24
folder=${1:-build/peers}

cannot() {
  echo "install_bazel_remote.sh: skipped: $1" >&2
  exit 77
}

mkdir -p "$folder"
program=$(cd "$folder" && pwd)/bazel-remote-$version
if [[ ! -x "$program" ]]; then
  command -v go >/dev/null || cannot "no go here; $version needs Go 1.$go_minor or later (Debian 12 has 1.19)"
  found=$(go env GOVERSION)
  minor=${found#go1.}
  minor=${minor%%[!0-9]*}
  [[ "$found" = go1.* && -n "$minor" && "$minor" -ge $go_minor ]] ||
    cannot "$found is too old; $version needs Go 1.$go_minor or later"
  command -v cc >/dev/null || command -v clang >/dev/null || cannot "no C compiler, which its zstd needs"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  echo "install_bazel_remote.sh: building bazel-remote $version" >&2
  module=$(tests/peers/go_module.sh "github.com/buchgr/bazel-remote/v2@$version" "$hash")
  command -v cc >/dev/null || export CC=clang
  # Built beside its place and moved: a build that was cut short is not taken for a whole one.
  (cd "$module" && go build -mod=readonly -trimpath -ldflags="-s -w" -o "$program.new" .) 2>"$log" || {
    tail -n 5 "$log" >&2
    cannot "it does not build"
  }
  mv "$program.new" "$program"
fi
ln -sfn "$(basename "$program")" "$(dirname "$program")/bazel-remote"
echo "$program"
