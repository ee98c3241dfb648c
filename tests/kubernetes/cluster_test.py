"""kernelmill on a real Kubernetes of one node: whatever is done to its pods in the middle of a job, the dataset is that of one
process, byte for byte. tests/kubernetes/run.sh runs it, on the cluster that KERNELMILL_TEST_CLUSTER names (cluster.sh's folder),
with the images kernelmill:now and kernelmill:next, and the programs of the first in KERNELMILL_BIN."""

import contextlib
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest

import node as nodes
from git_job import GitJob

import autoscaling
import harness
import workload
from trusted_cluster import CERTS, identity

FOLDER = os.environ.get("KERNELMILL_TEST_CLUSTER")
HERE = pathlib.Path(__file__).resolve().parent
MANIFESTS = HERE / "manifests"
HELM = harness.ROOT / "build/peers/kubernetes/helm"
NEW, OF_HELM = "kernelmill-admission", "kernelmill-of-helm"
WORKERS = ("fetcher", "extractor", "validator", "deduplicator")


@unittest.skipUnless(FOLDER, "no cluster: tests/kubernetes/run.sh")
class OnKubernetes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.node = nodes.Node(FOLDER)
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.scratch = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kernelmill-kubernetes-")))
        cls.git_folder = cls.scratch / "git"
        cls.git_folder.mkdir()
        server = stack.enter_context(harness.git_server(cls.git_folder, host=nodes.ADDRESS))
        cls.url = f"http://{nodes.ADDRESS}:{server.server_address[1]}"
        cls.node.make_volumes()
        cls.node.apply(cls.node.render(MANIFESTS / "cluster"))
        cls.node.wait_rolled_out()

    def setUp(self):
        self.folder = self.scratch / self.id().rsplit(".", 1)[-1]
        self.began = time.monotonic()
        self.job = GitJob(self.folder, self.url, self.git_folder, self.salt())
        self.said = []
        self.addCleanup(self.report)

    def salt(self, more=""):
        """Returns a word that makes kernels new to the store: neither an earlier test nor an earlier run on a kept cluster had it."""
        return f"{self.id().rsplit('.', 1)[-1].split('_')[1]}{more}_{int(self.began)}"

    def say(self, what):
        self.said.append(f"{time.monotonic() - self.began:6.1f} s  {what}")

    def report(self):
        print("", *self.said, f"{time.monotonic() - self.began:6.1f} s  end", sep="\n    ", file=sys.stderr)

    def back_to_normal(self):
        self.node.apply(self.node.render(MANIFESTS / "cluster"))
        self.node.wait_rolled_out()

    def submit(self, name="out", job=None, **kwargs):
        """A submitted job that has come as far as extracting."""
        kernelmill = nodes.Kernelmill(self.node, self.folder, **kwargs)
        submission = kernelmill.submit((job or self.job).file, self.folder / name, name)
        self.addCleanup(submission.abandon)
        harness.wait_until(lambda: submission.stage("extract").get("done") or not submission.running(), "an extract",
                           nodes.PATIENCE, 0.3)
        self.assertTrue(submission.running(), submission.log.read_text()[-2000:])
        self.say(f"in the middle: {submission.done()} tasks are done")
        return submission

    def assert_unharmed(self, submission, job=None):
        self.assertTrue(submission.running(), "the job was over before the fault was")
        ended = submission.wait(nodes.PATIENCE)
        self.assertEqual(ended, 0, (submission.cluster.status(submission.job) or {}).get("failures"))
        digest = (job or self.job).check(submission.out)
        workload.check_status(submission.cluster.status(submission.job))
        self.say(f"digest {digest}, as of one process")

    def test_01_a_job_from_outside_gives_the_digest_of_one_process(self):
        with self.node.forwarded("coordinator", 7070) as coordinator, self.node.forwarded("store", 7071) as store:
            self.assert_unharmed(self.submit(addresses=(f"127.0.0.1:{coordinator}", f"127.0.0.1:{store}")))

    def test_02_pods_are_deleted(self):
        submission = self.submit()
        for component in (*WORKERS, "store", "coordinator"):
            name = sorted(self.node.pods(component))[0]
            now = ["--grace-period=0", "--force"] if component in ("extractor", "store", "coordinator") else []
            self.node.kubectl("-n", nodes.NAMESPACE, "delete", "pod", name, "--wait=false", *now)
            self.say(f"deleted {name}{' at once' if now else ''}")
        self.assert_unharmed(submission)
        self.node.wait_rolled_out()

    def test_03_budgets_refuse_what_they_must_and_a_drain_stops_at_them(self):
        submission = self.submit()
        before = {component: self.node.uids(component) for component in ("store", "coordinator", *WORKERS)}
        for pod in ("store-0", "coordinator-0"):
            refused = self.node.evict(pod)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("disruption budget", refused.stderr + refused.stdout)
        self.addCleanup(self.node.kubectl, "uncordon", "node1")
        drained = self.node.kubectl("drain", "node1", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=15s",
                                    "--pod-selector=app.kubernetes.io/part-of=kernelmill", check=False)
        self.assertNotEqual(drained.returncode, 0, "the drain took everything")
        after = {component: self.node.uids(component) for component in before}
        for component in ("store", "coordinator"):
            self.assertEqual(after[component], before[component])
        for component in WORKERS:  # one of two, whose heir finds no node
            self.assertEqual(len(after[component] & before[component]), 1, component)
        self.say("drained as far as the budgets let: a worker of each kind; the store and the coordinator stayed")
        self.node.kubectl("uncordon", "node1")
        self.assert_unharmed(submission)
        self.node.wait_rolled_out()

    def test_04_extractors_are_killed_for_memory(self):
        submission = self.submit()
        self.node.kubectl("-n", nodes.NAMESPACE, "set", "resources", "deployment/extractor",
                          "--limits=memory=20Mi", "--requests=memory=8Mi")
        self.addCleanup(self.back_to_normal)

        def killed():
            reasons = [state.get("terminated", {}).get("reason") for pod in self.node.pods("extractor").values()
                       for c in pod["status"].get("containerStatuses", []) for state in (c["state"], c["lastState"])]
            return [reason for reason in reasons if reason == "OOMKilled"]

        self.say(f"{len(harness.wait_until(killed, 'a kill for memory', nodes.PATIENCE, 0.5))} extractors killed for memory")
        self.node.kubectl("-n", nodes.NAMESPACE, "set", "resources", "deployment/extractor",
                          "--limits=memory=2Gi")
        self.assert_unharmed(submission)

    def test_05_another_version_and_back(self):
        to_next = [("image: kernelmill:now", "image: kernelmill:next")]
        self.addCleanup(self.back_to_normal)
        submission = self.submit()
        before = self.node.uids()
        self.node.apply(self.node.render(MANIFESTS / "cluster", to_next))
        self.node.wait_rolled_out()
        self.assertFalse(before & {pod["metadata"]["uid"] for pod in self.node.pods().values()
                                   if not pod["metadata"].get("deletionTimestamp")}, "a pod was not replaced")
        self.say("every pod is of the next version")
        self.assertEqual(submission.wait(nodes.PATIENCE), 0, submission.log.read_text()[-2000:])
        # The next version's own dataset: the same kernels, under another version of a stage.
        workload.check_ledger(submission.out)
        self.assertEqual(GitJob.rows(submission.out), GitJob.rows(self.job.quiet))
        self.assertNotEqual(harness.dataset_digest(submission.out), harness.dataset_digest(self.job.quiet))
        self.say("the same kernels, by the next version")
        job = GitJob(self.folder / "back", self.url, self.git_folder, self.salt("back"))
        again = self.submit("again", job)
        self.node.apply(self.node.render(MANIFESTS / "cluster"))
        self.node.wait_rolled_out()
        self.say("every pod is of this version again")
        self.assertEqual(again.wait(nodes.PATIENCE), 0, again.log.read_text()[-2000:])
        self.say(f"digest {job.check(again.out)}, as of one process")

    def test_06_the_node_reboots(self):
        submission = self.submit()
        before = self.node.restarts()
        self.node.reboot()
        self.say("kubelet, containerd and all pods' processes were killed, and the node started")
        self.assert_unharmed(submission)
        after = self.node.restarts()
        self.assertEqual({name for name in before if after.get(name, 1 << 30) <= before[name]}, set())

    def extractors_follow(self, replaced=()):
        """More of them for a job's queue, and one again afterwards."""
        self.addCleanup(self.back_to_normal)
        self.addCleanup(self.node.kubectl, "-n", nodes.NAMESPACE, "delete", "hpa", "--all")
        with autoscaling.metrics_of(self.node, self.folder):
            self.node.apply(self.node.render(MANIFESTS / "cluster-autoscaled", replaced))
            self.node.kubectl("-n", nodes.NAMESPACE, "scale", "deployment", "--all", "--replicas=1")

            def replicas():
                return self.node.get("deployment", "extractor")["spec"]["replicas"]

            harness.wait_until(lambda: replicas() == 1, "one extractor", nodes.PATIENCE, 1)
            submission = self.submit()
            most = harness.wait_until(lambda: replicas() > 2 and replicas(), "more extractors", nodes.PATIENCE, 0.5)
            self.say(f"{most} extractors for {submission.stage('extract')}")
            followed = [one["external"] for one in self.node.get("hpa", "extractor")["status"]["currentMetrics"]]
            self.assertEqual({one["metric"]["name"] for one in followed},
                             {"kernelmill_coordinator_tasks", "kernelmill_coordinator_oldest_ready_seconds"})
            self.say(f"their autoscaler's metrics: {[one['current'] for one in followed]}")
            self.assert_unharmed(submission)
            harness.wait_until(lambda: replicas() == 1, "one extractor again", nodes.PATIENCE, 1)
            self.say("one extractor again")

    def test_07_extractors_follow_the_tasks_of_their_queue(self):
        self.extractors_follow()

    def test_10_extractors_follow_the_age_of_their_queue(self):
        self.extractors_follow([('averageValue: "4"', 'averageValue: "1000"'), ('value: "120"', 'value: "3"')])

    def on_node(self, *argv, check=True):
        return self.node.kubectl("-n", nodes.NAMESPACE, *argv, check=check)

    def test_08_a_backup_by_the_cron_job_is_restored(self):
        self.on_node("create", "job", "backup-now", "--from=cronjob/backup")
        self.addCleanup(self.on_node, "delete", "job", "backup-now")
        submission = self.submit()
        self.on_node("wait", "--for=condition=complete", "job/backup-now", "--timeout=300s")
        backup, = (self.node.folder / "volumes/store-backups").iterdir()
        self.assertTrue((self.node.folder / "volumes/coordinator-data/backups" / backup.name).is_dir())
        self.say(f"both servers backed up to {backup.name}, in the middle of a job")
        # The store loses all that came after. A job that had it names what it lost; submitted again, it makes it anew.
        self.addCleanup(self.back_to_normal)
        self.on_node("scale", "statefulset/store", "--replicas=0")
        self.on_node("wait", "--for=delete", "pod/store-0", "--timeout=120s")
        folder = f"/data/restored-{int(self.began)}"  # a new one, also on a cluster that was kept
        restore = (harness.ROOT / "deploy/kubernetes/store/restore.yaml").read_text()
        self.node.apply(restore.replace("kernelmill:0.1.0", "kernelmill:now").replace("monday", backup.name).replace("/data/restored", folder))
        pods = ("pod/restore-store", "pod/restore-coordinator")
        self.addCleanup(self.on_node, "delete", *pods)
        self.on_node("wait", *pods, "--for=jsonpath={.status.phase}=Succeeded", "--timeout=120s")
        data = "KERNELMILL_DATA: /data\n  KERNELMILL_LIMIT"  # the store's settings
        self.node.apply(self.node.render(MANIFESTS / "cluster", [(data, data.replace("/data", folder))]))
        self.on_node("delete", "pod", "-l", "app.kubernetes.io/component=store", "--ignore-not-found")
        self.node.wait_rolled_out()
        self.say("the store runs on what was restored")
        submission.wait(nodes.PATIENCE)
        lost = submission.cluster.status(submission.job).get("failures", [])
        self.assertLessEqual({failure["code"] for failure in lost}, {"NOT_FOUND"})
        self.say(f"the job that ran meanwhile names {len(lost)} losses")
        again = submission.cluster.submit(self.job.file, self.folder / "again", "again")
        self.addCleanup(again.abandon)
        self.assertEqual(again.wait(nodes.PATIENCE), 0, again.log.read_text()[-2000:])
        self.say(f"submitted again: digest {self.job.check(again.out)}, as of one process")

    def test_09_identities(self):
        certificates = self.folder / "certs"
        harness.run(CERTS, certificates, "--host", "store", "--host", "coordinator")
        harness.run(CERTS, certificates, "operator/backup")
        secrets = harness.run(harness.ROOT / "deploy/kubernetes/secrets.sh", certificates).stdout
        self.addCleanup(self.back_to_normal)
        self.node.apply(secrets, "-n", nodes.NAMESPACE)
        self.node.apply(self.node.render(MANIFESTS / "cluster-tls"))
        self.node.wait_rolled_out()
        self.say("every pod has an identity, and is ready by the image's own probe")
        with self.node.forwarded("coordinator", 7070) as coordinator, self.node.forwarded("store", 7071) as store:
            at = (f"localhost:{coordinator}", f"localhost:{store}")
            stranger = nodes.Kernelmill(self.node, self.folder, at)
            self.assertNotEqual(stranger.client("jobs", "--reconnect-seconds", "1", check=False).returncode, 0)
            self.assert_unharmed(self.submit(addresses=at, identity=identity(certificates, "client")))
            # A worker's certificate writes blobs, and without the grant of a task no result.
            files = zip(("CA", "CERT", "KEY"), identity(certificates, "extractor")[1::2])
            env = {**os.environ, **{f"KERNELMILL_TLS_{name}": str(path) for name, path in files}}
            blob, result = harness.run(harness.BIN / "cache_forger", "poison", at[1], f"{'0' * 64}/1", "extract", "-",
                                       env=env).stdout.splitlines()
            self.assertTrue(blob.startswith("OK"), blob)
            self.assertTrue(result.startswith("PERMISSION_DENIED"), result)
            self.say(f"a worker's result without a grant: {result}")
        self.on_node("create", "job", "backup-now", "--from=cronjob/backup")
        self.addCleanup(self.on_node, "delete", "job", "backup-now")
        self.on_node("wait", "--for=condition=complete", "job/backup-now", "--timeout=300s")
        self.say("the backup's own certificate is enough for a backup")


    def test_11_the_chart_is_a_cluster_too(self):
        if not HELM.exists():
            self.skipTest("no helm: tests/kubernetes/install_helm.sh")
        label = {"pod-security.kubernetes.io/enforce": "restricted"}
        self.node.apply(json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OF_HELM, "labels": label}}))
        self.node.make_volumes("volumes-of-helm")
        volumes = self.node.render(MANIFESTS / "volumes", [
            ("namespace: kernelmill", f"namespace: {OF_HELM}"), ("/volumes/", "/volumes-of-helm/"),
            *((f"name: {name}\n", f"name: {name}-of-helm\n") for name in ("store-data", "store-backups", "coordinator-data"))])
        self.node.apply(volumes)
        self.addCleanup(self.node.kubectl, "delete", "persistentvolume", "--ignore-not-found", "store-data-of-helm",
                        "store-backups-of-helm", "coordinator-data-of-helm")
        self.addCleanup(self.node.kubectl, "delete", "namespace", OF_HELM)  # before its volumes, which its claims hold
        certificates = self.folder / "certs"
        harness.run(CERTS, certificates, "--host", "store", "--host", "coordinator")
        harness.run(CERTS, certificates, "operator/backup")
        self.node.apply(harness.run(harness.ROOT / "deploy/kubernetes/secrets.sh", certificates).stdout, "-n", OF_HELM)
        small = [f"resources.{component}.requests.{what}" for component in (*WORKERS, "store", "coordinator")
                 for what in ("cpu=10m", "memory=32Mi", "ephemeral-storage=10Mi")]
        values = ["image.tag=now", "image.pullPolicy=Never", "tls.certManager=false", "priorityClasses.create=false",
                  "resources.extractor.limits.cpu=50m", "replicas.extractor=2", *small]
        harness.run(HELM, "install", "km", harness.ROOT / "deploy/kubernetes/chart", "--namespace", OF_HELM, "--wait", "--timeout", "400s",
                    "--set", ",".join(values), "--set-string", "settings.fetcher.KERNELMILL_ALLOW_PRIVATE=true",
                    env=self.node.env, timeout=nodes.PATIENCE + 30)
        self.say("installed, and every pod is ready")
        with self.node.forwarded("coordinator", 7070, OF_HELM) as coordinator, self.node.forwarded("store", 7071, OF_HELM) as store:
            at = (f"localhost:{coordinator}", f"localhost:{store}")
            self.assert_unharmed(self.submit(addresses=at, identity=identity(certificates, "client")))
        harness.run(HELM, "uninstall", "km", "--namespace", OF_HELM, "--wait", env=self.node.env, timeout=nodes.PATIENCE)


