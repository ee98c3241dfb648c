"""Compares the /metrics of every process with the table of docs/reference/metrics.md."""

import pathlib
import re
import tempfile
import unittest
import urllib.request

import harness

GROUPS = {"Every process": ("store", "coordinator", *harness.Cluster.WORKERS), "Coordinator": ["coordinator"], "Store": ["store"],
          "Workers": harness.Cluster.WORKERS, **{role.capitalize(): [role] for role in harness.Cluster.WORKERS},
          "Compiler": [], "Runner": []}  # neither runs here: they need toolchains and Triton
ROW = re.compile(r"^\| `(\w+)` \| (\w+) \| (.*?) \| .*?( \*)? \|$")


def table():
    """[(programs, metric, type, labels, whether it is there from the start)]"""
    rows, group = [], None
    for line in (harness.ROOT / "docs/reference/metrics.md").read_text().splitlines():
        if line.startswith("## "):
            group = GROUPS[line[3:]]
        elif row := ROW.match(line):
            name, kind, labels, later = row.groups()
            rows.append((group, name, kind, set(re.findall(r"\w+", labels)), not later))
    return rows


def series(text):
    """{family: [labels]} of Prometheus's text format."""
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
    found = {name: [] for name in types}
    for name, labels in re.findall(r"^(\w+)(\{.*\})? [^ ]+$", text, re.M):
        family = name if name in types else re.sub(r"_(bucket|sum|count)$", "", name)
        found[family].append(set(re.findall(r'(\w+)="', labels)) - {"le"})
    return types, found


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.cluster = harness.Cluster(pathlib.Path(temporary.name) / "cluster", hold=True)
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.processes = {"store": cls.cluster.store, "coordinator": cls.cluster.coordinator}
        for role in harness.Cluster.WORKERS:
            cls.processes[role] = cls.cluster.start_worker(role)

    def test_series_that_are_promised_from_the_start_are_there(self):
        for role, process in self.processes.items():
            promised = {name for programs, name, _, _, at_once in table() if at_once and role in programs}
            harness.wait_until(lambda: not promised - set(series(process.metrics())[1]),
                               f"{role} to have {promised - set(series(process.metrics())[1])}", seconds=10)

    def test_every_series_is_in_the_table_with_its_type_and_labels(self):
        for role, process in self.processes.items():
            declared = {name: (kind, labels) for programs, name, kind, labels, _ in table() if role in programs}
            types, found = series(process.metrics())
            for family, rows in found.items():
                self.assertIn(family, declared, f"{role}: not in docs/reference/metrics.md")
                self.assertEqual(types[family], declared[family][0], family)
                for labels in rows:
                    self.assertEqual(labels, declared[family][1], f"{role}: {family}")

    def test_open_metrics_are_served_to_who_accepts_them(self):
        for process in self.processes.values():
            request = urllib.request.Request(f"http://127.0.0.1:{process.metrics_port}/metrics",
                                             headers={"Accept": "application/openmetrics-text; version=1.0.0"})
            with urllib.request.urlopen(request, timeout=5) as reply:
                self.assertIn("application/openmetrics-text", reply.headers["Content-Type"])
                self.assertTrue(reply.read().decode().endswith("# EOF\n"))


if __name__ == "__main__":
    unittest.main()
