#!/usr/bin/env bash
# usage: export $(base_images.sh)           the two images that docker-compose.yml and the Dockerfile use but do not build
#        export $(base_images.sh base)      Debian's alone
#        base_images.sh debian:SUITE-slim...
#        base_images.sh --tar FILE SUITE    the files of Debian's image alone; needs no Docker engine
# Provides base images on a machine that cannot reach an image registry, and prints the names to use as VARIABLE=IMAGE. An image
# that exists or can be pulled is used by its pinned digest. Otherwise Debian's is made from this machine's Debian mirror, and
# prom/prometheus from Debian's package; they have the name without the digest, since they are other files. Needs root.
#
# One state of the mirror gives one image, file by file: /usr/local/share/base-image/packages.sha256 in it has the hash of each
# package. The images contain this machine's settings for its mirror (apt sources and settings, extra CA certificates, pip's
# and npm's settings), so that these need not be committed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

base=$(sed -n 's/^ARG PINNED_BASE=//p' "$here/Dockerfile")
prometheus=${KERNELMILL_PROMETHEUS_IMAGE:-$(sed -n 's/.*:-\(prom\/prometheus:.*\)}$/\1/p' "$here/../../docker-compose.yml")}
readonly base prometheus
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT

note() { echo "base_images.sh: $*" >&2; }

have() { docker image inspect "$1" >/dev/null 2>&1; }

# available IMAGE: it is here or can be pulled. A pull that hangs counts as failed.
available() { have "$1" || timeout 60 docker pull --quiet "$1" >/dev/null 2>&1; }

# bootstrap SUITE FOLDER: installs Debian's smallest system there, and lists its packages.
bootstrap() {
  command -v debootstrap >/dev/null || {
    note "cannot pull Debian's image; install debootstrap to make it"
    exit 1
  }
  debootstrap --variant=minbase --include=ca-certificates "$1" "$2" >"$scratch/log" 2>&1 || {
    tail -n 20 "$scratch/log" >&2
    exit 1
  }
  mkdir -p "$2/usr/local/share/base-image"
  (cd "$2/var/cache/apt/archives" && sha256sum -- *.deb) >"$2/usr/local/share/base-image/packages.sha256"
}

# add_settings SUITE FOLDER: this machine's settings for its mirror.
add_settings() {
  local file
  rm -rf "$2"/etc/apt/sources.list*
  cp -r /etc/apt/sources.list* "$2/etc/apt/"
  find "$2"/etc/apt/sources.list* -type f -exec sed -i "s/bookworm/$1/g" {} +
  for file in /etc/apt/apt.conf.d/*; do
    if grep -q 'Acquire::' "$file"; then cp "$file" "$2/etc/apt/apt.conf.d/"; fi
  done
  if [[ -d /usr/local/share/ca-certificates ]]; then
    cp -r /usr/local/share/ca-certificates "$2/usr/local/share/"
    chroot "$2" update-ca-certificates >/dev/null 2>&1
  fi
  for file in /etc/pip.conf /etc/npmrc; do
    if [[ -f "$file" ]]; then cp "$file" "$2$file"; fi
  done
}

# remove_traces FOLDER DAY: the files that Debian's slim image omits, and whatever tells when and where this one was made.
remove_traces() {
  rm -rf "$1"/usr/share/{man,locale,info}/* "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/* "$1"/var/cache/ldconfig/aux-cache \
    "$1"/var/cache/debconf/*-old "$1"/var/lib/dpkg/*-old "$1"/etc/machine-id "$1"/etc/resolv.conf "$1"/etc/hostname
  find "$1/usr/share/doc" -type f ! -name copyright -delete
  find "$1/var/log" -type f -delete
  sed -i -E "s/^([^:]*:[^:]*):[0-9]+:/\1:$2:/" "$1"/etc/shadow* # the day of the last change of a password
}

# make_tar SUITE FILE: no file is newer than the state of the mirror, which is dated.
make_tar() {
  local root="$scratch/$1" date
  bootstrap "$1" "$root"
  date=$(sed -n 's/^Date: //p' "$(find "$root/var/lib/apt/lists" -name "*_$1_*Release" | sort | head -n 1)")
  date=$(date --date="$date" +%s)
  add_settings "$1" "$root"
  remove_traces "$root" $((date / 86400))
  tar -C "$root" --sort=name --numeric-owner --clamp-mtime --mtime="@$date" --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' \
    -cf "$2" .
  note "$1: $(wc -l <"$root/usr/local/share/base-image/packages.sha256") packages, sha256:$(sha256sum "$2" | cut -d' ' -f1)"
}

# provide IMAGE: prints the name to use.
provide() {
  local name=${1%@*} suite
  if available "$1"; then
    name=$1
  elif ! have "$name"; then
    suite=${name#debian:}
    make_tar "${suite%%-*}" "$scratch/image.tar" # without the date and -slim
    docker import --change 'CMD ["bash"]' "$scratch/image.tar" "$name" >/dev/null
  fi
  echo "$name"
}

# provide_prometheus BASE: likewise.
provide_prometheus() {
  local name=${prometheus%@*}
  if available "$prometheus"; then
    name=$prometheus
  elif ! have "$name"; then
    docker build --quiet --network host --tag "$name" - >/dev/null <<DOCKERFILE
FROM $1
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends prometheus >/dev/null \
 && rm -rf /var/lib/apt/lists/* && mkdir -p /prometheus && chown nobody:nogroup /prometheus
USER nobody
EXPOSE 9090
WORKDIR /prometheus
ENTRYPOINT ["/usr/bin/prometheus"]
DOCKERFILE
  fi
  echo "$name"
}

case "${1:-}" in
  --tar) make_tar "$3" "$2" ;;
  "" | base)
    name=$(provide "$base")
    echo "BASE_IMAGE=$name"
    [[ -n "${1:-}" ]] || echo "KERNELMILL_PROMETHEUS_IMAGE=$(provide_prometheus "$name")"
    ;;
  *) for image in "$@"; do provide "$image" >/dev/null; done ;;
esac
