#!/usr/bin/env bash
# usage: build_deb.sh [OUT_DIR]
# Makes the Debian packages kernelmill and kernelmill-server in OUT_DIR (default build/packages), from the programs of
# build/release, which it builds first, or from those in KERNELMILL_BIN. The same commit gives the same bytes. Needs
# binutils and dpkg-dev.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=deploy/packages/common.sh
. deploy/packages/common.sh

out=${1:-build/packages}
need dpkg-shlibdeps dpkg-dev
need strip binutils
bin=$(programs)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
  cmake -G Ninja -S deploy/packages -B "$work/build" -DPROGRAMS="$bin" &&
    cpack --config "$work/build/CPackConfig.cmake" -B "$work"
} >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  exit 1
}
mkdir -p "$out"
for package in "$work"/*.deb; do
  mv "$package" "$out/"
  report "$out/$(basename "$package")"
done
