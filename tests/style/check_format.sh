#!/usr/bin/env bash
# usage: check_format.sh [--fix] [FILE...]
# Checks that C++ files (default: all of ours) are formatted as .clang-format says; --fix formats them. Put a comment that is a
# table or a grammar between `// clang-format off` and `// clang-format on`. Exit 77: clang-format is not installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mode=(--dry-run -Werror)
if [[ "${1:-}" == --fix ]]; then
  mode=(-i)
  shift
fi
program=${KERNELMILL_CLANG_FORMAT:-build/peers/clang_format}/clang_format/data/bin/clang-format
if [[ ! -x "$program" ]]; then
  echo "check_format.sh: skipped: clang-format is not installed; run tests/style/install_clang_format.sh"
  exit 77
fi

files=("$@")
if [[ ${#files[@]} -eq 0 ]]; then
  mapfile -t files < <(find common dataset services client tests -path tests/data -prune -o -name '*.cc' -print -o -name '*.h' -print | sort)
fi
printf '%s\0' "${files[@]}" | xargs -0 -P 2 -n 100 "$program" --style=file "${mode[@]}" || {
  echo "check_format.sh: some files are not formatted; run tests/style/check_format.sh --fix" >&2
  exit 1
}
echo "check_format.sh: ${#files[@]} files"
