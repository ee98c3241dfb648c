#!/usr/bin/env bash
# usage: packages.sh [--missing] USE...
# Prints the packages of deploy/packages.txt for the uses (build, test, run) as apt-get takes them, one
# NAME=VERSION per line. --missing: only packages that are not installed in that version.
set -euo pipefail

list="$(dirname "${BASH_SOURCE[0]}")/packages.txt"
missing=
if [[ "${1:-}" = --missing ]]; then
  missing=yes
  shift
fi
[[ $# -gt 0 ]] || {
  echo "usage: packages.sh [--missing] build|test|run..." >&2
  exit 2
}

declare -A installed
if [[ -n "$missing" ]]; then
  while read -r name version status; do
    if [[ "$status" = installed ]]; then installed[$name]=$version; fi
  done < <(dpkg-query --show --showformat='${Package} ${Version} ${db:Status-Status}\n')
fi

while read -r use package command _; do
  [[ -n "$use" && "$use" != \#* && " $* " = *" $use "* ]] || continue
  if [[ -n "$missing" ]]; then
    if [[ -n "$command" && "$command" != \#* ]] && command -v "$command" >/dev/null; then continue; fi
    # Unquoted on purpose: the version is a pattern.
    # shellcheck disable=SC2053
    if [[ "${installed[${package%%=*}]:-}" = ${package#*=} ]]; then continue; fi
  fi
  echo "$package"
done <"$list" | sort -u
