#!/usr/bin/env bash
# usage: coordinator.sh [ARGUMENT_OF_COORDINATOR_BENCH...]
# Builds the coordinator, the store and the benchmark, and measures what scheduling costs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cmake --preset release -DKERNELMILL_BENCH=ON >/dev/null
cmake --build --preset release --target kernelmill-coordinator kernelmill-store coordinator_bench >/dev/null
exec build/release/bin/coordinator_bench "$@"
