"""A Kubernetes of one node (cluster.sh), as the tests speak to it; and kernelmill on it, as the tests of faults speak to a
cluster of their own (tests/chaos/cluster.py)."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "integration"), str(HERE.parent / "chaos")]
import cluster as clusters  # noqa: E402
import harness  # noqa: E402

ADDRESS = "10.88.244.1"  # the node, and so this machine, as pods see it
NAMESPACE = "kernelmill"
PATIENCE = 400  # seconds, on a machine that is busy


class Node:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.program = self.folder / "kubectl"
        self.env = {**os.environ, "KUBECONFIG": str(self.folder / "admin.kubeconfig")}

    def kubectl(self, *argv, check=True, timeout=PATIENCE, **kwargs):
        return harness.run(self.program, *argv, check=check, timeout=timeout, env=self.env, **kwargs)

    def get(self, *argv):
        return json.loads(self.kubectl("-n", NAMESPACE, "get", *argv, "-o", "json").stdout)

    def render(self, folder, replaced=()):
        """The manifests of a folder of ours as text, with the volumes of this node."""
        text = self.kubectl("kustomize", folder).stdout.replace("/VOLUMES", str(self.folder / "volumes"))
        for old, new in replaced:
            assert old in text, f"{folder} has no {old}"
            text = text.replace(old, new)
        return text

    def apply(self, text, *flags):
        return self.kubectl("apply", "--server-side", "--force-conflicts", *flags, "-f", "-", input=text).stdout

    def make_volumes(self, folder="volumes"):
        for volume in ("store-data", "store-backups", "coordinator-data"):
            (self.folder / folder / volume).mkdir(parents=True, exist_ok=True)

    def wait_rolled_out(self, seconds=PATIENCE):
        """Every workload runs as it was last told to."""
        for workload in self.get("statefulsets,deployments")["items"]:
            self.kubectl("-n", NAMESPACE, "rollout", "status", f"{workload['kind']}/{workload['metadata']['name']}",
                         f"--timeout={seconds}s", timeout=seconds + 30)

    def pods(self, component=None):
        """{name: pod}, those that are going included."""
        selector = ["-l", f"app.kubernetes.io/component={component}"] if component else []
        return {pod["metadata"]["name"]: pod for pod in self.get("pods", *selector)["items"]}

    def uids(self, component=None):
        return {pod["metadata"]["uid"] for pod in self.pods(component).values()}

    def restarts(self):
        return {name: sum(c["restartCount"] for c in pod["status"].get("containerStatuses", []))
                for name, pod in self.pods().items()}

    def evict(self, pod):
        """The answer of the API to a request to evict a pod."""
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": NAMESPACE}}
        return self.kubectl("create", "--raw", f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}/eviction", "-f", "-",
                            input=json.dumps(body), check=False)

    def address(self, service):
        return self.get("service", service)["spec"]["clusterIP"]

    def reboot(self):
        harness.run(HERE / "cluster.sh", "reboot", self.folder, timeout=120)

    @contextlib.contextmanager
    def forwarded(self, service, port, namespace=NAMESPACE):
        """A port of this machine that `kubectl port-forward` takes to a service."""
        here = harness.free_port()
        with open(self.folder / f"forward-{service}.log", "wb") as log:
            popen = subprocess.Popen([self.program, "-n", namespace, "port-forward", f"service/{service}", f"{here}:{port}"],
                                     env=self.env, stdout=log, stderr=log)
        try:
            harness.wait_until(lambda: b"Forwarding from" in (self.folder / f"forward-{service}.log").read_bytes(),
                               f"port-forward to {service}", 60)
            yield here
        finally:
            popen.terminate()
            popen.wait()


class Kernelmill:
    """The cluster that Submission needs, called from outside the pods, by the services' addresses or others."""

    def __init__(self, node, folder, addresses=None, identity=()):
        self.folder, self.identity = pathlib.Path(folder), [*identity]
        coordinator, store = addresses or (f"{node.address('coordinator')}:7070", f"{node.address('store')}:7071")
        self.flags = ["--coordinator", coordinator, "--store", store, *self.identity]

    def place(self, _):
        return [], None

    def addresses(self):
        return self.flags

    def client(self, *argv, check=True, timeout=clusters.DEADLINE):
        return harness.run(harness.BIN / "kernelmill", *argv, *self.flags, check=check, timeout=timeout)

    status = clusters.ChaosCluster.status

    def submit(self, job_file, out, name="submit"):
        return clusters.Submission(self, job_file, out, name)
