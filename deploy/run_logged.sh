#!/usr/bin/env bash
# usage: run_logged.sh LOG COMMAND [ARGUMENT...]
# Runs the command with its output in LOG, and prints the last line of LOG every 30 seconds
# (KERNELMILL_PROGRESS_SECONDS), so that a person sees that it goes on. Ends with the command's exit code.
set -uo pipefail

log=$1
shift
(
  # A pipe that never ends: a read of it is a pause without a process that would outlive this script.
  exec {never}<> <(:)
  said=
  while true; do
    read -r -t "${KERNELMILL_PROGRESS_SECONDS:-30}" -u "$never" _ || true
    line=$(tail -n 1 "$log" | tr -cd '[:print:]' | cut -c 1-100)
    if [[ -n "$line" && "$line" != "$said" ]]; then echo "  $line"; fi
    said=$line
  done
) &
ticker=$!
trap 'kill "$ticker"; wait "$ticker" 2>/dev/null' EXIT
"$@" >"$log" 2>&1
