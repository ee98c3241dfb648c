#!/usr/bin/env bash
# usage: secrets.sh DIR [NAME]... | kubectl apply -f -
# Prints the Secret NAME-tls for each certificate that deploy/certs.sh made in DIR (all of them, without NAMEs), as
# components/tls wants them: for a cluster without cert-manager. Certificates have to name the Services:
#   deploy/certs.sh DIR --host store --host coordinator
set -euo pipefail

[[ $# -ge 1 && -f "$1/ca.crt" ]] || {
  sed -n '2,5s/^# //p' "$0" >&2
  exit 2
}
dir=$1
shift
if [[ $# -eq 0 ]]; then
  for certificate in "$dir"/*.crt; do
    name=$(basename "$certificate" .crt)
    if [[ "$name" != ca ]]; then set -- "$@" "$name"; fi
  done
fi

encoded() { base64 -w 0 <"$1"; }

for name in "$@"; do
  cat <<SECRET
---
apiVersion: v1
kind: Secret
metadata:
  name: $name-tls
  labels: {app.kubernetes.io/part-of: kernelmill, app.kubernetes.io/name: kernelmill}
type: kubernetes.io/tls
data:
  ca.crt: $(encoded "$dir/ca.crt")
  tls.crt: $(encoded "$dir/$name.crt")
  tls.key: $(encoded "$dir/$name.key")
SECRET
done
