#!/usr/bin/env bash
# usage: compile.sh [ARGUMENT_OF_COMPILE_PY...]
# Builds the compiler's benchmark, and measures it with and without the sandbox, and against a new interpreter for each kernel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cmake --preset release -DKERNELMILL_BENCH=ON >/dev/null
cmake --build --preset release --target compile_bench >/dev/null
exec python3 tests/bench/compile.py "$@"
