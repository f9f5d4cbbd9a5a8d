#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every alert fires when it should and not otherwise: alert_cases.yaml through promtool; and a planted fault is found."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT_DIR = os.path.dirname(os.path.dirname(HERE))
MONITORING_DIR = os.path.join(PROJECT_DIR, "deploy", "monitoring")
sys.path.insert(0, MONITORING_DIR)

import generate  # noqa: E402  pylint: disable=wrong-import-position

REPLICAS = {"$a": 'job="arclane",instance="a"', "$b": 'job="arclane",instance="b"'}


def series_of(text):
    """One line of a case as promtool's input series."""
    for name, labels in REPLICAS.items():
        text = text.replace(name, labels)
    series, values = re.fullmatch(r"(\S+\{.*\}) (.*)", text).groups()
    return {"series": series, "values": values}


def promtool_tests(cases, alerts, runbook):
    """promtool's tests of the cases."""
    tests = []
    for case in cases:
        alert = alerts[case["alert"]]
        for kind in ("fires", "quiet"):
            for one in case[kind]:
                expected = [{"exp_labels": {"severity": alert["severity"], **labels},
                             "exp_annotations": {"summary": alert["summary"],
                                                 "runbook_url": f"{runbook}#{generate.anchor(alert['alert'])}"}}
                            for labels in one.get("labels", [])]
                assert bool(expected) == (kind == "fires"), one["name"]
                tests.append({"name": f"{case['alert']} {kind}: {one['name']}", "interval": one.get("every", "1m"),
                              "input_series": [series_of(text) for text in one["series"]],
                              "alert_rule_test": [{"eval_time": one["at"], "alertname": case["alert"], "exp_alerts": expected}]})
    return tests


def rules_of(source, alert):
    """A rule file of one alert and of what it is computed from."""
    rules = yaml.safe_load(generate.rules(source))
    recording, alerting = rules["groups"]
    alerting["rules"] = [rule for rule in alerting["rules"] if rule["alert"] == alert]
    recording["rules"] = [rule for rule in recording["rules"]
                          if re.search(re.escape(rule["record"]) + r"\b", alerting["rules"][0]["expr"])]
    if not recording["rules"]:
        del rules["groups"][0]
    return yaml.safe_dump(rules)


def planted_rules(source, expression):
    """A rule file in which every alert has the same expression."""
    alerting = yaml.safe_load(generate.rules(source))["groups"][1]
    for rule in alerting["rules"]:
        rule["expr"] = expression
    return yaml.safe_dump({"groups": [alerting]})


def by_interval(tests):
    """promtool's tests in lists of one interval."""
    return [[test for test in tests if test["interval"] == interval] for interval in sorted({test["interval"] for test in tests})]


def run_promtool(rules, tests):
    """(exit code, output) of promtool over the text of a rule file; the tests have one interval."""
    with tempfile.TemporaryDirectory(prefix="arclane-rules-") as folder:
        with open(os.path.join(folder, "rules.yaml"), "w", encoding="utf-8") as file:
            file.write(rules)
        with open(os.path.join(folder, "tests.yaml"), "w", encoding="utf-8") as file:
            yaml.safe_dump({"rule_files": ["rules.yaml"], "group_eval_order": ["arclane-recording", "arclane-alerts"],
                            "evaluation_interval": tests[0]["interval"], "tests": tests}, file, sort_keys=False)
        result = subprocess.run(["promtool", "test", "rules", "tests.yaml"], cwd=folder, capture_output=True, text=True,
                                timeout=120, check=False)
        return result.returncode, result.stdout + result.stderr


@unittest.skipUnless(shutil.which("promtool"), "promtool is absent: deploy/install-dependencies.sh monitoring")
class AlertRulesTest(unittest.TestCase):
    """The cases, and the checker itself."""

    @classmethod
    def setUpClass(cls):
        cls.source = generate.Source()
        cls.alerts = {alert["alert"]: alert for alert in cls.source.alerts}
        with open(os.path.join(HERE, "alert_cases.yaml"), encoding="utf-8") as file:
            cls.cases = yaml.safe_load(file)

    def test_every_alert_has_cases_for_firing_and_for_not_firing(self):
        """None is forgotten."""
        self.assertEqual(list(self.alerts), [case["alert"] for case in self.cases])
        for case in self.cases:
            self.assertTrue(case["fires"] and case["quiet"], case["alert"])

    def test_alerts_fire_as_the_cases_say(self):
        """Every case."""
        for case in self.cases:
            for tests in by_interval(promtool_tests([case], self.alerts, self.source.runbook)):
                with self.subTest(alert=case["alert"]):
                    code, output = run_promtool(rules_of(self.source, case["alert"]), tests)
                    self.assertEqual(code, 0, output)

    def test_the_cases_find_planted_faults(self):
        """Alerts that never fire fail each case of firing; alerts that always do, each case of not firing."""
        for expression, kind, other in (("vector(0) > 1", "fires", "quiet"), ("vector(1) > 0", "quiet", "fires")):
            cases = [{"alert": case["alert"], kind: case[kind], other: []} for case in self.cases]
            tests = promtool_tests(cases, self.alerts, self.source.runbook)
            output = "".join(run_promtool(planted_rules(self.source, expression), part)[1] for part in by_interval(tests))
            for test in tests:
                self.assertIn(f"name: {test['name']},", output)


if __name__ == "__main__":
    unittest.main()
