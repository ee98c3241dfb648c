#!/usr/bin/env bash
# Whether the container's server is up: its gRPC port takes connections and /metrics answers 200.
# Kubernetes asks gRPC health itself; Docker has no such probe, and the image no gRPC client but ours.
set -uo pipefail

listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

metrics_ok() {
  local status
  exec 3<>"/dev/tcp/127.0.0.1/$1" || return 1
  printf 'GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3
  IFS= read -r -t 3 status <&3
  exec 3>&-
  [[ "$status" = HTTP/1.*" 200"* ]]
}

# One server runs in a container: on the port that its environment says, or on its role's own.
ports=(7070 7071 7072 7073 7074 7075)
if [[ -n "${KERNELMILL_LISTEN:-}" ]]; then ports=("${KERNELMILL_LISTEN##*:}"); fi
for port in "${ports[@]}"; do
  metrics=$((port + 1000))
  if [[ -n "${KERNELMILL_METRICS:-}" ]]; then metrics=${KERNELMILL_METRICS##*:}; fi
  if listening "$port" && metrics_ok "$metrics" 2>/dev/null; then exit 0; fi
done
echo "no server answers on ${ports[*]}" >&2
exit 1
