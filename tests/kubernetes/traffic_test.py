"""A table of the allowed connections, worked out from the manifests' network policies by the rules of Kubernetes. The test
cluster's own network plugin enforces none, so that this says what a plugin that does would let through."""

import ipaddress
import unittest

import manifests
from manifests import of_kind, pod_template, selects

ROLES = ["store", "coordinator", "fetcher", "extractor", "compiler", "runner", "validator", "deduplicator", "backup"]
SERVERS = {"store": 7071, "coordinator": 7070, "fetcher": 7072, "extractor": 7072, "compiler": 7072, "runner": 7072, "validator": 7072,
           "deduplicator": 7072}
WORKERS = ["fetcher", "extractor", "compiler", "runner", "validator", "deduplicator"]
HERE, MONITORING, DNS = "kernelmill", "monitoring", "kube-system"
OUTSIDE = {"github.com": "140.82.112.3", "the metadata service": "169.254.169.254", "a neighbour": "10.1.2.3",
           "the kubelet's host": "192.168.1.10", "the cluster's API": "172.20.0.1", "an IPv6 host": "2606:50c0:8000::153",
           "an IPv6 neighbour": "fd00::1"}


class Pod:
    def __init__(self, namespace, labels, ports=None, namespace_labels=None):
        self.namespace, self.labels, self.ports = namespace, labels, ports or {}
        self.namespace_labels = {"kubernetes.io/metadata.name": namespace, **(namespace_labels or {})}


class Network:
    """The policies of one rendered overlay."""

    def __init__(self, things):
        self.policies = of_kind(things, "NetworkPolicy")
        self.pods = {}
        for thing in things:
            template = pod_template(thing)
            if template:
                labels = template["metadata"]["labels"]
                ports = {port["name"]: port["containerPort"] for container in template["spec"]["containers"]
                         for port in container.get("ports", [])}
                self.pods[labels["app.kubernetes.io/component"]] = Pod(HERE, labels, ports)

    def of(self, pod, direction):
        """The policies that bind a pod in a direction."""
        return [p["spec"] for p in self.policies if p["metadata"]["namespace"] == pod.namespace
                and direction in p["spec"]["policyTypes"] and selects(p["spec"]["podSelector"], pod.labels)]

    def peer_is(self, peer, other):
        """Returns true if a peer of a policy of our namespace is `other`: a pod, or an address outside."""
        if not isinstance(other, Pod):
            block = peer.get("ipBlock")
            address = ipaddress.ip_address(other)
            inside = block and address in ipaddress.ip_network(block["cidr"])
            return bool(inside) and not any(address in ipaddress.ip_network(e) for e in block.get("except", []))
        if "ipBlock" in peer:
            return False  # a pod's address lies in the private blocks that are left out
        if "namespaceSelector" in peer:
            if not selects(peer["namespaceSelector"], other.namespace_labels):
                return False
        elif other.namespace != HERE:
            return False
        return "podSelector" not in peer or selects(peer["podSelector"], other.labels)

    def port_is(self, rule, port, protocol, receiver):
        def number(wanted):
            return receiver.ports.get(wanted) if isinstance(wanted, str) and isinstance(receiver, Pod) else wanted
        return "ports" not in rule or any(number(p.get("port", port)) == port and p.get("protocol", "TCP") == protocol
                                          for p in rule["ports"])

    def lets(self, pod, direction, other, port, protocol, receiver):
        bound = self.of(pod, direction)
        way, peers = ("ingress", "from") if direction == "Ingress" else ("egress", "to")
        return not bound or any(
            (peers not in rule or any(self.peer_is(peer, other) for peer in rule[peers]))
            and self.port_is(rule, port, protocol, receiver) for spec in bound for rule in spec.get(way, []))

    def reaches(self, sender, receiver, port, protocol="TCP"):
        if isinstance(sender, Pod) and not self.lets(sender, "Egress", receiver, port, protocol, receiver):
            return False
        return not isinstance(receiver, Pod) or self.lets(receiver, "Ingress", sender, port, protocol, receiver)


