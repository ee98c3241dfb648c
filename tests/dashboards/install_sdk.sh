#!/usr/bin/env bash
# usage: install_sdk.sh [FOLDER]
# Installs what deploy/grafana/generate.py writes dashboards with, and PyYAML, into FOLDER (default build/peers/grafana) from the Python
# package index, by hash, and prints where it is. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec tests/peers/pip_by_hash.sh "${1:-build/peers/grafana}" tests/dashboards/requirements.txt
