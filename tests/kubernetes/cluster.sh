#!/usr/bin/env bash
# usage: cluster.sh up BINARY DIR | load DIR IMAGE... | reboot DIR | down DIR
# A Kubernetes of one node on this machine, for tests: etcd, the control plane, CoreDNS, containerd, kubelet and proxy.
# BINARY is what build_control_plane.sh builds; the rest is Debian's containerd, runc, containernetworking-plugins, catatonit,
# nftables, conntrack and iproute2. Writes DIR/admin.kubeconfig; logs, data and process ids lie in DIR. Needs root, and the
# ports 2379, 2380, 6443, 10053 and 10249 to 10259. The node is 10.88.244.1, pods are 10.88.244.0/24, services 10.96.0.0/16.
#   load    gives the node images of this machine's Docker engine
#   reboot  kills the kubelet, containerd and every process of every pod at once, and starts the node again
# Not for anything but tests: one token may do everything. Network policies are not enforced (traffic_test.py).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly node=10.88.244.1

usage() {
  sed -n '2s/^# //p' "$0" >&2
  exit 2
}

start() { # NAME COMMAND...
  local name="$1"
  shift
  setsid "$@" >>"$dir/$name.log" 2>&1 </dev/null &
  echo $! >"$dir/$name.pid"
}

wait_for() { # SECONDS COMMAND...
  local seconds="$1"
  shift
  for _ in $(seq "$((seconds * 2))"); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.5
  done
  echo "cluster.sh: gave up waiting for: $*" >&2
  return 1
}

kubectl() { "$dir/kubectl" --kubeconfig "$dir/admin.kubeconfig" "$@"; }
containers() { ctr --address "$dir/containerd.sock" --namespace k8s.io "$@"; }

# end SIGNAL NAME...: only programs that still run; the number of one that has ended may be another process.
end() {
  local signal=$1 name pid
  shift
  for name in "$@"; do
    pid=$(cat "$dir/$name.pid" 2>/dev/null) || continue
    if [[ "$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)" = *"$dir"* ]]; then kill "-$signal" "$pid" 2>/dev/null || true; fi
    rm -f "$dir/$name.pid"
  done
}

# The shims of this cluster's containerd.
shims() {
  local pid
  for pid in $(pgrep -f "containerd-shim-runc-v2.*$dir/containerd.sock" || true); do echo "$pid"; done
}

