#!/usr/bin/env bash
# usage: deb_with_systemd.sh DIGEST
# Runs as root in a container whose first process is systemd (run.sh starts it): installs the Debian packages, starts a
# cluster, has it run a job, and goes through what happens to a package in its life.
set -euo pipefail

readonly expected=$1
readonly services=(store coordinator fetcher extractor validator deduplicator extractor@1)

fail() {
  echo "deb_with_systemd.sh: $*" >&2
  exit 1
}

note() { echo "deb_with_systemd.sh: $*"; }

apt() {
  DEBIAN_FRONTEND=noninteractive apt-get --quiet --quiet --yes --no-install-recommends "$@" >/tmp/apt.log 2>&1 || {
    cat /tmp/apt.log >&2
    fail "apt-get $1"
  }
}

running() { systemctl list-units --plain --no-legend --state=active,activating 'kernelmill*' | wc -l; }

pid() { systemctl show --property MainPID --value "kernelmill-$1"; }

# Checks that a server answers GET /metrics.
answers() {
  local status
  exec 3<>"/dev/tcp/127.0.0.1/$1" || return 1
  printf 'GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3
  IFS= read -r -t 3 status <&3
  exec 3>&-
  [[ "$status" = HTTP/1.*" 200"* ]]
}

# Waits until all of the cluster is up: ports of /metrics, the second extractor's last.
wait_up() {
  local port
  for port in 8070 8071 8072 8073 8074 8075 8173; do
    for _ in $(seq 60); do
      if answers "$port" 2>/dev/null; then continue 2; fi
      sleep 0.5
    done
    systemctl --no-pager --lines=20 status 'kernelmill*' >&2 || true
    fail "nothing answers on port $port"
  done
}

# submit NAME: the job's dataset is the expected one.
submit() {
  kernelmill submit /srv/job/job.yaml --wait --out "/tmp/$1" >"/tmp/$1.log" 2>&1 || {
    cat "/tmp/$1.log" >&2
    fail "submit"
  }
  grep -q "\"$expected\"" "/tmp/$1/report.json" || fail "another dataset: $(grep '"dataset"' "/tmp/$1/report.json")"
  cmp "/tmp/$1/kernels.jsonl" /srv/job/expected/kernels.jsonl
}

# Installing starts nothing.
apt install /packages/kernelmill*.deb
[[ $(running) -eq 0 ]] || fail "installing started something"
if systemctl is-enabled --quiet kernelmill.target; then fail "installing enabled something"; fi

# A cluster, with a second extractor.
sed -i 's/^#KERNELMILL_ALLOW_LOCAL=/KERNELMILL_ALLOW_LOCAL=/' /etc/kernelmill/fetcher.env
systemctl enable --quiet --now kernelmill.target kernelmill-extractor@1
wait_up
for service in "${services[@]}"; do
  [[ "$(ps -o user= -p "$(pid "$service")" 2>/dev/null || stat -c %U "/proc/$(pid "$service")")" = kernelmill* ]] ||
    fail "$service is not kernelmill's"
done
submit first
note "${#services[@]} services run, and gave the dataset $expected"

# Only the loopback interface is listened on (states and addresses in hexadecimal: 0A, 127.0.0.1).
if awk '$4 == "0A" && $2 !~ /^0100007F:/ && $2 !~ /^0B00007F:/' /proc/net/tcp | grep .; then fail "it listens elsewhere"; fi

# A worker that dies comes back.
before=$(pid extractor)
systemctl kill --signal=KILL kernelmill-extractor
for _ in $(seq 40); do
  if [[ "$(pid extractor)" != "$before" && "$(pid extractor)" != 0 ]]; then break; fi
  sleep 0.25
done
[[ "$(pid extractor)" != "$before" && "$(pid extractor)" != 0 ]] || fail "a killed worker is not started again"

# An upgrade restarts what ran, and nothing else; settings and state stay.
systemctl stop kernelmill-validator
before=$(pid coordinator)
apt install --reinstall /packages/kernelmill*.deb
[[ "$(pid coordinator)" != "$before" && "$(pid coordinator)" != 0 ]] || fail "an upgrade leaves the old program running"
[[ "$(pid validator)" = 0 ]] || fail "an upgrade starts what was stopped"
grep -q '^KERNELMILL_ALLOW_LOCAL=/srv' /etc/kernelmill/fetcher.env || fail "an upgrade changes settings"
systemctl start kernelmill-validator
wait_up
kernelmill jobs | grep -q packages || fail "an upgrade loses jobs"
submit second
note "a killed worker came back; after an upgrade the state was there, and the second run gave the same"

# A backup goes where the unit may write.
kernelmill coordinator backup test >/dev/null || fail "coordinator backup"
kernelmill store backup test >/dev/null || fail "store backup"

# Drains within its time, without an error.
systemctl stop kernelmill.target 'kernelmill-*'
if systemctl list-units --plain --no-legend --failed 'kernelmill*' | grep .; then fail "a server failed when it was stopped"; fi
systemctl start kernelmill.target

apt remove kernelmill-server
[[ $(running) -eq 0 ]] || fail "servers run after the package was removed"
[[ -d /var/lib/kernelmill/store && -f /etc/kernelmill/fetcher.env ]] || fail "removing drops state or settings"
apt purge kernelmill-server
[[ ! -e /etc/kernelmill && ! -e /var/lib/kernelmill/store ]] || fail "purging leaves settings or state"
[[ -d /var/lib/kernelmill/backups/test && -d /var/lib/kernelmill/coordinator-backups/test ]] || fail "purging drops backups"
if find /etc/systemd /var/lib/systemd -name '*kernelmill*' | grep .; then fail "purging leaves links"; fi
note "stopped, removed and purged: backups alone are left"
