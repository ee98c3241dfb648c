#!/usr/bin/env bash
# usage: secrets.sh DIR [NAME]... | kubectl apply -f -
# Prints the Secret NAME-tls for each certificate that deploy/certs.sh made in DIR, as components/tls wants them, for a cluster
# without cert-manager; and the Secret grant-key of DIR/grant.key, as components/grants wants it. All of them, without NAMES;
# `grant` is the name of the latter. Certificates have to name the Services:
#   deploy/certs.sh DIR --host store --host coordinator
set -euo pipefail

[[ $# -ge 1 && -f "$1/ca.crt" ]] || {
  sed -n '2,6s/^# //p' "$0" >&2
  exit 2
}
dir=$1
shift
if [[ $# -eq 0 ]]; then
  for certificate in "$dir"/*.crt; do
    name=$(basename "$certificate" .crt)
    if [[ "$name" != ca ]]; then set -- "$@" "$name"; fi
  done
  if [[ -f "$dir/grant.key" ]]; then set -- "$@" grant; fi
fi

encoded() { base64 -w 0 <"$1"; }

secret() { # NAME TYPE
  cat <<SECRET
---
apiVersion: v1
kind: Secret
metadata:
  name: $1
  labels: {app.kubernetes.io/part-of: kernelmill, app.kubernetes.io/name: kernelmill}
type: $2
data:
SECRET
}

for name in "$@"; do
  if [[ "$name" = grant ]]; then
    key=$(encoded "$dir/grant.key")
    secret grant-key Opaque
    echo "  grant.key: $key"
    continue
  fi
  authority=$(encoded "$dir/ca.crt") certificate=$(encoded "$dir/$name.crt") key=$(encoded "$dir/$name.key")
  secret "$name-tls" kubernetes.io/tls
  printf '  ca.crt: %s\n  tls.crt: %s\n  tls.key: %s\n' "$authority" "$certificate" "$key"
done
