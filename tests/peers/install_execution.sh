#!/usr/bin/env bash
# usage: install_execution.sh [--torch] [FOLDER]
# Installs Triton and NumPy, which run kernels on this processor, into FOLDER (default build/peers/execution) from the Python package
# index, and prints where it is. With --torch also torch and pytest, which record cases (5 GB), into build/peers/recording. Exit 77: it
# cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
name=execution
requirements=deploy/execution.txt
if [[ "${1:-}" == --torch ]]; then
  name=recording
  requirements=tests/peers/requirements/recording.txt
  shift
fi
exec tests/peers/pip_by_hash.sh "${1:-build/peers/$name}" "$requirements" --no-deps
