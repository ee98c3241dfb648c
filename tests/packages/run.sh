#!/usr/bin/env bash
# usage: run.sh [deb|wheel]...
# Makes the packages of build/release (or of the programs in KERNELMILL_BIN), installs them in clean containers, has a small
# job run there, and compares the dataset with the one that the build's own kernelmill makes: the digests must be equal.
# Default: both kinds.
#   deb    Debian 12: without systemd, and with systemd as the container's first process, as on a machine
#   wheel  Debian 12 and 13 with Python and pip alone, without a network, by root and in a user's virtual environment
# Needs a Docker engine, root's right to talk to it, and the Debian mirror for the packages that ours depend on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

docker info >/dev/null 2>&1 || {
  echo "packages/run.sh: skipped: no Docker engine"
  exit 77
}
bin=${KERNELMILL_BIN:-$PWD/build/release/bin}
kinds=("$@")
[[ $# -gt 0 ]] || kinds=(deb wheel)
scratch=$(mktemp -d)
machine=
cleanup() {
  local status=$?
  if [[ $status -ne 0 && -n "$machine" ]]; then
    docker exec "$machine" journalctl --no-pager --lines=60 --output=cat >&2 || true
  fi
  if [[ -n "$machine" ]]; then docker rm --force --volumes "$machine" >/dev/null; fi
  rm -rf "$scratch"
  exit "$status"
}
trap cleanup EXIT

note() { echo "packages/run.sh: $*"; }

digest() { sed -n 's/.*"dataset": *"\([^"]*\)".*/\1/p' "$1/report.json" | head -n 1; }

# job KIND SOURCE_LINE: a job of the demo kernels, and what the build's own client makes of it.
job() {
  mkdir -p "$scratch/$1"
  printf 'name: packages\nsources:\n  - %s\n    name: demo\n' "$2" >"$scratch/$1/job.yaml"
  "$bin/kernelmill" crawl "$scratch/$1/job.yaml" --out "$scratch/$1/expected" --data "$scratch/$1/data" \
    >"$scratch/$1/log" 2>&1 || {
    cat "$scratch/$1/log" >&2
    return 1
  }
  digest "$scratch/$1/expected" >"$scratch/$1/digest"
  note "$1: the build's own dataset is $(cat "$scratch/$1/digest")"
}

# image NAME: from a Dockerfile on standard input, with the Debian mirror within reach; its context is the scratch folder.
image() {
  docker build --quiet --network host --tag "$1" --file - "$scratch" >"$scratch/build.log" 2>&1 || {
    tail -n 40 "$scratch/build.log" >&2
    return 1
  }
}

# The packages that ours depend on are fetched here, and installed in the container by ours: a dependency that is not
# named is not there.
deb_image() {
  cp build/packages/kernelmill*.deb "$scratch/deb/"
  image kernelmill-test-deb <<'DOCKERFILE'
FROM debian:bookworm-slim
COPY deb/*.deb /packages/
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends systemd \
 && apt-get install -qq --yes --no-install-recommends --download-only /packages/*.deb
DOCKERFILE
}

# Prints the mounts of every container of the deb test: our files and a git repository, at places of their own.
deb_mounts() {
  printf -- '--volume=%s\n' "$PWD/tests/packages:/checks:ro" "$scratch/deb:/srv/job:ro" \
    "$scratch/kernels-repo.git:/srv/kernels-repo.git:ro"
}

# systemd in a container: in a cgroup of its own, and with the right to give its services folders of their own.
start_machine() {
  local cgroup=(--volume=/sys/fs/cgroup:/sys/fs/cgroup:ro)
  if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then cgroup=(--cgroupns=private --privileged); fi
  machine=$(docker run --detach --cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined \
    "${cgroup[@]}" --tmpfs /run --tmpfs /run/lock "${mounts[@]}" kernelmill-test-deb /lib/systemd/systemd)
  for _ in $(seq 60); do
    if docker exec "$machine" systemctl is-system-running 2>/dev/null | grep -q 'running\|degraded'; then return 0; fi
    sleep 0.5
  done
  note "deb: systemd does not come up in a container here" >&2
  docker logs "$machine" >&2
  return 1
}

test_deb() {
  deploy/packages/build_deb.sh
  deploy/docker/base_images.sh debian:bookworm-slim
  deploy/demo_repository.sh "$scratch/kernels-repo.git" >/dev/null
  job deb "git: $scratch/kernels-repo.git"
  sed -i "s|git: .*|git: file:///srv/kernels-repo.git|" "$scratch/deb/job.yaml"
  deb_image
  mapfile -t mounts < <(deb_mounts)
  docker run --rm --network none "${mounts[@]}" kernelmill-test-deb /checks/deb_without_systemd.sh
  start_machine
  docker exec "$machine" /checks/deb_with_systemd.sh "$(cat "$scratch/deb/digest")"
}

test_wheel() {
  local suite wheel
  wheel=$(deploy/packages/build_wheel.sh | tee /dev/stderr | cut -d' ' -f1)
  job wheel "path: $PWD/tests/data/kernels-repo"
  sed -i "s|path: .*|path: /srv/kernels-repo|" "$scratch/wheel/job.yaml"
  for suite in bookworm trixie; do
    deploy/docker/base_images.sh "debian:$suite-slim"
    image "kernelmill-test-wheel-$suite" <<DOCKERFILE
FROM debian:$suite-slim
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends python3 python3-pip python3-venv
DOCKERFILE
    docker run --rm --network none --volume="$PWD/tests/packages:/checks:ro" --volume="$scratch/wheel:/srv/job:ro" \
      --volume="$PWD/tests/data/kernels-repo:/srv/kernels-repo:ro" --volume="$PWD/$wheel:/srv/$(basename "$wheel"):ro" \
      "kernelmill-test-wheel-$suite" /checks/wheel.sh "/srv/$(basename "$wheel")" "$(cat "$scratch/wheel/digest")"
  done
}

for kind in "${kinds[@]}"; do
  "test_$kind"
  note "$kind: passed"
done
