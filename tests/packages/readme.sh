#!/usr/bin/env bash
# usage: readme.sh [--offline] WHEEL
# Installs the wheel in a fresh environment, makes the job of the README, and runs the README's words: crawl, submit on the
# cluster of `kernelmill dev`, Python. --offline leaves out the sources that need a network.
set -euo pipefail

offline=
if [[ "${1:-}" = --offline ]]; then
  offline=yes
  shift
fi
wheel=$(realpath "$1")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
cluster=
cleanup() {
  local status=$?
  if [[ -n "$cluster" ]] && kill -INT "$cluster" 2>/dev/null; then
    wait "$cluster" || true
  fi
  if [[ $status -ne 0 ]]; then tail -n 20 "$work"/*.log >&2 || true; fi
  rm -rf "$work"
  exit "$status"
}
trap cleanup EXIT

# Debian has pip, and the part of venv that would bring it in another package.
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --disable-pip-version-check --no-index "$wheel"
PATH="$work/venv/bin:$PATH"
cd "$work"
cp -r "$root/tests/data/kernels-repo" kernels
# The fence in a variable, since shellcheck takes backquotes for commands.
fence=$(printf '\x60\x60\x60')
sed -n "/^${fence}yaml\$/,/^${fence}\$/p" "$root/README.md" | sed '1d;$d' >my-kernels.yaml
grep -q 'path: ./kernels' my-kernels.yaml
if [[ -n "$offline" ]]; then
  sed -i -n '/^name:\|^sources:\|path:/p' my-kernels.yaml
fi

kernelmill crawl my-kernels.yaml --out my-dataset --data cache >crawl.log 2>&1
python - <<'PYTHON'
import kernelmill

dataset = kernelmill.load("my-dataset")
assert len(dataset) > 0
assert all(dataset[kernel.id] == kernel and kernel.license.expression for kernel in dataset)
PYTHON

kernelmill dev --data cluster --first-port 17070 --page-port 0 --allow-local "$PWD" >dev.log 2>&1 &
cluster=$!
for _ in {1..120}; do
  if grep -q 'The cluster runs' dev.log; then break; fi
  kill -0 "$cluster"
  sleep 0.5
done
KERNELMILL_COORDINATOR=127.0.0.1:17070 KERNELMILL_STORE=127.0.0.1:17071 \
  kernelmill submit my-kernels.yaml --wait --out my-other-dataset >submit.log 2>&1
kernelmill diff my-dataset my-other-dataset >diff.log
[[ -f "$work/venv/share/man/man1/kernelmill.1" ]]
echo "readme.sh: $(basename "$wheel"): $(kernelmill --version): the README's words work"
