#!/usr/bin/env bash
# usage: run.sh [--compose] [CTEST_ARGUMENT...]
# Installs what is missing, builds release, and runs every test; ctest's summary comes last.
# --compose also brings the cluster up on this machine's Docker engine (tests/integration/compose.sh).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

compose=
if [[ "${1:-}" = --compose ]]; then
  compose=yes
  shift
fi

deploy/install.sh
deploy/build.sh release
for peer in bazel_remote tiktoken; do
  "tests/peers/install_$peer.sh" >/dev/null || {
    status=$?
    [[ $status -eq 77 ]] || exit "$status" # 77: cannot be had here, and it said so; its tests skip
  }
done

if [[ -z "$compose" ]]; then
  echo "run.sh: compose cluster skipped: not asked for (--compose)"
else
  tests/integration/compose.sh || {
    status=$?
    [[ $status -eq 77 ]] || exit "$status" # 77: no Docker engine, and it said so
  }
fi

# Chaos tests depend on when a fault meets what; a test that fails is run once more, and both are in the log.
exec ctest --preset release --output-on-failure --parallel 2 --repeat until-pass:2 "$@"
