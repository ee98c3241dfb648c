#!/usr/bin/env bash
# usage: run.sh [--keep] [TEST...]
# Runs cluster_test.py (all of it, or the TESTs named, as unittest takes them) on a Kubernetes of one node that it brings up
# on this machine and takes down again, whatever happens (--keep: leaves it up, and says how to reach it).
# Programs: build/release's, or KERNELMILL_BIN's; the next release's are those that tests/chaos/next makes beside them.
# Needs root, a Docker engine, Go, and what cluster.sh and build_control_plane.sh say. Exit 77: something is missing, and what.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

keep=
if [[ "${1:-}" = --keep ]]; then
  keep=yes
  shift
fi
[[ $EUID -eq 0 ]] || {
  echo "run.sh: skipped: not root"
  exit 77
}
docker info >/dev/null 2>&1 || {
  echo "run.sh: skipped: no Docker engine"
  exit 77
}
export KERNELMILL_BIN=${KERNELMILL_BIN:-$PWD/build/release/bin}
dir=${KERNELMILL_TEST_CLUSTER:-$PWD/build/kubernetes}
export KERNELMILL_TEST_CLUSTER=$dir
[[ -x "$KERNELMILL_BIN/kernelmill-extractor-next" ]] || {
  echo "run.sh: $KERNELMILL_BIN has no next release: build with -DKERNELMILL_TESTS=ON" >&2
  exit 1
}

tests/kubernetes/install_tools.sh >/dev/null
binary=$(tests/kubernetes/build_control_plane.sh)
for tool in install_adapter install_helm; do tests/kubernetes/$tool.sh >/dev/null || [[ $? -eq 77 ]]; done
image=$(deploy/docker/base_images.sh base)
export "${image?}"
tests/kubernetes/image.sh "$KERNELMILL_BIN" kernelmill:now
mkdir -p build
next=$(mktemp -d)
cleanup() {
  local status=$?
  rm -rf "$next"
  if [[ -n "$keep" ]]; then
    echo "run.sh: the cluster stays up: export KUBECONFIG=$dir/admin.kubeconfig; tests/kubernetes/cluster.sh down $dir"
  else
    tests/kubernetes/cluster.sh down "$dir"
    if [[ $status -eq 0 ]]; then rm -rf --one-file-system "$dir"; else echo "run.sh: the logs are in $dir"; fi
  fi
  exit "$status"
}
trap cleanup EXIT
for program in kernelmill kernelmill-{store,coordinator,fetcher,extractor,compiler,validator,deduplicator}; do
  from="$KERNELMILL_BIN/$program-next"
  [[ -x "$from" ]] || from="$KERNELMILL_BIN/$program"
  cp "$from" "$next/$program"
done
tests/kubernetes/image.sh "$next" kernelmill:next

if [[ ! -S "$dir/containerd.sock" ]]; then tests/kubernetes/cluster.sh up "$binary" "$dir"; fi
tests/kubernetes/cluster.sh load "$dir" kernelmill:now kernelmill:next
python3 tests/kubernetes/foreign_kinds.py "$dir/definitions" || [[ $? -eq 77 ]]
python3 tests/kubernetes/cluster_test.py --verbose "$@"
