#!/usr/bin/env bash
# usage: install.sh [USE...]
# Installs everything that building and testing need: the Debian packages of deploy/packages.txt (for the given uses; by
# default build, test and run), the tree-sitter grammars and the licence texts. Skips what is installed already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ $# -gt 0 ]] || set -- build test run

command -v apt-get >/dev/null || {
  echo "install.sh: needs apt-get and Debian 12, since deploy/packages.txt names its packages; elsewhere use deploy/docker" >&2
  exit 1
}
mapfile -t packages < <(deploy/packages.sh --missing "$@")
if [[ ${#packages[@]} -gt 0 ]]; then
  become=()
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null || {
      echo "install.sh: needs root or sudo; run as root: apt-get install ${packages[*]}" >&2
      exit 1
    }
    become=(sudo)
  fi
  echo "install.sh: installing ${#packages[@]} Debian packages"
  log=$(mktemp)
  # shellcheck disable=SC2016  # the inner shell expands it
  if ! deploy/run_logged.sh "$log" "${become[@]}" env DEBIAN_FRONTEND=noninteractive \
    bash -c 'apt-get update && apt-get install --yes --no-install-recommends "$@"' apt "${packages[@]}"; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    echo "install.sh: apt-get failed; deploy/packages.txt pins versions of Debian 12" >&2
    exit 1
  fi
  rm -f "$log"
fi
deploy/fetch_grammars.sh
