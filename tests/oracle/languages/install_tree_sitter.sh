#!/usr/bin/env bash
# usage: install_tree_sitter.sh [FOLDER]
# Installs tree-sitter and its grammars of C++ and CUDA from the Python package index, by their hashes, into FOLDER (default
# build/peers/tree_sitter), and prints where it is. Exit 77: not available for this machine; the reason is printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
exec tests/peers/pip_by_hash.sh "${1:-build/peers/tree_sitter}" tests/oracle/languages/tree_sitter.txt
