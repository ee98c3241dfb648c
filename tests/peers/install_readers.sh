#!/usr/bin/env bash
# usage: install_readers.sh [FOLDER]
# Installs what people read a dataset with, pyarrow, datasets, DuckDB, polars and mlcroissant, into FOLDER (default
# build/peers/readers) from the Python package index, and prints where it is. Versions and hashes stand in readers.txt.
# Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec tests/peers/pip_by_hash.sh "${1:-build/peers/readers}" tests/peers/requirements/readers.txt
