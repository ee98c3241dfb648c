#!/usr/bin/env bash
# usage: tokens.sh [FOLDER_OF_PYTHON_FILES] [--rounds N]
# Builds the tokenizer, and measures it against tiktoken on the same texts; default: Python's own library.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

deploy/fetch_grammars.sh
tests/peers/install_tiktoken.sh >/dev/null
cmake --preset release >/dev/null
cmake --build --preset release --target bpe_encode >/dev/null
exec python3 tests/bench/tokens.py "$@"
