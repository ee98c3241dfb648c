#!/usr/bin/env bash
# usage: install_actionlint.sh [PROGRAM]
# Builds actionlint, which checks the workflows of .github/workflows, of its Go module, by its hash, to the path PROGRAM (default
# build/peers/actionlint), and prints that. Exit 77: not available here; the reason is printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=v1.7.12
hash=h1:vQ4GeJN86C0QH+gTUQcs8McmK62OLT3kmakPMtEWYnY=
exec tests/peers/go_program.sh "${1:-build/peers/actionlint}" "github.com/rhysd/actionlint@$version" "$hash" ./cmd/actionlint
