#!/usr/bin/env bash
# usage: compose.sh [--tls] [--compiler] [--keep]
# Brings docker-compose.yml up on this machine's Docker engine, has the quick start's job run there by
# `kernelmill submit` from outside, and compares the dataset with what `kernelmill crawl` makes in one
# process: the digests must be equal. Takes everything down again, whatever happens (--keep: leaves it up).
# --tls gives each process an identity (deploy/docker/tls.yml), and the client one too.
# --compiler: the job has the demo repository alone, and compiles its kernels, by a compiler of the profile, and here by this
# machine's toolchains.
# With KERNELMILL_IMAGE set, that image (and KERNELMILL_COMPILER_IMAGE) is tested as it is; else it is built.
# Needs a built build/release, root's right to talk to Docker, and the package registries.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

keep=
tls=
compiler=
for option in "$@"; do
  case "$option" in
    --keep) keep=yes ;;
    --tls) tls=yes ;;
    --compiler) compiler=yes ;;
    *)
      echo "compose.sh: $option: no such option" >&2
      exit 2
      ;;
  esac
done
docker info >/dev/null 2>&1 || {
  echo "compose.sh: skipped: no Docker engine"
  exit 77
}
compose=(docker-compose)
if docker compose version >/dev/null 2>&1; then compose=(docker compose); fi
compose+=(--project-name kernelmill-test --file docker-compose.yml)
readonly kernelmill=build/release/bin/kernelmill
export KERNELMILL_ALLOW_PRIVATE=true # the test's git server has a private address
export COMPOSE_INTERACTIVE_NO_CLI=1

processes=10
if [[ -n "$compiler" ]]; then
  compose+=(--profile compiler)
  processes=11
fi

scratch=$(mktemp -d)
identity=()
if [[ -n "$tls" ]]; then
  # The containers' user reads them; names on this machine are those that a client calls.
  deploy/certs.sh "$scratch/certs" --host store --host coordinator >/dev/null
  chown -R 10001 "$scratch/certs"
  chmod 755 "$scratch"
  export KERNELMILL_CERTS="$scratch/certs"
  compose+=(--file deploy/docker/tls.yml)
  identity=(--tls-ca "$scratch/certs/ca.crt" --tls-cert "$scratch/certs/client.crt" --tls-key "$scratch/certs/client.key")
fi
git_daemon=
cleanup() {
  local status=$?
  if [[ $status -ne 0 ]]; then
    echo "compose.sh: failed; the end of the cluster's logs:" >&2
    "${compose[@]}" logs --no-color --tail=15 >&2 || true
  fi
  if [[ -n "$git_daemon" ]]; then
    kill "$git_daemon" 2>/dev/null || true
    wait "$git_daemon" 2>/dev/null || true
  fi
  if [[ -z "$keep" ]]; then
    "${compose[@]}" down --volumes --timeout 45 >"$scratch/down.log" 2>&1 || cat "$scratch/down.log" >&2
  fi
  rm -rf "$scratch"
  exit "$status"
}
trap cleanup EXIT

note() { echo "compose.sh: $*"; }

# This machine as containers see it: the gateway of their default route, which /proc has in hexadecimal.
bridge_address() {
  docker run --rm --entrypoint cat "$BASE_IMAGE" /proc/net/route | python3 -c '
import ipaddress, sys
for line in sys.stdin:
    field = line.split()
    if field[1] == "00000000":
        print(ipaddress.ip_address(bytes.fromhex(field[2])[::-1]))'
}

# The demo repository, served to the containers.
serve_repository() {
  local address
  deploy/demo_repository.sh build/quickstart/kernels-repo.git >/dev/null
  cp -r build/quickstart/kernels-repo.git "$scratch/kernels-repo.git"
  address=$(bridge_address)
  "$(git --exec-path)/git-daemon" --reuseaddr --export-all --listen="$address" --port=9418 \
    --base-path="$scratch" "$scratch" >"$scratch/git-daemon.log" 2>&1 &
  git_daemon=$!
  local url="git://$address/kernels-repo.git"
  for _ in $(seq 50); do
    if git ls-remote "$url" >/dev/null 2>&1; then break; fi
    sleep 0.1
  done
  git ls-remote "$url" >/dev/null
  write_job "$url" "$scratch/job.yaml"
  write_job "$PWD/build/quickstart/kernels-repo.git" "$scratch/embedded.yaml"
}

