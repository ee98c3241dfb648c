#!/usr/bin/env bash
# usage: install_python.sh [FOLDER]
# Installs what the tests of the wheel's module need, gRPC, protobuf, mypy and nbclient, into FOLDER (default
# build/peers/python) from the Python package index, and prints where it is. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec tests/peers/pip_by_hash.sh "${1:-build/peers/python}" tests/peers/requirements/python.txt
