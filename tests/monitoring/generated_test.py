#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is generated is current; alerts lead to the runbook; expressions name metrics that there are. Each check finds a planted fault."""
import os
import re
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT_DIR = os.path.dirname(os.path.dirname(HERE))
MONITORING_DIR = os.path.join(PROJECT_DIR, "deploy", "monitoring")
sys.path.insert(0, MONITORING_DIR)

import generate  # noqa: E402  pylint: disable=wrong-import-position

from metrics_table import read_table  # noqa: E402  pylint: disable=wrong-import-position

# Series that Prometheus makes itself.
OF_PROMETHEUS = {"up", "scrape_duration_seconds"}
_NAME = re.compile(r"\b((?:arclane|process|exposer)[a-z0-9_:]*)\b(?!\s*=)")


def read(*path):
    """The text of a file of the project."""
    with open(os.path.join(PROJECT_DIR, *path), encoding="utf-8") as file:
        return file.read()


def headings(markdown):
    """The anchors of a document's headings."""
    return [re.sub(r"[^a-z0-9 -]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
            for line in markdown.splitlines() if line.startswith("#")]


def without_entry(alerts, runbook):
    """Alerts without a heading in the runbook, and headings of alerts that there are not."""
    found = set(headings(runbook))
    wanted = {generate.anchor(alert["alert"]) for alert in alerts}
    return sorted(wanted - found) + sorted(name for name in found - wanted if re.fullmatch(r"arclane[a-z]+", name))


def unknown_panels(source, runbook):
    """What the runbook sets in italics from its reading of the dashboards on, and no page or panel is called."""
    titles = {panel["title"] for dashboard in source.dashboards for panel in dashboard["panels"]} | {d["title"] for d in source.dashboards}
    part = runbook[runbook.index("## Read the dashboards"):runbook.index("## Capacity of a core")]
    return sorted(set(re.findall(r"(?<!\*)\*([A-Z][^*\n]*)\*(?!\*)", part)) - titles)


def unknown_names(expressions, known):
    """(where, name) of what expressions name and nothing provides."""
    unknown = []
    for where, text in expressions:
        for name in _NAME.findall(re.sub(r'"[^"]*"', '""', text)):
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            if name not in known and base not in known:
                unknown.append((where, name))
    return unknown


class GeneratedTest(unittest.TestCase):
    """The files, and the checks themselves."""

    @classmethod
    def setUpClass(cls):
        cls.source = generate.Source()
        cls.known = set(read_table()) | OF_PROMETHEUS | {rule["record"] for rule in cls.source.recording}

    def test_generated_files_are_current(self):
        """As `generate.py --check`."""
        self.assertEqual([], generate.stale_files(generate.generated(self.source)), "run deploy/monitoring/generate.py")

    def test_files_that_are_not_current_are_found(self):
        """One changed, one lost, one that nothing generates."""
        files = generate.generated(self.source)
        with tempfile.TemporaryDirectory(prefix="arclane-generated-") as folder:
            shutil.copytree(MONITORING_DIR, folder, dirs_exist_ok=True)
            with open(os.path.join(folder, "grafana/dashboards/latency.json"), "a", encoding="utf-8") as file:
                file.write(" ")
            os.remove(os.path.join(folder, "prometheus/rules/arclane.rules.yaml"))
            with open(os.path.join(folder, "grafana/dashboards/old.json"), "w", encoding="utf-8") as file:
                file.write("{}")
            self.assertEqual({"grafana/dashboards/latency.json", "prometheus/rules/arclane.rules.yaml",
                              "grafana/dashboards/old.json (nothing generates it)"}, set(generate.stale_files(files, folder)))

    def test_every_alert_has_an_entry_in_the_runbook(self):
        """And every entry its alert."""
        self.assertEqual([], without_entry(self.source.alerts, read("deploy", "RUNBOOK.md")))

    def test_a_missing_entry_is_found(self):
        """An alert without one, and one without an alert."""
        runbook = read("deploy", "RUNBOOK.md").replace("# ArclaneDown\n", "# ArclaneUp\n")
        self.assertEqual(["arclanedown", "arclaneup"], without_entry(self.source.alerts, runbook))

    def test_every_dashboard_is_explained_in_the_runbook(self):
        """How to read it."""
        found = headings(read("deploy", "RUNBOOK.md"))
        for dashboard in self.source.dashboards:
            self.assertIn(dashboard["title"].lower().replace(" ", "-"), found)

    def test_the_runbook_names_panels_by_their_titles(self):
        """All that it sends its reader to."""
        self.assertEqual([], unknown_panels(self.source, read("deploy", "RUNBOOK.md")))

    def test_a_panel_that_there_is_not_is_found(self):
        """Renamed."""
        runbook = read("deploy", "RUNBOOK.md").replace("*Plans refused or dropped* by reason", "*Plans refused* by reason")
        self.assertEqual(["Plans refused"], unknown_panels(self.source, runbook))

    def test_expressions_name_metrics_that_there_are(self):
        """By the table of metrics."""
        self.assertEqual([], unknown_names(self.source.expressions(), self.known))
        for alert in self.source.alerts:
            self.assertEqual([], unknown_names([(alert["alert"], generate.condition(alert))], self.known))

    def test_an_unknown_name_is_found(self):
        """Misspelt."""
        self.assertEqual([("here", "arclane_cals_total")],
                         unknown_names([("here", 'sum by (job) (rate(arclane_cals_total{code="arclane_x"}[5m]))')], self.known))

    def test_latency_is_judged_at_a_bound_of_the_histogram(self):
        """Otherwise the ratio would be that of another time."""
        bounds = re.search(r"kCallDurationBounds_s\[\] = \{([^}]*)\}", read("server", "telemetry", "histogram_bounds.h")).group(1)
        self.assertIn(float(self.source.constants["{latency_bound}"]), [float(bound) for bound in bounds.split(",")])


if __name__ == "__main__":
    unittest.main()
