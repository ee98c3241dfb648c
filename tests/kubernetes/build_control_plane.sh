#!/usr/bin/env bash
# usage: build_control_plane.sh [FOLDER]
# Builds Kubernetes (etcd, the control plane, kubelet, proxy, kubectl, CoreDNS) as one program of the Go modules that
# control_plane/go.mod names, into FOLDER (default build/peers/control-plane), and prints where it is. Some ten minutes of
# two cores and 2 GB of disk the first time; nothing once it is there. Exit 77: it cannot be had here, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

version=v1.34.4 # as go.mod; from 1.35 on the kubelet refuses version 1 of cgroups
folder=${1:-../../build/peers/control-plane}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

wanted=$(cat control_plane/* | sha256sum)
if [[ ! -x "$folder/kubernetes" || "$(cat "$folder/.sources" 2>/dev/null)" != "$wanted" ]]; then
  command -v go >/dev/null || {
    echo "build_control_plane.sh: skipped: no go here; go.mod says which" >&2
    exit 77
  }
  echo "build_control_plane.sh: building Kubernetes $version" >&2
  stamp=k8s.io/component-base/version
  (cd control_plane && nice -n 19 env CGO_ENABLED=0 go build -mod=readonly -trimpath -o "$folder/kubernetes.new" \
    -ldflags "-s -w -X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=34" .) >"$log" 2>&1 || {
    tail -n 5 "$log" >&2
    echo "build_control_plane.sh: skipped: the Go module proxy does not give the modules, or they do not build" >&2
    exit 77
  }
  mv "$folder/kubernetes.new" "$folder/kubernetes"
  echo "$wanted" >"$folder/.sources"
fi
echo "$folder/kubernetes"