@unittest.skipUnless(FOLDER, "no cluster: tests/kubernetes/run.sh")
class Admission(unittest.TestCase):
    """The API server accepts the manifests; nothing runs."""

    @classmethod
    def setUpClass(cls):
        cls.node = nodes.Node(FOLDER)
        cls.node.apply(json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": NEW, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}))
        for definitions in sorted((cls.node.folder / "definitions").glob("*.json")):
            cls.node.apply(definitions.read_text())
            for kind in json.loads(definitions.read_text())["items"]:
                # Once more where it fails: it does for a kind so new that it has no conditions.
                harness.wait_until(lambda: cls.node.kubectl(
                    "wait", "--for=condition=Established", "--timeout=10s", f"crd/{kind['metadata']['name']}",
                    check=False).returncode == 0, "a kind to be known", 120)

    def dry_run(self, text):
        return self.node.kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-", input=text, check=False)

    def test_every_overlay_is_taken(self):
        if not list((self.node.folder / "definitions").glob("*.json")):
            self.skipTest("no definitions of others' kinds: run.sh says why")
        for folder in sorted((harness.ROOT / "deploy/kubernetes/overlays").iterdir()):
            with self.subTest(overlay=folder.name), tempfile.TemporaryDirectory() as scratch:
                # Another namespace: one in which nothing is there already.
                path = pathlib.Path(scratch).resolve()
                (path / "kustomization.yaml").write_text(
                    f"namespace: {NEW}\nresources: [{os.path.relpath(folder, path)}]\n")
                done = self.dry_run(self.node.kubectl("kustomize", path).stdout)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("violate", done.stderr)  # PodSecurity only warns about workloads

    def test_the_chart_is_taken_too(self):
        if not HELM.exists():
            self.skipTest("no helm: tests/kubernetes/install_helm.sh")
        done = harness.run(HELM, "install", "km", harness.ROOT / "deploy/kubernetes/chart", "--namespace", NEW, "--dry-run=server",
                           "--set", "autoscaling.enabled=true,serviceMonitors.enabled=true,priorityClasses.create=false", env=self.node.env, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_not_restricted_is_refused(self):
        text = self.node.kubectl("kustomize", MANIFESTS / "cluster").stdout.replace(
            "RuntimeDefault", "Unconfined").replace("namespace: kernelmill", f"namespace: {NEW}")
        done = self.dry_run(text)
        self.assertIn("violate", done.stderr)
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "namespace": NEW},
               "spec": {"containers": [{"name": "x", "image": "x"}]}}
        refused = self.dry_run(json.dumps(pod))
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("violates PodSecurity", refused.stderr)


