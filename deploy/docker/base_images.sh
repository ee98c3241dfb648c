#!/usr/bin/env bash
# Makes the two images that docker-compose.yml and the Dockerfile name but do not build, where no image
# registry can be reached: debian:bookworm-slim from this machine's own Debian mirror, and prom/prometheus
# from Debian's package. An image that exists or can be pulled is left alone. Needs root.
#
# What this machine needs to reach its mirror (apt sources and settings, extra CA certificates, pip's and
# npm's settings) goes into the image that is made here, so that nothing of it has to be committed.
set -euo pipefail

readonly base="debian:bookworm-slim"
readonly prometheus="${KERNELMILL_PROMETHEUS_IMAGE:-prom/prometheus:v2.53.5}"
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT

have() { docker image inspect "$1" >/dev/null 2>&1; }

# A pull that hangs is as good as none.
pulled() { timeout 60 docker pull --quiet "$1" >/dev/null 2>&1; }

make_base() {
  local root="$scratch/root" file
  command -v debootstrap >/dev/null || {
    echo "base_images.sh: $base cannot be pulled, and debootstrap is not installed" >&2
    exit 1
  }
  debootstrap --variant=minbase --include=ca-certificates bookworm "$root" >"$scratch/log" 2>&1 || {
    tail -n 20 "$scratch/log" >&2
    exit 1
  }
  rm -rf "$root"/etc/apt/sources.list* "$root"/var/cache/apt/archives/*.deb
  cp -r /etc/apt/sources.list* "$root/etc/apt/"
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
  # What Debian's own slim image leaves out.
  rm -rf "$root"/usr/share/{doc,man,locale,info}/* "$root"/var/lib/apt/lists/*
  tar -C "$root" -c . | docker import --change 'CMD ["bash"]' - "$base" >/dev/null
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

have "$base" || pulled "$base" || make_base
have "$prometheus" || pulled "$prometheus" || make_prometheus
