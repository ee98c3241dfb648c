#!/usr/bin/env bash
# usage: store.sh [ARGUMENT_OF_STORE_PY...]
# Builds the store and its benchmark, installs bazel-remote, and measures one against the other.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cmake --preset release -DKERNELMILL_BENCH=ON >/dev/null
cmake --build --preset release --target kernelmill-store store_bench >/dev/null
tests/peers/install_bazel_remote.sh >/dev/null
exec python3 tests/bench/store.py "$@"
