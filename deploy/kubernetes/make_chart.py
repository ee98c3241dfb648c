#!/usr/bin/env python3
"""Makes the Helm chart in deploy/kubernetes/chart from the kustomize manifests, so that each fact has one place.

usage: make_chart.py [--check]      --check: only says whether the chart is that of the manifests, by its exit code

Each object that base, store and components render becomes a template. The choices of a cluster (image, settings, resources,
replicas, storage, TLS, autoscalers, monitoring) are read from the values, whose defaults are the manifests'. Needs PyYAML, and
kubectl or kustomize (tests/kubernetes/install_tools.sh)."""

import os
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import kustomize  # noqa: E402 (finds PyYAML in build/peers/kubernetes)

import yaml  # noqa: E402

CHART = HERE / "chart"
HASH = re.compile(r"^([a-z-]+-)?settings-[a-z0-9]{10}$")
HEAD = "# Made by deploy/kubernetes/make_chart.py of the kustomize manifests: change those.\n"
TRUSTED = ["tls", "grants"]  # the components that the value tls.enabled adds
# Settings that are no values: they follow from tls.enabled.
OWN = ("KERNELMILL_TLS", "KERNELMILL_INSECURE", "KERNELMILL_GRANT_KEY")
# The components that are wholly there or not, with the value that says so.
OPTIONS = {"cert-manager": "and .Values.tls.enabled .Values.tls.certManager", "autoscaling": ".Values.autoscaling.enabled",
           "service-monitors": ".Values.serviceMonitors.enabled"}


def render(*components):
    """base and store with components, as lists of objects."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder).resolve()
        def at(name):
            return os.path.relpath(HERE / name, path)
        text = yaml.safe_dump({"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "namespace": "kernelmill",
                               "resources": [at("base"), at("store")], "components": [at(f"components/{c}") for c in components]})
        (path / "kustomization.yaml").write_text(text)
        return kustomize.render(path)


def plain_name(name):
    return name.rsplit("-", 1)[0] if HASH.match(name) else name


def settings_of(name):
    """`extractor` of extractor-settings-HASH; `all` of settings-HASH."""
    return plain_name(name).removesuffix("settings").rstrip("-") or "all"


class Values:
    """The chart's values, gathered from the objects that read them."""

    def __init__(self):
        self.settings, self.resources, self.replicas, self.storage = {}, {}, {}, {}

    def as_text(self, version):
        def block(title, comment, content):
            return f"# {comment}\n" + yaml.safe_dump({title: content}, sort_keys=False, default_flow_style=False)
        return HEAD + "\n".join([
            block("image", "The image of every program; deploy/docker/Dockerfile makes it, and REPOSITORY-compiler and REPOSITORY-runner, those two's.",
                  {"repository": "kernelmill", "tag": version, "pullPolicy": "IfNotPresent", "pullSecrets": []}),
            block("tls", "An identity for each program, from cert-manager or from Secrets that are there (secrets.sh), and the key "
                  "`grant.key` of the Secret `grant-key`, which has to be there. Without it, any client that reaches a port may do everything.", {"enabled": True, "certManager": True}),
            block("autoscaling", "Workers follow their queues; else `replicas` holds. Needs an adapter of external metrics.",
                  {"enabled": False}),
            block("replicas", "Workers of each kind. The compiler and the runner, whose images are large, are for jobs with `compile:` and `run:`.", self.replicas),
            block("serviceMonitors", "For the Prometheus operator.", {"enabled": False}),
            block("storage", "The size of each volume, and their class; none: the cluster's own.",
                  {"className": "", **self.storage}),
            block("settings", "The programs' flags as variables (docs/operations.md). A change rolls the pods that read it.",
                  self.settings),
            block("resources", "By program.", self.resources),
            block("priorityClasses", "They are the whole cluster's: false for a second release.", {"create": True}),
            block("nodeSelector", "Selects the nodes that pods may run on.", {}), block("tolerations", "Taints that pods tolerate.", [])])