@unittest.skipUnless(FOLDER, "no cluster: tests/kubernetes/run.sh")
class Image(unittest.TestCase):
    def inside(self, command):
        return harness.run("docker", "run", "--rm", "--network", "none", "--entrypoint", "sh", "kernelmill:now", "-c", command).stdout

    def test_its_user_is_a_number_and_not_root(self):
        user = harness.run("docker", "image", "inspect", "--format", "{{.Config.User}}", "kernelmill:now").stdout.strip()
        self.assertRegex(user, r"^[1-9]\d*:[1-9]\d*$")

    def test_it_holds_no_compiler(self):
        tools = "cc c++ gcc g++ clang clang++ cpp as ld mold go rustc tcc make cmake ninja"
        self.assertEqual(self.inside(f"for tool in {tools}; do command -v $tool; done; true"), "")
        self.assertIn("python3", self.inside("command -v python3"))

    def test_it_says_what_it_is_made_of(self):
        parts = json.loads(self.inside("cat /usr/local/share/kernelmill/sbom.cdx.json"))["components"]
        installed = self.inside("dpkg-query -W -f '${Package}\\n'").split()
        self.assertEqual(set(installed) - {part["name"] for part in parts}, set())
        self.assertIn("tree-sitter", {part["name"] for part in parts})


if __name__ == "__main__":
    unittest.main(verbosity=2)
