#!/usr/bin/env bash
# usage: install_browser.sh [FOLDER]
# Installs what the tests of the catalog drive a browser with, Playwright and axe-core, into FOLDER (default build/peers/browser)
# from the Python package index, by hash, and Debian's Chromium if it is missing; prints FOLDER. Debian has one Chromium
# at a time, so that its version is not pinned. Exits 77 if they cannot be installed here, and prints the reason.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v chromium >/dev/null; then
  become=()
  [[ $EUID -eq 0 ]] || become=(sudo --non-interactive)
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium \
    -o DPkg::Lock::Timeout=600 >"$log" 2>&1 || {
    tail -n 3 "$log" >&2
    echo "install_browser.sh: skipped: apt-get does not give chromium" >&2
    exit 77
  }
fi
tests/peers/pip_by_hash.sh "${1:-build/peers/browser}" tests/peers/requirements/browser.txt
