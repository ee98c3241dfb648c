"""The Helm chart is that of the kustomize manifests: its files are what make_chart.py writes, and what Helm makes of them with
the default values is what kustomize renders, except for names that Helm cannot give. The second needs helm (install_helm.sh)."""

import shutil
import subprocess
import sys
import unittest

import manifests
from manifests import pod_template

HELM = shutil.which("helm") or manifests.TOOLS / "helm"
HELM = HELM if shutil.which(str(HELM)) else None
CHART = manifests.MANIFESTS / "chart"


def rendered(*flags):
    import yaml
    done = subprocess.run([str(HELM), "template", "kernelmill", str(CHART), "--namespace", "kernelmill", "--kube-version", "1.34.0",
                           *flags], capture_output=True,
                          text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [thing for thing in yaml.safe_load_all(done.stdout) if thing]


@unittest.skipIf(manifests.missing(), manifests.missing())
class Chart(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(manifests.MANIFESTS))
        import make_chart
        cls.make_chart = make_chart

    def test_it_is_made_of_the_manifests(self):
        done = subprocess.run([sys.executable, manifests.MANIFESTS / "make_chart.py", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def alike(self, thing):
        """An object without what differs on purpose: hashes in names, the namespace, and what follows from values."""
        thing["metadata"]["name"] = self.make_chart.plain_name(thing["metadata"]["name"])
        thing["metadata"].pop("namespace", None)
        template = pod_template(thing)
        if template:
            template["metadata"].pop("annotations", None)
            container, = template["spec"]["containers"]
            container.pop("imagePullPolicy", None)
            container["image"] = container["image"].partition(":")[0]
            for source in container["envFrom"]:
                source["configMapRef"]["name"] = self.make_chart.plain_name(source["configMapRef"]["name"])
        if thing["kind"] == "Deployment":
            thing["spec"].pop("replicas", None)
        return thing

    @unittest.skipUnless(HELM, "no helm: tests/kubernetes/install_helm.sh")
    def test_helm_renders_what_kustomize_does(self):
        everything = ["--set", "autoscaling.enabled=true", "--set", "serviceMonitors.enabled=true"]
        for flags, components in (
                (["--set", "tls.enabled=false"], ["insecure"]), (["--set", "tls.certManager=false"], ["tls", "grants"]),
                (everything, ["tls", "grants", "cert-manager", "autoscaling", "service-monitors"])):
            with self.subTest(components=components):
                wanted = {self.make_chart.key(t): self.alike(t) for t in self.make_chart.render(*components)
                          if t["kind"] != "Namespace"}
                got = {self.make_chart.key(t): self.alike(t) for t in rendered(*flags)}
                self.assertEqual(sorted(got), sorted(wanted))
                for which, thing in wanted.items():
                    self.assertEqual(got[which], thing, which)

    @unittest.skipUnless(HELM, "no helm: tests/kubernetes/install_helm.sh")
    def test_a_changed_setting_rolls_the_pods_that_read_it(self):
        def checksums(*flags):
            return {thing["metadata"]["name"]: pod_template(thing)["metadata"]["annotations"] for thing in rendered(*flags)
                    if pod_template(thing)}
        before, after = checksums(), checksums("--set-string", "settings.extractor.KERNELMILL_SLOTS=7")
        self.assertEqual({name for name in before if before[name] != after[name]}, {"extractor"})

    @unittest.skipUnless(HELM, "no helm: tests/kubernetes/install_helm.sh")
    def test_values_reach_what_they_name(self):
        things = {(t["kind"], t["metadata"]["name"]): t for t in rendered(
            "--set", "storage.className=fast,replicas.extractor=3,image.tag=x,nodeSelector.disk=ssd,image.pullSecrets[0].name=s")}
        extractor, store = things["Deployment", "extractor"]["spec"], things["StatefulSet", "store"]["spec"]
        self.assertEqual(extractor["replicas"], 3)
        self.assertEqual(extractor["template"]["spec"]["containers"][0]["image"], "kernelmill:x")
        self.assertEqual(extractor["template"]["spec"]["nodeSelector"], {"disk": "ssd"})
        self.assertEqual(extractor["template"]["spec"]["imagePullSecrets"], [{"name": "s"}])
        self.assertEqual({c["spec"]["storageClassName"] for c in store["volumeClaimTemplates"]}, {"fast"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