# write_job REPOSITORY FILE: the quick start's job with the demo repository from there.
write_job() {
  sed "s|git: .*kernels-repo.git|git: $1|" deploy/jobs/quickstart.yaml >"$2"
  grep -q "git: $1" "$2"
  if [[ -n "$compiler" ]]; then
    sed -i '/^  - package:/,/^    category:/d' "$2"
    echo 'compile: {targets: ["cuda:90", "hip:gfx942"], keep: [ptx]}' >>"$2"
  fi
}

# Waits until every container of the project is running, and healthy where it says so.
wait_healthy() {
  local states
  for _ in $(seq 90); do
    # shellcheck disable=SC2046
    states=$(docker inspect --format \
      '{{.Name}} {{.State.Status}} {{if .State.Health}}{{.State.Health.Status}}{{else}}healthy{{end}}' \
      $("${compose[@]}" ps --quiet))
    if ! grep -qv 'running healthy$' <<<"$states"; then
      note "$(wc -l <<<"$states") containers are healthy"
      return 0
    fi
    sleep 2
  done
  echo "$states" >&2
  return 1
}

# Prometheus scrapes each of the processes. A target appears with the next look at DNS.
scraped() {
  python3 -c '
import json, urllib.request
with urllib.request.urlopen("http://127.0.0.1:9090/api/v1/query?query=sum(up)", timeout=5) as answer:
    result = json.load(answer)["data"]["result"]
print(result[0]["value"][1] if result else 0)'
}

wait_scraped() {
  local up=0
  for _ in $(seq 30); do
    up=$(scraped 2>/dev/null) || up=0
    if [[ "$up" = "$processes" ]]; then
      note "Prometheus scrapes $up processes"
      return 0
    fi
    sleep 2
  done
  echo "compose.sh: Prometheus scrapes $up of $processes processes" >&2
  return 1
}

digest() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["dataset"])' "$1/report.json"; }

[[ -x "$kernelmill" ]] || deploy/build.sh release
images=$(deploy/docker/base_images.sh)
while IFS= read -r line; do export "${line?}"; done <<<"$images"
if [[ -n "${KERNELMILL_IMAGE:-}" ]]; then
  note "using the image $KERNELMILL_IMAGE"
else
  note "building the image"
  "${compose[@]}" build store ${compiler:+compiler} >"$scratch/build.log" 2>&1 || {
    tail -n 40 "$scratch/build.log" >&2
    exit 1
  }
fi
serve_repository
note "starting the cluster"
"${compose[@]}" up --detach --no-build >"$scratch/up.log" 2>&1 || {
  cat "$scratch/up.log" >&2
  exit 1
}
wait_healthy
wait_scraped

note "submitting the job"
"$kernelmill" submit "$scratch/job.yaml" --wait --out "$scratch/cluster" "${identity[@]}"
note "crawling the same job in one process"
"$kernelmill" crawl "$scratch/embedded.yaml" --out "$scratch/embedded" --data "$scratch/data"

cluster=$(digest "$scratch/cluster")
embedded=$(digest "$scratch/embedded")
echo "cluster:  $cluster"
echo "embedded: $embedded"
[[ "$cluster" = "$embedded" ]] || {
  echo "compose.sh: the digests differ" >&2
  exit 1
}
for file in ${compiler:+ir.jsonl} kernels.jsonl ledger.jsonl fim_sft.csv parallel.jsonl cuda_triton_pairs.jsonl cu2triton_sft.csv triton_functions.json; do
  cmp "$scratch/cluster/$file" "$scratch/embedded/$file"
done
note "passed: same digest, same files, $(wc -l <"$scratch/cluster/kernels.jsonl") kernels"
