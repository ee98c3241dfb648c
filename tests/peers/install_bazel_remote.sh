#!/usr/bin/env bash
# usage: install_bazel_remote.sh [FOLDER]
# Builds bazel-remote, the content store that ours is held against, into FOLDER (default build/peers) and
# prints where it is. Does nothing, quickly, where it is there already. Exit 77: it cannot be had here, and
# why.
#
# The module is pinned by its hash, and what it is made of by its own go.sum.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=v2.6.1
hash=h1:vTMw3VmzjHfmR9jHcnqzQLLuHXRIFkROOcp5Pjke59c=
go_minor=24 # that version's go.mod asks for 1.24
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
  command -v cc >/dev/null || export CC=clang
  tests/peers/go_program.sh "$program" "github.com/buchgr/bazel-remote/v2@$version" "$hash" . >/dev/null
fi
ln -sfn "$(basename "$program")" "$(dirname "$program")/bazel-remote"
echo "$program"