def escaped(value):
    """With marks of Prometheus' own templates that Helm leaves as they are."""
    if isinstance(value, dict):
        return {name: escaped(one) for name, one in value.items()}
    if isinstance(value, list):
        return [escaped(one) for one in value]
    return value.replace("{{", "{{ `{{` }}") if isinstance(value, str) else value


def with_values(thing, values):
    """The object with marks where the values go."""
    kind, name = thing["kind"], thing["metadata"]["name"]
    thing["metadata"].pop("namespace", None)
    if kind == "ConfigMap":
        thing["metadata"]["name"] = plain_name(name)
        group = settings_of(name)
        values.settings.setdefault(group, {}).update(
            {key: value for key, value in thing["data"].items() if not key.startswith(OWN)})
        own = {key: value for key, value in thing["data"].items() if key not in values.settings[group]}
        thing["data"] = {f"@@SETTINGS {group}@@": "", **own}
    if kind == "Certificate" and "dnsNames" in thing["spec"]:
        thing["spec"]["dnsNames"] = [re.sub(r"\.kernelmill(?=$|\.svc)", ".{{ .Release.Namespace }}", n)
                                     for n in thing["spec"]["dnsNames"]]
    if kind == "PrometheusRule":
        thing["spec"] = escaped(thing["spec"])
    template = kustomize.pod_template(thing)
    if template:
        component = template["metadata"]["labels"]["app.kubernetes.io/component"]
        container, = template["spec"]["containers"]
        groups = []
        for source in container["envFrom"]:
            groups.append(settings_of(source["configMapRef"]["name"]))
            source["configMapRef"]["name"] = plain_name(source["configMapRef"]["name"])
        template["metadata"]["annotations"] = {"checksum/settings": f"@@CHECKSUM {' '.join(groups)}@@"}
        values.resources[component] = container["resources"]
        container["resources"] = f"@@RESOURCES {component}@@"
        # The images kernelmill-compiler and kernelmill-runner are named after the one of all others.
        container["image"] = container["image"].replace("kernelmill", "{{ .Values.image.repository }}") + ":{{ .Values.image.tag }}"
        container["imagePullPolicy"] = "{{ .Values.image.pullPolicy }}"
        template["spec"]["nodeSelector"] = "@@PLACE@@"
        if kind == "Deployment":
            values.replicas[component] = 0 if component in ("compiler", "runner") else 1
            thing["spec"] = {"@@REPLICAS@@": component, **thing["spec"]}
        for claim in thing["spec"].get("volumeClaimTemplates", []):
            key = claim["metadata"]["name"] if claim["metadata"]["name"] != "data" else component
            values.storage[key] = claim["spec"]["resources"]["requests"]["storage"]
            claim["spec"]["resources"]["requests"]["storage"] = f"{{{{ index .Values.storage \"{key}\" }}}}"
            claim["spec"]["storageClassName"] = "@@CLASS@@"
    return thing


def as_template(thing):
    """The marked object as Helm's template."""
    text = yaml.safe_dump(thing, sort_keys=False, width=1000)

    def block(match, what):
        indent = len(match[1]) + 2
        return f"{match[1]}{what}: {{{{- toYaml (index .Values.{what} \"{match[2]}\") | nindent {indent} }}}}"

    def sums(match):
        maps = " ".join(f"(index .Values.settings \"{group}\")" for group in match[2].split())
        return f"{match[1]}checksum/settings: {{{{ list {maps} .Values.tls.enabled | toJson | sha256sum }}}}"

    def place(match):
        at = match[1]
        return "\n".join([f"{at}{{{{- with .Values.{key} }}}}\n{at}{word}: {{{{- toYaml . | nindent {len(at) + 2} }}}}\n{at}{{{{- end }}}}"
                          for key, word in (("nodeSelector", "nodeSelector"), ("tolerations", "tolerations"),
                                            ("image.pullSecrets", "imagePullSecrets"))])

    lines = (
        (r"^( *)resources: '@@RESOURCES ([\w-]+)@@'$", lambda m: block(m, "resources")),
        (r"^( *)'@@SETTINGS ([\w-]+)@@': ''$",
         lambda m: f"{m[1]}{{{{- toYaml (index .Values.settings \"{m[2]}\") | nindent {len(m[1])} }}}}"),
        (r"^( *)checksum/settings: '@@CHECKSUM ([\w -]+)@@'$", sums),
        (r"^( *)nodeSelector: '@@PLACE@@'$", place),
        (r"^( *)'@@REPLICAS@@': ([\w-]+)$", lambda m: (
            f"{m[1]}{{{{- if not .Values.autoscaling.enabled }}}}\n{m[1]}replicas: {{{{ index .Values.replicas \"{m[2]}\" }}}}\n"
            f"{m[1]}{{{{- end }}}}")),
        (r"^( *)storageClassName: '@@CLASS@@'$", lambda m: (
            f"{m[1]}{{{{- with .Values.storage.className }}}}\n{m[1]}storageClassName: {{{{ . }}}}\n{m[1]}{{{{- end }}}}")),
    )
    for pattern, made in lines:
        text = re.sub(pattern, made, text, flags=re.MULTILINE)
    assert "@@" not in text, text
    return text


