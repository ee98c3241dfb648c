"""The manifests of deploy/kubernetes: of the schemas of Kubernetes, and with what the programs and a careful cluster ask of
each of them. Skipped where the tools are missing (install_tools.sh)."""

import base64
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import manifests
from manifests import name, of_kind, pod_template, selects

VERSION = "1.34"
# Kinds of others, whose schemas are not Kubernetes' own; tests/kubernetes/run.sh shows them to a server that has them.
FOREIGN = {"cert-manager.io/v1", "keda.sh/v1alpha1", "monitoring.coreos.com/v1"}
WORKERS = {"fetcher", "extractor", "compiler", "runner", "validator", "deduplicator"}
SLACK = 5  # seconds between the end of a drain and the kill
DRAIN = 30
TASKS, OLDEST = "kernelmill_coordinator_tasks", "kernelmill_coordinator_oldest_ready_seconds"
KERNELMILLS = re.compile(r"(.*/)?kernelmill(-compiler|-runner)?(:|$)")


def sources(pattern, *folders):
    for folder in folders:
        for path in (manifests.ROOT / folder).rglob("*.cc"):
            yield from re.findall(pattern, path.read_text(encoding="utf-8"))


@unittest.skipIf(manifests.missing(), manifests.missing())
class Manifests(unittest.TestCase):
    def _formatMessage(self, msg, standardMsg):
        return f"{getattr(self, 'at', '')}: {super()._formatMessage(msg, standardMsg)}"

    def overlays(self):
        for folder in [*manifests.OVERLAYS, pathlib.Path(__file__).parent / "manifests/other-worker"]:
            self.at = folder.name
            yield manifests.render(folder)

    def workloads(self):
        for things in self.overlays():
            for thing in things:
                if pod_template(thing):
                    self.at = f"{self.at.split(':')[0]}: {name(thing)}"
                    yield things, thing, pod_template(thing)

    def test_there_is_an_overlay_for_one_node_a_team_and_many(self):
        self.assertEqual([folder.name for folder in manifests.OVERLAYS], ["large", "one-node", "team"])

    def test_everything_is_of_its_schema(self):
        try:
            import kubernetes_validate
        except ImportError:
            self.skipTest("no kubernetes-validate: tests/kubernetes/install_tools.sh")
        for things in self.overlays():
            for thing in things:
                if thing["apiVersion"] not in FOREIGN:
                    kubernetes_validate.validate(thing, VERSION, strict=True)
        import yaml
        for restore in yaml.safe_load_all((manifests.MANIFESTS / "store/restore.yaml").read_text()):
            kubernetes_validate.validate(restore, VERSION, strict=True)

    def test_a_schema_that_is_broken_is_noticed(self):
        try:
            import kubernetes_validate
        except ImportError:
            self.skipTest("no kubernetes-validate: tests/kubernetes/install_tools.sh")
        thing = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"ports": [{"prot": 1}]}}
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(thing, VERSION, strict=True)

    def test_names_are_given_once(self):
        for things in self.overlays():
            names = [name(thing) for thing in things]
            self.assertEqual(len(names), len(set(names)), sorted(names))

    def test_pods_are_restricted(self):
        for _, _, template in self.workloads():
            pod = template["spec"]
            self.assertIs(pod["securityContext"]["runAsNonRoot"], True)
            self.assertGreater(pod["securityContext"]["runAsUser"], 0)
            self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
            self.assertIs(pod["automountServiceAccountToken"], False)
            self.assertIs(pod["enableServiceLinks"], False)
            for container in pod["containers"]:
                self.assertEqual(container["securityContext"], {
                    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})

    def test_namespaces_enforce_it(self):
        for things in self.overlays():
            for namespace in of_kind(things, "Namespace"):
                self.assertEqual(namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted")

    def test_every_container_says_what_it_needs_and_may_take(self):
        for _, _, template in self.workloads():
            for container in template["spec"]["containers"]:
                for bound in ("requests", "limits"):
                    self.assertEqual(set(container["resources"][bound]), {"cpu", "memory", "ephemeral-storage"})

    def test_servers_have_three_probes_and_time_to_drain(self):
        for _, thing, template in self.workloads():
            if thing["kind"] == "CronJob":
                continue
            container, = template["spec"]["containers"]
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                self.assertIn(probe, container)
            pre_stop = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
            self.assertGreaterEqual(template["spec"]["terminationGracePeriodSeconds"], pre_stop + DRAIN + SLACK)

    def test_the_kubelet_asks_over_grpc_where_there_is_no_tls_and_the_image_where_there_is(self):
        for things, thing, template in self.workloads():
            container, = template["spec"]["containers"]
            if thing["kind"] == "CronJob" or not KERNELMILLS.match(container["image"]):
                continue
            tls = any("KERNELMILL_TLS_CA" in settings["data"] for settings in of_kind(things, "ConfigMap"))
            self.assertIn("exec" if tls else "grpc", container["livenessProbe"])

    def asks(self, probe):
        """The service whose health a probe asks for; empty: the server itself."""
        if "exec" in probe:
            program, *service = probe["exec"]["command"]
            self.assertTrue(program.endswith("/healthcheck.py"), program)
            return "".join(service)
        return probe["grpc"].get("service", "")

    def test_a_pod_is_ready_when_it_can_do_its_work_and_restarted_when_it_does_not_live(self):
        for _, thing, template in self.workloads():
            container, = template["spec"]["containers"]
            if thing["kind"] == "CronJob" or not KERNELMILLS.match(container["image"]):
                continue
            self.assertEqual({probe: self.asks(container[f"{probe}Probe"]) for probe in ("startup", "liveness", "readiness")},
                             {"startup": "", "liveness": "", "readiness": "ready"})

    def test_a_server_of_which_there_is_one_answers_when_it_is_not_ready(self):
        for things in self.overlays():
            for workload in of_kind(things, "StatefulSet"):
                container, = workload["spec"]["template"]["spec"]["containers"]
                if not KERNELMILLS.match(container["image"]):
                    continue
                service, = [s for s in of_kind(things, "Service") if s["metadata"]["name"] == workload["metadata"]["name"]]
                self.assertIs(service["spec"].get("publishNotReadyAddresses"), True)

    def test_the_store_and_the_coordinator_share_a_grant_key_that_no_worker_has(self):
        for things in self.overlays():
            has = set()
            for workload in of_kind(things, "StatefulSet", "Deployment", "CronJob"):
                pod = pod_template(workload)["spec"]
                container, = pod["containers"]
                settings = {source["configMapRef"]["name"] for source in container["envFrom"] if "configMapRef" in source}
                keys = {c["data"].get("KERNELMILL_GRANT_KEY") for c in of_kind(things, "ConfigMap")
                        if c["metadata"]["name"] in settings} - {None}
                secrets = {v["secret"]["secretName"]: v["name"] for v in pod["volumes"] if "secret" in v}
                self.assertEqual(bool(keys), "grant-key" in secrets)
                if keys:
                    mount, = [m for m in container["volumeMounts"] if m["name"] == secrets["grant-key"]]
                    self.assertEqual(keys, {f"{mount['mountPath']}/grant.key"})
                    has.add(workload["metadata"]["name"])
            self.assertEqual(has, {"store", "coordinator"} if self.at == "team" else set())

    def test_secrets_are_made_of_certificates_and_the_grant_key(self):
        import yaml
        deploy = manifests.ROOT / "deploy"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([deploy / "certs.sh", folder, "store/store", "worker/extractor"], check=True, capture_output=True)

            def made(*names):
                done = subprocess.run([deploy / "kubernetes/secrets.sh", folder, *names], check=True, capture_output=True, text=True)
                return {s["metadata"]["name"]: {key: base64.b64decode(value) for key, value in s["data"].items()}
                        for s in yaml.safe_load_all(done.stdout) if s}

            def content(name):
                return (pathlib.Path(folder) / name).read_bytes()

            grant = {"grant-key": {"grant.key": content("grant.key")}}
            tls = {f"{name}-tls": {"ca.crt": content("ca.crt"), "tls.crt": content(f"{name}.crt"),
                                   "tls.key": content(f"{name}.key")} for name in ("store", "extractor")}
            self.assertEqual(made(), {**tls, **grant})
            self.assertEqual(made("grant"), grant)
            self.assertEqual(made("store"), {"store-tls": tls["store-tls"]})

    def test_the_drain_is_as_long_as_pods_expect(self):
        for things in self.overlays():
            drains = [c["data"]["KERNELMILL_DRAIN_SECONDS"] for c in of_kind(things, "ConfigMap")
                      if "KERNELMILL_DRAIN_SECONDS" in c["data"]]
            self.assertEqual(drains, [str(DRAIN)])

    def test_each_has_a_service_a_budget_and_an_account_of_its_own(self):
        accounts = []
        for things, thing, template in self.workloads():
            labels, pod = template["metadata"]["labels"], template["spec"]
            account, = [a for a in of_kind(things, "ServiceAccount") if a["metadata"]["name"] == pod["serviceAccountName"]]
            self.assertIs(account["automountServiceAccountToken"], False)
            accounts.append((id(things), account["metadata"]["name"]))
            if thing["kind"] == "CronJob":
                continue
            self.assertTrue(selects(thing["spec"]["selector"], labels))
            self.assertEqual(len([b for b in of_kind(things, "PodDisruptionBudget")
                                  if selects(b["spec"]["selector"], labels)]), 1)
            service, = [s for s in of_kind(things, "Service") if selects({"matchLabels": s["spec"]["selector"]}, labels)]
            ports = {port["name"] for container in pod["containers"] for port in container["ports"]}
            self.assertEqual({port["targetPort"] for port in service["spec"]["ports"]}, ports)
        self.assertEqual(len(accounts), len(set(accounts)))

    def test_workers_spread_and_give_way(self):
        for _, thing, template in self.workloads():
            if template["metadata"]["labels"].get("kernelmill/role") != "worker":
                self.assertNotEqual(template["spec"].get("priorityClassName"), "kernelmill-work")
                continue
            self.assertEqual(template["spec"]["priorityClassName"], "kernelmill-work")
            spread = template["spec"]["topologySpreadConstraints"]
            self.assertEqual([s["topologyKey"] for s in spread], ["kubernetes.io/hostname", "topology.kubernetes.io/zone"])
            for constraint in spread:
                self.assertTrue(selects(constraint["labelSelector"], template["metadata"]["labels"]))
                self.assertTrue(constraint["labelSelector"]["matchLabels"])

    def test_settings_are_those_of_the_programs(self):
        known = set(sources(r'(?:envname|Variable)\("(KERNELMILL_\w+)"\)', "common", "services"))
        for things in self.overlays():
            for settings in of_kind(things, "ConfigMap"):
                self.assertLessEqual(set(settings["data"]), known)

    def test_a_changed_setting_rolls_the_pods_that_read_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder).resolve()
            one_node = os.path.relpath(manifests.MANIFESTS / "overlays/one-node", path)
            (path / "kustomization.yaml").write_text(
                f"resources: [{one_node}]\nnamespace: kernelmill\n"
                "configMapGenerator: [{name: extractor-settings, behavior: merge, literals: [KERNELMILL_SLOTS=7]}]\n")
            changed = manifests.render(path)
        before = manifests.render(manifests.MANIFESTS / "overlays/one-node")
        templates = [{name(t): pod_template(t) for t in things if pod_template(t)} for things in (before, changed)]
        self.assertEqual({key for key in templates[0] if templates[0][key] != templates[1][key]}, {"Deployment/extractor"})

    def test_whatever_is_mounted_is_there_or_may_be_missing(self):
        for things, _, template in self.workloads():
            config_maps = {c["metadata"]["name"] for c in of_kind(things, "ConfigMap")}
            certificates = {c["spec"]["secretName"] for c in of_kind(things, "Certificate")} | {"grant-key"}  # secrets.sh makes it
            tls = any("KERNELMILL_TLS_CA" in settings["data"] for settings in of_kind(things, "ConfigMap"))
            for container in template["spec"]["containers"]:
                for source in container.get("envFrom", []):
                    if "configMapRef" in source:
                        self.assertIn(source["configMapRef"]["name"], config_maps)
            for volume in template["spec"].get("volumes", []):
                if "secret" in volume and tls:
                    self.assertIn(volume["secret"]["secretName"], certificates)

    def test_certificates_say_role_name_and_service(self):
        for things in self.overlays():
            services = {s["metadata"]["name"] for s in of_kind(things, "Service")}
            leaves = {c["metadata"]["name"]: c["spec"] for c in of_kind(things, "Certificate") if not c["spec"].get("isCA")}
            for certificate, spec in leaves.items():
                uri, = spec["uris"]
                self.assertRegex(uri, r"^spiffe://[\w.-]+/(store|coordinator|worker|operator|client|metrics)/[\w-]+$")
                self.assertEqual(uri.rsplit("/", 1)[1], certificate)
                self.assertIn(certificate, spec["dnsNames"])
            if leaves:
                self.assertLessEqual(services - {"tracer"}, set(leaves))

    def test_autoscalers_follow_the_stages_that_their_workers_run(self):
        table = (manifests.ROOT / "common/worker/stage_table.cc").read_text(encoding="utf-8")
        stages = set(re.findall(r'"([\w-]+)", \d+\)', table))
        by_hpa = {h["metadata"]["name"]: ([(name, rules["stage"]) for name, rules, _ in self.metrics_of(h)], h["spec"]["maxReplicas"])
                  for h in of_kind(manifests.render(manifests.MANIFESTS / "overlays/team"), "HorizontalPodAutoscaler")}
        by_keda = {}
        for scaled in of_kind(manifests.render(manifests.MANIFESTS / "overlays/large"), "ScaledObject"):
            by_keda[scaled["metadata"]["name"]] = ([(name, rules["stage"]) for name, rules, _ in self.triggers_of(scaled)],
                                                   scaled["spec"]["maxReplicaCount"])
        self.assertEqual(by_hpa, by_keda)
        self.assertEqual(set(by_hpa), WORKERS)
        for metrics, _ in by_hpa.values():
            self.assertEqual([name for name, _ in metrics], [TASKS, OLDEST])
            self.assertEqual(metrics[0][1], metrics[1][1])
        followed = [stage for metrics, _ in by_hpa.values() for stage in metrics[0][1]]
        self.assertEqual(sorted(followed), sorted(set(followed)))
        self.assertEqual(set(followed), {stage for stage in stages if not stage.startswith("run-cuda-")}, "GPUs are brought by their owners")

    def test_autoscalers_ask_for_a_metric_that_the_coordinator_has(self):
        known = set(sources(r'ShowTasks\(stage, "(\w+)"', "services/coordinator/server"))
        self.assertTrue(known)
        families = (manifests.ROOT / "common/metrics/families.h").read_text(encoding="utf-8")
        for things in self.overlays():
            followed = [self.metrics_of(h) for h in of_kind(things, "HorizontalPodAutoscaler")]
            followed += [self.triggers_of(s) for s in of_kind(things, "ScaledObject")]
            for metrics in followed:
                for name, rules, kind in metrics:
                    self.assertIn(f'"{name}"', families)
                    self.assertLessEqual(rules.get("state", set()), known)
                    # Tasks are shared out among the workers; an age is the queue's.
                    self.assertEqual(kind, {TASKS: "AverageValue", OLDEST: "Value"}[name])
                self.assertEqual(metrics[0][1]["state"], {"ready", "leased"})

    def test_the_adapter_has_a_rule_for_each_metric_that_autoscalers_follow(self):
        import yaml
        rules = yaml.safe_load((manifests.MANIFESTS / "components/autoscaling/prometheus-adapter.yaml").read_text())["externalRules"]
        self.assertEqual([rule["seriesQuery"].partition("{")[0] for rule in rules], [TASKS, OLDEST])

    def metrics_of(self, autoscaler):
        """[(metric, {label: values}, type)] that an autoscaler follows."""
        external = [metric["external"] for metric in autoscaler["spec"]["metrics"]]
        return [(one["metric"]["name"], {rule["key"]: set(rule["values"]) for rule in one["metric"]["selector"]["matchExpressions"]},
                 one["target"]["type"]) for one in external]

    def triggers_of(self, scaled):
        """The same of KEDA's."""
        return [(re.search(r"\((\w+)\{", trigger["metadata"]["query"])[1],
                 {label: set(values.split("|")) for label, values in re.findall(r'(\w+)=~"([\w|-]+)"', trigger["metadata"]["query"])},
                 trigger.get("metricType", "AverageValue")) for trigger in scaled["spec"]["triggers"]]

    def test_rules_are_those_of_prometheus(self):
        done = subprocess.run([sys.executable, manifests.MANIFESTS / "make_rules.py", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        rules, = of_kind(manifests.render(manifests.MANIFESTS / "overlays/team"), "PrometheusRule")
        self.assertIn("CoordinatorDown", [rule.get("alert") for group in rules["spec"]["groups"] for rule in group["rules"]])

    def test_every_dashboard_is_a_config_map_that_grafana_finds(self):
        folder = manifests.ROOT / "deploy/grafana/dashboards"
        things = manifests.render(folder)
        self.assertEqual({key: value for thing in things for key, value in thing["data"].items()},
                         {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")})
        for thing in things:
            self.assertEqual(thing["metadata"]["labels"]["grafana_dashboard"], "1")
            self.assertLess(len(str(thing["data"])), 250_000)  # `kubectl apply` writes into an annotation once more

    def test_a_worker_kind_with_another_image_has_all_that_the_others_have(self):
        things = manifests.render(pathlib.Path(__file__).parent / "manifests/other-worker")
        mine, theirs = ({thing["kind"] for thing in things if thing["metadata"].get("labels", {}).get(
            "app.kubernetes.io/component") == kind} for kind in ("tracer", "validator"))
        self.assertEqual(mine, theirs)
        deployment, = [d for d in of_kind(things, "Deployment") if d["metadata"]["name"] == "tracer"]
        container, = deployment["spec"]["template"]["spec"]["containers"]
        self.assertEqual(container["image"], "kernelmill-tracer:cuda12")
        self.assertEqual(container["args"], ["tracer"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
