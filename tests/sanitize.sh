#!/usr/bin/env bash
# usage: sanitize.sh [address|thread] [CTEST_ARGUMENT...]
# Builds preset asan (AddressSanitizer and UndefinedBehaviorSanitizer; the default) or tsan (ThreadSanitizer) and
# runs every unit, service and contract test under it; any report fails the test that made it. Not part of run.sh:
# it builds everything once more.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-address}" in
  address) preset=asan ;;
  thread) preset=tsan ;;
  *)
    echo "usage: sanitize.sh [address|thread] [CTEST_ARGUMENT...]" >&2
    exit 2
    ;;
esac
shift $(($# > 0 ? 1 : 0))

deploy/install.sh
deploy/build.sh "$preset"
exec ctest --preset "$preset" "$@"
