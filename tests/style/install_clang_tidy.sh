#!/usr/bin/env bash
# usage: install_clang_tidy.sh [FOLDER]
# Installs clang-tidy from the Python package index, by its hash, into FOLDER (default build/peers/clang_tidy), and prints where it
# is. Exit 77: not available for this machine; the reason is printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec tests/peers/pip_by_hash.sh "${1:-build/peers/clang_tidy}" tests/style/clang_tidy.txt
