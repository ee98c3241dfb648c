"""A real Prometheus (Debian's package) over a cluster of the tests, with the rules that are shipped."""

import json
import pathlib
import re
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import definitions

import cluster as clusters
import harness

ROLES = ("coordinator", "store", *clusters.WORKERS)


class Prometheus:
    """A server that scrapes the cluster's processes, with our rules. `patience` replaces each `for:` of the rules, the time for
    which an expression must hold before its alert fires; None keeps the rules' own times. The expressions do not change."""

    def __init__(self, folder, nodes, patience=None):
        self.folder, self.port = pathlib.Path(folder), harness.free_port()
        self.folder.mkdir()
        shutil.copytree(definitions.RULES, self.folder / "rules")
        if patience is not None:
            for path in (self.folder / "rules").glob("*.yml"):
                text, count = re.subn(r"^( +for:) .*$", rf"\1 {patience}", path.read_text(), flags=re.M)
                path.write_text(text)
                print(f"{path.name}: {count} times `for: {patience}` in the place of what is shipped", flush=True)
        jobs = []
        for role in ROLES:
            targets = [f"127.0.0.1:{node.metrics_port}" for node in nodes if node.role == role]
            jobs.append({"job_name": role, "static_configs": [{"targets": targets}]})
        config = {"global": {"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "2s"},
                  "rule_files": ["rules/*.yml"], "scrape_configs": jobs}
        (self.folder / "prometheus.yml").write_text(json.dumps(config))
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={self.folder / 'prometheus.yml'}", f"--storage.tsdb.path={self.folder / 'data'}",
             f"--web.listen-address=127.0.0.1:{self.port}", "--enable-feature=exemplar-storage"],
            stdout=self.log, stderr=self.log)
        harness.wait_until(lambda: self.get("query", query="vector(1)") is not None, "Prometheus to answer", 60)

    def get(self, what, **parameters):
        """Returns the data of an API call; None while the server does not answer. ValueError: the call is wrong."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{what}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # the server is starting
                return None
            raise ValueError(error.read().decode()) from None
        except OSError:
            return None

    def firing(self):
        return {alert["labels"]["alertname"] for alert in self.get("alerts")["alerts"] if alert["state"] == "firing"}

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
