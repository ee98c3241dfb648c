#!/usr/bin/env bash
# usage: fetch.sh [ARGUMENT_OF_FETCH_PY...]
# Builds what fetches, and measures it against git's own clones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cmake --preset release >/dev/null
cmake --build --preset release \
  --target kernelmill kernelmill-store kernelmill-coordinator kernelmill-fetcher >/dev/null
exec python3 tests/bench/fetch.py "$@"
