#!/usr/bin/env bash
# Runs as root in a container in which no systemd runs (run.sh starts it): installs and removes the Debian packages.
set -euo pipefail

fail() {
  echo "deb_without_systemd.sh: $*" >&2
  exit 1
}

if command -v git >/dev/null; then fail "git is there already"; fi
export DEBIAN_FRONTEND=noninteractive
apt-get install --quiet --quiet --yes --no-install-recommends /packages/kernelmill*.deb >/tmp/apt.log 2>&1 || {
  cat /tmp/apt.log >&2
  fail "apt-get install"
}
for program in /usr/bin/kernelmill /usr/bin/kernelmill-*; do
  if ldd "$program" | grep 'not found'; then fail "$program misses a library"; fi
  "$program" --help >/dev/null || fail "$program --help"
done
[[ $(find /usr/bin -name 'kernelmill*' | wc -l) -eq 7 ]] || fail "not seven programs"
[[ "$(stat -c '%U:%G %a' /var/lib/kernelmill/store)" = "kernelmill:kernelmill 750" ]] || fail "the state's owner"
[[ "$(getent passwd kernelmill | cut -d: -f6,7)" = /var/lib/kernelmill:/usr/sbin/nologin ]] || fail "the user"
if find /etc/systemd -name '*kernelmill*' | grep .; then fail "a service is enabled"; fi
kernelmill crawl /srv/job/job.yaml --out /tmp/dataset --data /tmp/data >/tmp/log 2>&1 || {
  cat /tmp/log >&2
  fail "crawl"
}
cmp /tmp/dataset/kernels.jsonl /srv/job/expected/kernels.jsonl
apt-get purge --quiet --quiet --yes kernelmill kernelmill-server >/tmp/apt.log 2>&1 || {
  cat /tmp/apt.log >&2
  fail "apt-get purge"
}
for path in /etc/kernelmill /var/lib/kernelmill /usr/bin/kernelmill; do
  [[ ! -e "$path" ]] || fail "$path is left"
done
echo "deb_without_systemd.sh: installed, crawled and purged"
