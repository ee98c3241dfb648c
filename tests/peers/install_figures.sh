#!/usr/bin/env bash
# usage: install_figures.sh [FOLDER]
# Installs matplotlib, which kernelmill.figures draws with, into FOLDER (default build/peers/figures) from the
# Python package index, and prints where it is. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec tests/peers/pip_by_hash.sh "${1:-build/peers/figures}" tests/peers/requirements/figures.txt
