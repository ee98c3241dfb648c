#!/usr/bin/env bash
# usage: build.sh [PRESET [CMAKE_ARGUMENT...]]
# Configures and builds a preset of CMakePresets.json (default release) into build/PRESET.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset="${1:-release}"
shift $(($# > 0 ? 1 : 0))
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" "$@" >"$log" 2>&1 || {
  cat "$log" >&2
  exit 1
}
echo "build.sh: building $preset"
# Print each step on a terminal; elsewhere print a step every 30 seconds, and errors.
if [[ -t 1 ]]; then
  cmake --build --preset "$preset"
else
  deploy/run_logged.sh "$log" cmake --build --preset "$preset" || {
    grep -v '^\[[0-9/]*\] Building\|^\[[0-9/]*\] Linking' "$log" | tail -n 60 >&2
    exit 1
  }
  echo "build.sh: build/$preset is up to date"
fi