@unittest.skipIf(manifests.missing(), manifests.missing())
class Traffic(unittest.TestCase):
    def networks(self):
        for folder in manifests.OVERLAYS:
            yield folder.name, Network(manifests.render(folder))

    def table(self, network, senders):
        return {(sender, receiver) for sender, pod in senders.items() for receiver, port in SERVERS.items()
                if sender != receiver and network.reaches(pod, network.pods[receiver], port)}

    def test_within_the_namespace(self):
        expected = {(worker, server) for worker in WORKERS for server in ("store", "coordinator")}
        for overlay, network in self.networks():
            wanted = expected | {("coordinator", "store")}
            if "backup" in network.pods:
                wanted |= {("backup", server) for server in SERVERS}  # an operator may ask any
            self.assertEqual(self.table(network, network.pods), wanted, overlay)

    def test_clients_reach_servers_and_strangers_nothing(self):
        client = {"kernelmill/role": "client"}
        for overlay, network in self.networks():
            senders = {"a client here": Pod(HERE, client),
                       "a namespace of clients": Pod("research", {}, namespace_labels={"kernelmill/clients": "true"}),
                       "a pod here": Pod(HERE, {"app": "x"}), "a pod there": Pod("default", {"app": "x"}),
                       "one that calls itself a client": Pod("default", client)}
            self.assertEqual(self.table(network, senders), {
                (sender, server) for sender in ("a client here", "a namespace of clients") for server in SERVERS}, overlay)

    def test_the_fetcher_alone_reaches_out(self):
        for overlay, network in self.networks():
            out = {(role, host) for role, pod in network.pods.items() for host, address in OUTSIDE.items()
                   for port in (22, 80, 443, 9418, 8080, 6443, 53) if network.reaches(pod, address, port)}
            wanted = {("fetcher", "github.com"), ("fetcher", "an IPv6 host")}
            if overlay == "large":  # bazel-remote's bucket
                wanted.add(("store", "github.com"))
                self.assertFalse(network.reaches(network.pods["store"], OUTSIDE["github.com"], 80))
            self.assertEqual(out, wanted, overlay)

    def test_only_prometheus_reads_metrics(self):
        for overlay, network in self.networks():
            for role, port in SERVERS.items():
                pod = network.pods[role]
                self.assertTrue(network.reaches(Pod(MONITORING, {}), pod, port + 1000), (overlay, role))
                self.assertFalse(network.reaches(Pod(MONITORING, {}), pod, port), (overlay, role))
                self.assertFalse(network.reaches(Pod("default", {}), pod, port + 1000), (overlay, role))
                self.assertFalse(network.reaches(network.pods["fetcher"], pod, port + 1000), (overlay, role))

    def test_everyone_asks_for_names_there_and_nowhere_else(self):
        names, others = Pod(DNS, {"k8s-app": "kube-dns"}), Pod(DNS, {"k8s-app": "other"})
        for overlay, network in self.networks():
            for role, pod in network.pods.items():
                for protocol in ("UDP", "TCP"):
                    self.assertTrue(network.reaches(pod, names, 53, protocol), (overlay, role))
                    self.assertFalse(network.reaches(pod, others, 53, protocol), (overlay, role))
                self.assertFalse(network.reaches(pod, names, 443), (overlay, role))

    def test_without_policies_everything_would_pass(self):
        network = Network(manifests.render(manifests.MANIFESTS / "overlays/one-node"))
        network.policies = []
        self.assertTrue(network.reaches(Pod("default", {}), network.pods["store"], 7071))
        self.assertTrue(network.reaches(network.pods["extractor"], OUTSIDE["a neighbour"], 6443))


if __name__ == "__main__":
    unittest.main(verbosity=2)
