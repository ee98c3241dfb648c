#!/usr/bin/env bash
# usage: base_images.sh [debian:SUITE-slim...]
# Makes base images on a machine that cannot reach an image registry. Skips images that exist or can be pulled.
# Makes Debian's images from this machine's Debian mirror. By default: the two images that docker-compose.yml and
# the Dockerfile use but do not build, Debian's slim one and prom/prometheus (from Debian's package). Needs root.
#
# The images contain this machine's settings for its mirror (apt sources and settings, extra CA certificates, pip's
# and npm's settings), so that these need not be committed.
set -euo pipefail

base=$(sed -n 's/^ARG BASE_IMAGE=//p' "$(dirname "${BASH_SOURCE[0]}")/Dockerfile")
readonly base
readonly prometheus="${KERNELMILL_PROMETHEUS_IMAGE:-prom/prometheus:v2.53.5}"
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT

have() { docker image inspect "$1" >/dev/null 2>&1; }

# A pull that hangs counts as failed.
pulled() { timeout 60 docker pull --quiet "$1" >/dev/null 2>&1; }

# make_debian debian:SUITE-slim
make_debian() {
  local suite=${1#debian:} root file
  suite=${suite%%-*} # without the date and -slim
  root="$scratch/$suite"
  command -v debootstrap >/dev/null || {
    echo "base_images.sh: cannot pull $1; install debootstrap to make it" >&2
    exit 1
  }
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" >"$scratch/log" 2>&1 || {
    tail -n 20 "$scratch/log" >&2
    exit 1
  }
  rm -rf "$root"/etc/apt/sources.list* "$root"/var/cache/apt/archives/*.deb
  cp -r /etc/apt/sources.list* "$root/etc/apt/"
  find "$root"/etc/apt/sources.list* -type f -exec sed -i "s/bookworm/$suite/g" {} +
  for file in /etc/apt/apt.conf.d/*; do
    if grep -q 'Acquire::' "$file"; then cp "$file" "$root/etc/apt/apt.conf.d/"; fi
  done
  if [[ -d /usr/local/share/ca-certificates ]]; then
    cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
    chroot "$root" update-ca-certificates >/dev/null 2>&1
  fi
  for file in /etc/pip.conf /etc/npmrc; do
    if [[ -f "$file" ]]; then cp "$file" "$root$file"; fi
  done
  # Remove the files that Debian's slim image omits.
  rm -rf "$root"/usr/share/{man,locale,info}/* "$root"/var/lib/apt/lists/*
  find "$root/usr/share/doc" -type f ! -name copyright -delete
  tar -C "$root" -c . | docker import --change 'CMD ["bash"]' - "$1" >/dev/null
}

make_prometheus() {
  docker build --quiet --network host --tag "$prometheus" - >/dev/null <<DOCKERFILE
FROM $base
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends prometheus >/dev/null \
 && rm -rf /var/lib/apt/lists/* && mkdir -p /prometheus && chown nobody:nogroup /prometheus
USER nobody
EXPOSE 9090
WORKDIR /prometheus
ENTRYPOINT ["/usr/bin/prometheus"]
DOCKERFILE
}

readonly wanted=("${@:-$base}")
for image in "${wanted[@]}"; do
  have "$image" || pulled "$image" || make_debian "$image"
done
[[ $# -gt 0 ]] || have "$prometheus" || pulled "$prometheus" || make_prometheus