def key(thing):
    return thing["kind"], plain_name(thing["metadata"]["name"])


def file_of(thing):
    """A file for each program, and for each kind of what they share."""
    return thing["metadata"]["labels"].get("app.kubernetes.io/component") or {
        "ConfigMap": "settings", "NetworkPolicy": "network-policies", "PriorityClass": "priority-classes"}[thing["kind"]]


def when(condition, texts):
    return [f"{{{{- if {condition} }}}}\n" + "---\n".join(texts) + "{{- end }}\n"]


def chart():
    """{path in the chart: text}."""
    version = re.search(r"^project\(kernelmill VERSION ([\d.]+)", (HERE.parents[1] / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    values, files = Values(), {}
    insecure, tls = ({key(t): t for t in render(*way)} for way in (["insecure"], TRUSTED))
    documents = {}  # {file: texts}
    for which, thing in insecure.items():
        if which[0] == "Namespace":
            continue  # helm install --create-namespace; docs/kubernetes.md has its labels
        one, other = (as_template(with_values(t, values)) for t in (thing, tls[which]))
        documents.setdefault(file_of(thing), []).append(
            one if one == other else f"{{{{- if .Values.tls.enabled }}}}\n{other}{{{{- else }}}}\n{one}{{{{- end }}}}\n")
    # They are the cluster's, not the namespace's: a second release finds them there.
    documents["priority-classes"] = when(".Values.priorityClasses.create", documents["priority-classes"])
    for component, condition in OPTIONS.items():
        more = {key(t): t for t in render(*TRUSTED, component)}
        for which in sorted(more.keys() - tls.keys()):
            documents.setdefault(component, []).append(as_template(with_values(more[which], values)))
        documents[component] = when(condition, documents[component])
    for name, texts in documents.items():
        files[f"templates/{name}.yaml"] = HEAD + "---\n".join(texts)
    files["values.yaml"] = values.as_text(version)
    files["Chart.yaml"] = HEAD + yaml.safe_dump({
        "apiVersion": "v2", "name": "kernelmill", "version": version, "appVersion": version, "kubeVersion": ">= 1.30.0-0",
        "description": "Turns source repositories into a training-ready dataset of GPU kernels"}, sort_keys=False)
    return files


def main():
    files = chart()
    there = {str(path.relative_to(CHART)): path.read_text() for path in CHART.rglob("*.yaml")}
    if sys.argv[1:] == ["--check"]:
        stale = sorted(name for name in files.keys() | there.keys() if files.get(name) != there.get(name))
        if stale:
            print("make_chart.py: not that of the manifests; run deploy/kubernetes/make_chart.py:", *stale, sep="\n  ")
        return 1 if stale else 0
    for name in there.keys() - files.keys():
        (CHART / name).unlink()
    for name, text in files.items():
        (CHART / name).parent.mkdir(parents=True, exist_ok=True)
        (CHART / name).write_text(text)
    print(f"{len(files)} files in {CHART}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
