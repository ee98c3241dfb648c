#!/usr/bin/env bash
# usage: dedup.sh [ARGUMENT_OF_DEDUP_PY...]
# Builds the deduplicator's benchmark, installs rensa and datasketch, and measures.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cmake --preset release -DKERNELMILL_BENCH=ON >/dev/null
cmake --build --preset release --target dedup_bench kernelmill kernelmill-store kernelmill-coordinator kernelmill-fetcher \
  kernelmill-extractor kernelmill-validator kernelmill-deduplicator >/dev/null
venv=build/peers/dedup-venv
[[ -x $venv/bin/python ]] || { python3 -m venv "$venv" && "$venv/bin/pip" -q install rensa datasketch; }
exec "$venv/bin/python" tests/bench/dedup.py "$@"
