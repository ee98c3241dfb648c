#!/usr/bin/env bash
# usage: certs.sh DIR [--days N] [--host NAME]... [ROLE/NAME]...
# Makes a certificate authority in DIR (DIR/ca.crt), unless it exists; DIR/grant.key for --grant-key, unless it exists; and
# a certificate and a key for each ROLE/NAME: DIR/NAME.crt, DIR/NAME.key. It replaces existing certificates. ROLE is client,
# worker, coordinator, operator, metrics or store. By default: one for each program of a cluster, an operator and a client.
# --host adds a name or an IP address of the servers; localhost, 127.0.0.1, ::1 and NAME are always included. --days is the
# lifetime of certificates, 365 by default.
set -euo pipefail

usage() {
  sed -n '2,7s/^# //p' "$0" >&2
  exit 2
}
[[ $# -ge 1 && "$1" != -* ]] || usage
dir=$1
shift
days=365
hosts=(DNS:localhost IP:127.0.0.1 IP:::1)
identities=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    --days) days=$2 && shift 2 ;;
    --host)
      if [[ "$2" =~ ^[0-9.]+$ || "$2" == *:* ]]; then hosts+=("IP:$2"); else hosts+=("DNS:$2"); fi
      shift 2
      ;;
    */ca | */grant) usage ;;
    client/?* | worker/?* | coordinator/?* | operator/?* | metrics/?* | store/?*) identities+=("$1") && shift ;;
    *) usage ;;
  esac
done
[[ ${#identities[@]} -gt 0 ]] || identities=(store/store coordinator/coordinator worker/fetcher worker/extractor
  worker/compiler worker/runner worker/validator worker/deduplicator operator/operator client/client metrics/prometheus)

umask 077
mkdir -p "$dir"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

new_key() { openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }

if [[ ! -e "$dir/ca.key" ]]; then
  new_key "$work/ca.key"
  openssl req -x509 -new -key "$work/ca.key" -sha256 -days 3650 -subj "/CN=kernelmill authority" \
    -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign,cRLSign" -out "$work/ca.crt"
  mv "$work/ca.key" "$work/ca.crt" "$dir"
  chmod 644 "$dir/ca.crt"
fi

if [[ ! -e "$dir/grant.key" ]]; then
  openssl rand -hex 32 >"$work/grant.key"
  mv "$work/grant.key" "$dir"
fi

for identity in "${identities[@]}"; do
  name=${identity#*/}
  names=$(IFS=, && echo "${hosts[*]}")
  new_key "$work/$name.key"
  openssl req -new -key "$work/$name.key" -subj "/CN=$name" -out "$work/$name.csr"
  cat >"$work/$name.cnf" <<END
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=serverAuth,clientAuth
subjectAltName=URI:spiffe://kernelmill/$identity,DNS:$name,$names
END
  openssl x509 -req -in "$work/$name.csr" -CA "$dir/ca.crt" -CAkey "$dir/ca.key" -set_serial "0x$(openssl rand -hex 16)" \
    -sha256 -days "$days" -extfile "$work/$name.cnf" -out "$work/$name.crt" 2>/dev/null
  # Rename the key first, then the certificate, so that readers see complete files.
  mv "$work/$name.key" "$dir/$name.key"
  mv "$work/$name.crt" "$dir/$name.crt"
  chmod 644 "$dir/$name.crt"
done
echo "certificates in $dir"
