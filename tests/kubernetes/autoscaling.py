"""The needs of autoscalers: Prometheus, which scrapes the coordinator, and prometheus-adapter with the rules of
components/autoscaling, as programs of this machine that the cluster knows as a service."""

import contextlib
import json
import shutil
import subprocess
import unittest
import urllib.request

import manifests
import node as nodes

import harness

ADAPTER = manifests.TOOLS / "adapter"
RULES = manifests.MANIFESTS / "components/autoscaling/prometheus-adapter.yaml"
GROUP = "external.metrics.k8s.io"


def service(port):
    labels = {"kubernetes.io/service-name": "external-metrics"}
    return [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "external-metrics", "namespace": "kube-system"},
             "spec": {"ports": [{"name": "https", "port": 443, "targetPort": port}]}},
            {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
             "metadata": {"name": "external-metrics", "namespace": "kube-system", "labels": labels},
             "endpoints": [{"addresses": [nodes.ADDRESS], "conditions": {"ready": True}}],
             "ports": [{"name": "https", "port": port, "protocol": "TCP"}]},
            {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": f"v1beta1.{GROUP}"},
             "spec": {"group": GROUP, "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100,
                      "insecureSkipTLSVerify": True, "service": {"name": "external-metrics", "namespace": "kube-system"}}}]


@contextlib.contextmanager
def running(argv, log):
    with open(log, "wb") as file:
        popen = subprocess.Popen([str(a) for a in argv], stdout=file, stderr=file)
    try:
        yield popen
    finally:
        popen.terminate()
        popen.wait()


def answered(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return json.load(answer)["data"]["result"]
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def metrics_of(node, folder):
    if not shutil.which("prometheus"):
        raise unittest.SkipTest("no prometheus (Debian package: prometheus)")
    if not ADAPTER.exists():
        raise unittest.SkipTest("no prometheus-adapter: tests/kubernetes/install_adapter.sh")
    folder = folder / "autoscaling"
    folder.mkdir()
    target = f"{node.address('coordinator')}:8070"
    (folder / "prometheus.yml").write_text(json.dumps({"scrape_configs": [{
        "job_name": "coordinator", "scrape_interval": "1s",
        "static_configs": [{"targets": [target], "labels": {"namespace": nodes.NAMESPACE}}]}]}))
    harness.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=external-metrics",
                "-keyout", folder / "key", "-out", folder / "certificate")
    at, port = harness.free_port(), harness.free_port()
    with contextlib.ExitStack() as stack:
        stack.enter_context(running(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                                     f"--web.listen-address=127.0.0.1:{at}"], folder / "prometheus.log"))
        url = f"http://127.0.0.1:{at}"
        admin = node.folder / "admin.kubeconfig"
        stack.enter_context(running([
            ADAPTER, f"--prometheus-url={url}", f"--config={RULES}", "--metrics-relist-interval=2s", "--metrics-max-age=10s",
            f"--bind-address={nodes.ADDRESS}", f"--secure-port={port}", f"--tls-cert-file={folder}/certificate",
            f"--tls-private-key-file={folder}/key", f"--lister-kubeconfig={admin}", f"--authentication-kubeconfig={admin}",
            f"--authorization-kubeconfig={admin}"], node.folder / "prometheus-adapter.log"))
        harness.wait_until(lambda: answered(f"{url}/api/v1/query?query=kernelmill_coordinator_jobs"), "Prometheus to scrape", 120, 1)
        node.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": service(port)}))
        stack.callback(node.kubectl, "delete", "apiservice", f"v1beta1.{GROUP}")
        node.kubectl("wait", "--for=condition=Available", f"apiservice/v1beta1.{GROUP}", "--timeout=120s")
        yield
