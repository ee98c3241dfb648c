#!/usr/bin/env bash
# usage: install_tiktoken.sh [FOLDER]
# Installs tiktoken, whose tokens ours are held against, into FOLDER (default build/peers/tiktoken) from the
# Python package index, and prints where it is. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec tests/peers/pip_by_hash.sh "${1:-build/peers/tiktoken}" tests/peers/requirements/tiktoken.txt