write_settings() {
  local token
  token=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
  echo "$token,admin,admin,\"system:masters\"" >"$dir/tokens.csv"
  openssl genrsa -out "$dir/sa.key" 2048 2>/dev/null
  openssl rsa -in "$dir/sa.key" -pubout -out "$dir/sa.pub" 2>/dev/null
  # Servers of further APIs (prometheus-adapter) trust the user that the API server names, because of this certificate.
  openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=front-proxy-ca -keyout "$dir/front-ca.key" -out "$dir/front-ca.crt" 2>/dev/null
  openssl req -new -newkey rsa:2048 -nodes -subj /CN=front-proxy -keyout "$dir/front.key" -out "$dir/front.csr" 2>/dev/null
  openssl x509 -req -in "$dir/front.csr" -CA "$dir/front-ca.crt" -CAkey "$dir/front-ca.key" -CAcreateserial -days 30 \
    -extfile <(echo extendedKeyUsage=clientAuth) -out "$dir/front.crt" 2>/dev/null
  cat >"$dir/admin.kubeconfig" <<CONFIG
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://127.0.0.1:6443", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: $token}}]
contexts: [{name: test, context: {cluster: test, user: admin}}]
current-context: test
CONFIG
  mkdir -p "$dir/cni"
  cat >"$dir/containerd.toml" <<CONFIG
version = 2
root = "$dir/containerd-root"
state = "$dir/containerd-state"
[grpc]
  address = "$dir/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "km.test/pause:1"
  restrict_oom_score_adj = true # a machine without CAP_SYS_RESOURCE may not lower it
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$dir/cni"
CONFIG
  cat >"$dir/cni/10-bridge.conflist" <<CONFIG
{"cniVersion": "0.4.0", "name": "kmtest", "plugins": [
  {"type": "bridge", "bridge": "kmtest0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$dir/ipam", "ranges": [[{"subnet": "10.88.244.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
CONFIG
  cat >"$dir/kubelet.yaml" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://$dir/containerd.sock
cgroupDriver: cgroupfs
failSwapOn: false
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
resolvConf: /etc/resolv.conf
staticPodPath: ""
enforceNodeAllocatable: []
evictionHard: {memory.available: 200Mi, nodefs.available: 1%, imagefs.available: 1%}
imageGCHighThresholdPercent: 100 # images come from here: what a full disk made it drop could not be pulled again
CONFIG
  cat >"$dir/proxy.yaml" <<CONFIG
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clientConnection: {kubeconfig: $dir/admin.kubeconfig}
clusterCIDR: 10.88.244.0/24
hostnameOverride: node1
conntrack: {maxPerCore: 0}
CONFIG
  cat >"$dir/Corefile" <<CONFIG
.:10053 {
  errors
  cache 5
  kubernetes cluster.local {
    kubeconfig $dir/admin.kubeconfig test
  }
  forward . /etc/resolv.conf
}
CONFIG
}

start_control_plane() {
  start etcd "$dir/etcd" --data-dir "$dir/etcd-data" --listen-client-urls http://127.0.0.1:2379 \
    --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380
  start kube-apiserver "$dir/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --cert-dir="$dir/apiserver-certs" \
    --secure-port=6443 --bind-address=127.0.0.1 --advertise-address="$node" --token-auth-file="$dir/tokens.csv" \
    --authorization-mode=RBAC --service-cluster-ip-range=10.96.0.0/16 --service-account-key-file="$dir/sa.pub" \
    --service-account-signing-key-file="$dir/sa.key" --service-account-issuer=https://kubernetes.default.svc \
    --allow-privileged=true --endpoint-reconciler-type=none --kubelet-preferred-address-types=InternalIP \
    --enable-aggregator-routing=true --requestheader-client-ca-file="$dir/front-ca.crt" \
    --requestheader-allowed-names=front-proxy --requestheader-username-headers=X-Remote-User \
    --requestheader-group-headers=X-Remote-Group --requestheader-extra-headers-prefix=X-Remote-Extra- \
    --proxy-client-cert-file="$dir/front.crt" --proxy-client-key-file="$dir/front.key"
  wait_for 120 kubectl get --raw /readyz
  start kube-controller-manager "$dir/kube-controller-manager" --kubeconfig="$dir/admin.kubeconfig" --leader-elect=false \
    --service-account-private-key-file="$dir/sa.key" --use-service-account-credentials=false \
    --cluster-cidr=10.88.244.0/24 --allocate-node-cidrs=false --horizontal-pod-autoscaler-sync-period=5s
  start kube-scheduler "$dir/kube-scheduler" --kubeconfig="$dir/admin.kubeconfig" --leader-elect=false
}

start_containerd() {
  start containerd containerd --config "$dir/containerd.toml"
  wait_for 60 ctr --address "$dir/containerd.sock" version
}

start_kubelet() {
  start kubelet "$dir/kubelet" --config="$dir/kubelet.yaml" --kubeconfig="$dir/admin.kubeconfig" \
    --root-dir="$dir/kubelet-root" --cert-dir="$dir/kubelet-certs" --hostname-override=node1 --node-ip="$node"
  start kube-proxy "$dir/kube-proxy" --config="$dir/proxy.yaml"
}

# CoreDNS on the node, as the service that pods ask.
start_dns() {
  kubectl apply -f - <<MANIFEST >/dev/null
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec:
  clusterIP: 10.96.0.10
  ports: [{name: dns, port: 53, protocol: UDP, targetPort: 10053}, {name: dns-tcp, port: 53, protocol: TCP, targetPort: 10053}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: kube-dns, namespace: kube-system, labels: {kubernetes.io/service-name: kube-dns}}
addressType: IPv4
endpoints: [{addresses: [$node], conditions: {ready: true}}]
ports: [{name: dns, port: 10053, protocol: UDP}, {name: dns-tcp, port: 10053, protocol: TCP}]
MANIFEST
  start coredns "$dir/coredns" -conf "$dir/Corefile"
  wait_for 60 bash -c "exec 3<>/dev/tcp/$node/10053"
}

up() {
  local part way
  for part in containerd runc catatonit nft conntrack ip; do
    command -v "$part" >/dev/null || {
      echo "cluster.sh: skipped: $part is missing (Debian: containerd runc catatonit nftables conntrack iproute2)" >&2
      exit 77
    }
  done
  ip address add "$node/32" dev lo 2>/dev/null || true # the node, before its bridge is there
  for part in etcd kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl coredns; do
    ln -sf "$binary" "$dir/$part"
  done
  write_settings
  # A Docker engine on this machine has set the policy of forwarding to DROP.
  for way in -i -o; do
    iptables -C FORWARD "$way" kmtest0 -j ACCEPT 2>/dev/null || iptables -I FORWARD "$way" kmtest0 -j ACCEPT
  done
  start_control_plane
  start_containerd
  python3 "$here/pause_image.py" "$(command -v catatonit)" "$dir/pause.tar"
  containers images import "$dir/pause.tar" >/dev/null
  start_kubelet
  wait_for 120 kubectl wait --for=condition=Ready node/node1 --timeout=1s
  start_dns
  echo "cluster.sh: up; export KUBECONFIG=$dir/admin.kubeconfig"
}

load() {
  docker save "$@" | containers images import - >/dev/null
}

# All at once, and none of them gets to say anything.
kill_node() {
  local tasks
  tasks=$(containers tasks list 2>/dev/null | awk 'NR > 1 {print $2}')
  end KILL kubelet kube-proxy
  # shellcheck disable=SC2046,SC2086
  kill -KILL $(shims) $tasks 2>/dev/null || true
  end KILL containerd
}

reboot() {
  kill_node
  sleep 1
  start_containerd
  start_kubelet
}

down() {
  kill_node
  end TERM coredns kube-scheduler kube-controller-manager kube-apiserver
  sleep 1
  end TERM etcd
  sleep 1
  mount | awk -v dir="$dir/" 'index($3, dir) == 1 {print $3}' | sort -r | xargs -r -n1 umount -l 2>/dev/null || true
  local way
  for way in -i -o; do iptables -D FORWARD "$way" kmtest0 -j ACCEPT 2>/dev/null || true; done
  ip address del "$node/32" dev lo 2>/dev/null || true
  ip link delete kmtest0 2>/dev/null || true
  nft delete table ip kube-proxy 2>/dev/null || true
  nft delete table ip6 kube-proxy 2>/dev/null || true
}

[[ $# -ge 2 ]] || usage
action=$1
shift
if [[ "$action" = up ]]; then
  binary=$(readlink -f "$1")
  shift
fi
mkdir -p "${1:?}"
dir=$(readlink -f "$1")
shift
case "$action" in
  up | load | reboot | down) "$action" "$@" ;;
  *) usage ;;
esac
