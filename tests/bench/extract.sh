#!/usr/bin/env bash
# usage: extract.sh [ARGUMENT_OF_EXTRACT_PY...]
# Builds the extractor's benchmark, and measures it against CPython's parser.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cmake --preset release -DKERNELMILL_BENCH=ON >/dev/null
cmake --build --preset release --target extract_bench >/dev/null
exec python3 tests/bench/extract.py "$@"
