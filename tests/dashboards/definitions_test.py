"""Tests that dashboards, rules and runbooks agree: generated files are in step, every metric that is named exists, every alert
has its runbook and its tests."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import definitions
from definitions import ROOT, SDK


class Definitions(unittest.TestCase):
    @unittest.skipUnless(SDK.exists(), "tests/dashboards/install_sdk.sh did not run")
    def test_dashboards_are_what_their_pages_say(self):
        done = subprocess.run([sys.executable, ROOT / "deploy/grafana/generate.py", "--check"], capture_output=True, text=True,
                              env={"PYTHONPATH": str(SDK), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_panels_have_units_descriptions_and_ids_of_their_own(self):
        for dashboard in definitions.dashboards():
            ids = [panel["id"] for panel in dashboard["panels"]]
            self.assertEqual(len(ids), len(set(ids)), dashboard["title"])
            for panel in definitions.panels(dashboard):
                where = f"{dashboard['title']}: {panel['title']}"
                self.assertTrue(panel["description"], where)
                self.assertTrue(panel["fieldConfig"]["defaults"]["unit"], where)
                self.assertEqual(panel["datasource"]["uid"], "${datasource}", where)

    def test_every_metric_that_is_named_exists(self):
        known = definitions.table() | {rule["record"] for rule in definitions.rules("record")}
        expressions = [(rule.get("record") or rule["alert"], rule["expr"])
                       for kind in ("record", "alert") for rule in definitions.rules(kind)]
        expressions += [(f"{dashboard['title']}: {panel['title']}", target["expr"])
                        for dashboard in definitions.dashboards() for panel in definitions.panels(dashboard)
                        for target in panel["targets"]]
        for where, expression in expressions:
            self.assertLessEqual(definitions.metrics_of(expression), known, where)

    def test_every_alert_has_its_runbook_and_both_its_tests(self):
        tests = (pathlib.Path(__file__).parent / "alerts_test.yml").read_text()
        for alert in definitions.rules("alert"):
            page, _, anchor = alert["annotations"]["runbook"].partition("#")
            headings = {heading.lower() for heading in re.findall(r"^## (\w+)$", (ROOT / page).read_text(), re.M)}
            self.assertIn(anchor, headings, page)
            for what in ("fires", "stays quiet"):
                self.assertIn(f"name: {alert['alert']} {what}\n", tests)

    def test_no_runbook_is_of_an_alert_that_is_gone(self):
        alerts = {alert["alert"] for alert in definitions.rules("alert")}
        for page in (ROOT / "docs/runbooks").glob("*.md"):
            self.assertLessEqual(set(re.findall(r"^## (\w+)$", page.read_text(), re.M)), alerts, page.name)

    @unittest.skipUnless(shutil.which("promtool"), "no promtool (Debian's package prometheus)")
    def test_promtool_finds_rules_and_their_tests_right(self):
        files = sorted(map(str, definitions.RULES.glob("*.yml")))
        for command in (["check", "rules", *files], ["test", "rules", str(ROOT / "tests/dashboards/alerts_test.yml")]):
            done = subprocess.run(["promtool", *command], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
