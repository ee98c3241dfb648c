#!/usr/bin/env bash
# Every shell script of the project parses and passes shellcheck.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t scripts < <(find .ci/run deploy recipes tests -name '*.sh' -o -path .ci/run | sort)
[[ ${#scripts[@]} -gt 5 ]] || {
  echo "check_shell.sh: only ${#scripts[@]} scripts found" >&2
  exit 1
}
for script in "${scripts[@]}"; do
  bash -n "$script"
  [[ -x "$script" ]] || {
    echo "check_shell.sh: $script is not executable" >&2
    exit 1
  }
done
shellcheck --severity=style "${scripts[@]}"
echo "${#scripts[@]} scripts"
