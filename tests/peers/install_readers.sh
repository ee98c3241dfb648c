#!/usr/bin/env bash
# usage: install_readers.sh [FOLDER]
# Installs the usual readers of a dataset, pyarrow, datasets, DuckDB, polars and mlcroissant, into FOLDER (default
# build/peers/readers) from the Python package index, and prints where it is. readers.txt has their versions and hashes.
# Exit 77: they are not available here (it prints why).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec tests/peers/pip_by_hash.sh "${1:-build/peers/readers}" tests/peers/requirements/readers.txt
