"""usage: external_metrics.py PROMETHEUS_URL ADDRESS PORT CERTIFICATE KEY
The external metrics of Kubernetes (external.metrics.k8s.io/v1beta1), answered from a Prometheus: what an adapter of a real
cluster does, for tests. The name is a metric's, the label selector becomes PromQL's, and each series is one value."""

import datetime
import http.server
import json
import re
import ssl
import sys
import urllib.parse
import urllib.request

GROUP = "external.metrics.k8s.io/v1beta1"
VALUES = re.compile(rf"/apis/{GROUP}/namespaces/([\w-]+)/([a-zA-Z_:][\w:]*)")
# `stage in (extract,link),state=ready`, as Kubernetes writes a selector down.
RULE = re.compile(r"\s*([\w./-]+)\s*(?:(=|==|!=)\s*([\w.-]*)|(in|notin)\s*\(([\w.,\s-]*)\))\s*(?:,|$)")


def promql(metric, namespace, selector):
    matchers, at = [f'namespace="{namespace}"'], 0
    while at < len(selector):
        rule = RULE.match(selector, at)
        if not rule:
            raise ValueError(f"a selector that is not understood: {selector[at:]}")
        key, operator, value, word, values = rule.groups()
        if word:
            names = "|".join(re.escape(v.strip()) for v in values.split(","))
            matchers.append(f'{key}{"=~" if word == "in" else "!~"}"{names}"')
        else:
            matchers.append(f'{key}{"!=" if operator == "!=" else "="}"{value}"')
        at = rule.end()
    return f"{metric}{{{','.join(matchers)}}}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, message, *words):
        print(message % words, file=sys.stderr)

    def reply(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == f"/apis/{GROUP}":
            resource = {"name": "kernelmill_coordinator_tasks", "singularName": "", "namespaced": True,
                        "kind": "ExternalMetricValueList", "verbs": ["get"]}
            return self.reply(200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": GROUP, "resources": [resource]})
        asked = VALUES.fullmatch(url.path)
        if not asked:
            return self.reply(404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404})
        selector = urllib.parse.parse_qs(url.query).get("labelSelector", [""])[0]
        try:
            query = urllib.parse.urlencode({"query": promql(asked[2], asked[1], selector)})
            with urllib.request.urlopen(f"{self.server.prometheus}/api/v1/query?{query}", timeout=10) as answer:
                series = json.load(answer)["data"]["result"]
        except (OSError, ValueError) as error:
            return self.reply(500, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": str(error), "code": 500})
        self.reply(200, {"kind": "ExternalMetricValueList", "apiVersion": GROUP, "metadata": {}, "items": [
            {"metricName": asked[2], "metricLabels": one["metric"], "value": str(int(float(one["value"][1]))),
             "timestamp": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")} for one in series]})


def main():
    prometheus, address, port, certificate, key = sys.argv[1:]
    server = http.server.ThreadingHTTPServer((address, int(port)), Handler)
    server.prometheus = prometheus
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
