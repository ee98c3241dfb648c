#!/usr/bin/env bash
# usage: fuzz.sh TARGET SECONDS [LIBFUZZER_FLAG...]
# Builds the preset fuzz and runs one target of it (extract_fuzz, cuda_fuzz, link_fuzz, plain_parser_fuzz) under
# ASan and UBSan, from the repository's own test data on. New inputs go to .cache/fuzz/TARGET, what fails to .cache/fuzz/TARGET-findings; a finding is exit status 1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if [[ $# -lt 2 ]]; then
  echo "usage: fuzz.sh TARGET SECONDS [LIBFUZZER_FLAG...]" >&2
  exit 2
fi
target=$1
seconds=$2
shift 2

deploy/install.sh
cmake --preset fuzz >/dev/null
ninja -C build/fuzz "$target"

corpus=.cache/fuzz/$target
findings=.cache/fuzz/$target-findings
mkdir -p "$corpus" "$findings"
tests/fuzz/seed.py "$target" "$corpus"
build/fuzz/bin/"$target" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 -max_len=65536 \
  -dict=tests/fuzz/kernels.dict -artifact_prefix="$findings/" "$@" "$corpus" || exit 1
