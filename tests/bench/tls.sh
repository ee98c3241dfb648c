#!/usr/bin/env bash
# usage: tls.sh [ROUNDS]
# What mutual TLS costs: the store and the coordinator with it beside the same without, over loopback, in turns.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rounds="${1:-3}"

cmake --preset release -DKERNELMILL_BENCH=ON >/dev/null
cmake --build --preset release --target kernelmill-coordinator kernelmill-store coordinator_bench store_bench >/dev/null
python3 tests/bench/store.py --servers ours,tls --rounds "$rounds" --connections 1,8

deploy/certs.sh build/bench-certificates >/dev/null
for _ in $(seq "$rounds"); do
  for part in completions tasks; do
    echo "coordinator, without TLS:"
    build/release/bin/coordinator_bench --part "$part" --tcp
    echo "coordinator, with TLS:"
    build/release/bin/coordinator_bench --part "$part" --certs build/bench-certificates
  done
done
