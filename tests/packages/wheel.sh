#!/usr/bin/env bash
# usage: wheel.sh WHEEL DIGEST
# Runs as root in a container that has Python and pip alone (run.sh starts it): installs the wheel, crawls, and compares.
set -euo pipefail

readonly wheel=$1 expected=$2
PRETTY_NAME=$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)

fail() {
  echo "wheel.sh: $PRETTY_NAME: $*" >&2
  exit 1
}

# crawls WORK COMMAND...: the command is kernelmill; its dataset is the expected one.
crawls() {
  local work=$1
  shift
  "$@" crawl /srv/job/job.yaml --out "$work/dataset" --data "$work/data" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    fail "crawl failed"
  }
  grep -q "\"$expected\"" "$work/dataset/report.json" || fail "another dataset: $(grep '"dataset"' "$work/dataset/report.json")"
  cmp "$work/dataset/kernels.jsonl" /srv/job/expected/kernels.jsonl
}

for program in git kernelmill; do
  if command -v "$program" >/dev/null; then fail "$program is there already"; fi
done
if ldconfig -p | grep -q 'libgrpc\|librocksdb\|libprotobuf'; then fail "our libraries are there already"; fi

# Root, into the system's Python.
mkdir -p /tmp/root
export XDG_CACHE_HOME=/tmp/root
pip install --quiet --no-index --break-system-packages --root-user-action=ignore "$wheel"
version=$(python3 -c 'import kernelmill; print(kernelmill.__version__)')
[[ "$(kernelmill --version)" = *"$version"* ]] || fail "kernelmill --version: $(kernelmill --version)"
[[ "$(python3 -m kernelmill --version)" = "$(kernelmill --version)" ]] || fail "python3 -m kernelmill"
crawls /tmp/root kernelmill
program=$(python3 -c 'import kernelmill.__main__ as m; print(m.PROGRAM)')
if ldd "$program" | grep -v 'linux-vdso\|/kernelmill/bin/../lib/\|/lib/.*/lib\(c\|m\|stdc++\|gcc_s\|pthread\|resolv\)\.so\|ld-linux'; then
  fail "a library is not the wheel's"
fi
# Others' libraries do not get in between.
mkdir -p /tmp/other
echo garbage >/tmp/other/libgrpc.so.29
LD_LIBRARY_PATH=/tmp/other kernelmill --version >/dev/null || fail "LD_LIBRARY_PATH changes what is loaded"
# A source that needs git fails alone and names the reason; exit codes come through.
printf 'name: g\nsources:\n  - git: /srv/none.git\n' >/tmp/git.yaml
if kernelmill crawl /tmp/git.yaml --out /tmp/git --data /tmp/git.data >/tmp/git.log 2>&1; then fail "a crawl without git"; fi
status=0
kernelmill nonsense >/dev/null 2>&1 || status=$?
[[ $status -eq 2 ]] || fail "exit code $status of a wrong request"
pip uninstall --quiet --yes --break-system-packages --root-user-action=ignore kernelmill
if find / -xdev -path /proc -prune -o -path '*/site-packages/kernelmill*' -print -o -path '*/dist-packages/kernelmill*' -print |
  grep .; then
  fail "pip uninstall leaves files"
fi

# A user, into a virtual environment that is not activated.
unset XDG_CACHE_HOME
useradd --create-home user
runuser --user user -- python3 -m venv /home/user/venv
runuser --user user -- /home/user/venv/bin/pip install --quiet --no-index "$wheel"
mkdir /home/user/work && chown user /home/user/work
export -f crawls fail
export expected PRETTY_NAME
runuser --user user -- bash -euo pipefail -c 'crawls /home/user/work /home/user/venv/bin/kernelmill'
echo "wheel.sh: $PRETTY_NAME: kernelmill $version installed by root and in a virtual environment: dataset $expected"
