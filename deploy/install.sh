#!/usr/bin/env bash
# usage: install.sh [USE...]
# Installs what building and testing need: Debian packages by deploy/packages.txt (of the uses build, test and run, or
# of those given), the tree-sitter grammars and the licence texts. Does nothing, quickly, where all is there already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ $# -gt 0 ]] || set -- build test run

command -v apt-get >/dev/null || {
  echo "install.sh: no apt-get here: deploy/packages.txt names packages of Debian 12; elsewhere use deploy/docker" >&2
  exit 1
}
mapfile -t packages < <(deploy/packages.sh --missing "$@")
if [[ ${#packages[@]} -gt 0 ]]; then
  become=()
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null || {
      echo "install.sh: not root, and no sudo. Have root run: apt-get install ${packages[*]}" >&2
      exit 1
    }
    become=(sudo)
  fi
  echo "install.sh: installing ${#packages[@]} Debian packages"
  log=$(mktemp)
  if ! { "${become[@]}" apt-get update &&
    "${become[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install --yes --no-install-recommends "${packages[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    echo "install.sh: apt-get failed. The versions pinned in deploy/packages.txt are those of Debian 12." >&2
    exit 1
  fi
  rm -f "$log"
fi
deploy/fetch_grammars.sh
