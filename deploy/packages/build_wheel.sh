#!/usr/bin/env bash
# usage: build_wheel.sh [OUT_DIR]
# Makes the wheel `kernelmill` in OUT_DIR (default build/packages), from the client of build/release, which it builds first,
# or from the one in KERNELMILL_BIN. The same commit gives the same bytes. Needs binutils, patchelf and protoc.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=deploy/packages/common.sh
. deploy/packages/common.sh

out=${1:-build/packages}
need patchelf patchelf
need strip binutils
need protoc protobuf-compiler
bin=$(programs)
wheel=$(python3 deploy/packages/make_wheel.py "$bin/kernelmill" "$(project_version)" "$out")
report "$wheel"
