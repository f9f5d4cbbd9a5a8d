#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the rules, dashboards and consoles of expressions.yaml: generate.py [--check].

  prometheus/rules/arclane.rules.yaml       recording and alerting rules
  prometheus/consoles/arclane-*.html        console templates; they share prometheus/console_libraries/arclane.lib
  grafana/dashboards/*.json                 dashboards
Without arguments the files are written; with --check nothing is, and the exit code is 1 when one is not current.
"""
import json
import os
import re
import sys

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = "# SPDX-License-Identifier: Apache-2.0\n# Made by deploy/monitoring/generate.py of expressions.yaml. Not to be edited.\n"
GRAFANA_SELECTOR = 'job=~"$job", instance=~"$instance"'
GRAFANA_JOB = 'job=~"$job"'


class Source:
    """expressions.yaml with its constants filled in."""

    def __init__(self, path=os.path.join(HERE, "expressions.yaml")):
        with open(path, encoding="utf-8") as file:
            content = yaml.safe_load(file)
        objectives = content["objectives"]
        self.constants = {
            "{availability_budget}": _number(1 - objectives["availability"]),
            "{latency_budget}": _number(1 - objectives["latency"]),
            "{availability_percent}": _number(100 * objectives["availability"]) + " %",
            "{latency_percent}": _number(100 * objectives["latency"]) + " %",
            "{latency_bound}": _number(objectives["latency_bound_s"]),
            "{job_pattern}": content["job_pattern"],
        }
        self.runbook = content["runbook"]
        self.recording = list(self._recording(content["recording"]))
        self.alerts = self._filled(content["alerts"])
        self.dashboards = self._filled(content["dashboards"])

    def _recording(self, rules):
        for rule in rules:
            for window in rule.get("windows", [""]):
                yield {"record": rule["record"].replace("{window}", window),
                       "expr": self._filled(rule["expr"].replace("{window}", window)).strip()}

    def _filled(self, value):
        if isinstance(value, dict):
            return {key: self._filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        if isinstance(value, str):
            for name, text in self.constants.items():
                value = value.replace(name, text)
        return value

    def expressions(self):
        """(where, expression) of everything that must return data; $s, $j and $w still stand in those of panels."""
        for rule in self.recording:
            yield f"recording {rule['record']}", rule["expr"]
        for alert in self.alerts:
            for alternative in alert["when"]:
                for condition in alternative:
                    yield f"alert {alert['alert']}", condition["left"]
        for dashboard in self.dashboards:
            for panel in dashboard["panels"]:
                for query in panel["queries"]:
                    yield f"dashboard {dashboard['id']}, {panel['title']}", query["expr"]


def _number(value):
    return f"{value:.10g}"


def anchor(alert):
    """The anchor of an alert's heading in the runbook, as Markdown renderers make it."""
    return alert.lower()


def condition(alert):
    """The alert's expression."""
    alternatives = []
    for alternative in alert["when"]:
        terms = [f"({c['left']}) {c['op']} ({c['right']})" if _is_expression(c["right"]) else f"({c['left']}) {c['op']} {c['right']}"
                 for c in alternative]
        alternatives.append("\nand\n".join(terms))
    if len(alternatives) == 1:
        return alternatives[0]
    return "\nor\n".join(f"(\n{text}\n)" for text in alternatives)


def _is_expression(text):
    return re.fullmatch(r"[0-9.e]+", text) is None


# ---------------------------------------------------------------- Rules
class _Literal(str):
    """Text that YAML shows as a block."""


yaml.SafeDumper.add_representer(
    _Literal, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None))


def rules(source):
    """The rule file."""
    recording = [{"record": rule["record"], "expr": _Literal(rule["expr"])} for rule in source.recording]
    alerting = []
    for alert in source.alerts:
        rule = {"alert": alert["alert"], "expr": _Literal(condition(alert))}
        if "for" in alert:
            rule["for"] = alert["for"]
        rule["labels"] = {"severity": alert["severity"]}
        rule["annotations"] = {"summary": alert["summary"], "runbook_url": f"{source.runbook}#{anchor(alert['alert'])}"}
        alerting.append(rule)
    groups = {"groups": [{"name": "arclane-recording", "interval": "15s", "rules": recording},
                         {"name": "arclane-alerts", "interval": "15s", "rules": alerting}]}
    return HEADER + yaml.safe_dump(groups, sort_keys=False, width=1000, allow_unicode=True)


# ---------------------------------------------------------------- Grafana
GRAFANA_UNITS = {"x": "none"}
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}


def _layout(panels):
    """Panels with their places: from left to right, 24 columns."""
    x = y = row_height = 0
    for panel in panels:
        width, height = panel.get("width", 12), panel.get("height", 8)
        if x + width > 24:
            x, y, row_height = 0, y + row_height, 0
        yield panel, {"x": x, "y": y, "w": width, "h": height}
        x, row_height = x + width, max(row_height, height)


def _grafana_expression(text):
    return text.replace("$s", GRAFANA_SELECTOR).replace("$j", GRAFANA_JOB).replace("$w", "$__rate_interval")


def _grafana_panel(index, panel, place):
    heat = panel["type"] == "heatmap"
    targets = [{"refId": chr(ord("A") + i), "datasource": DATASOURCE, "expr": _grafana_expression(query["expr"]),
                "legendFormat": query["legend"], "format": "heatmap" if heat else "time_series"}
               for i, query in enumerate(panel["queries"])]
    unit = GRAFANA_UNITS.get(panel["unit"], panel["unit"])
    made = {"id": index + 1, "type": panel["type"], "title": panel["title"], "description": panel["description"],
            "datasource": DATASOURCE, "gridPos": place, "targets": targets}
    if heat:
        made["options"] = {"calculate": False, "cellGap": 1, "yAxis": {"unit": unit},
                           "color": {"mode": "scheme", "scheme": "Oranges", "scale": "exponential", "exponent": 0.5, "steps": 64},
                           "tooltip": {"mode": "single"}, "legend": {"show": True}}
        made["fieldConfig"] = {"defaults": {}, "overrides": []}
    elif panel["type"] == "stat":
        made["options"] = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "colorMode": "none",
                           "graphMode": "area", "textMode": "auto"}
        made["fieldConfig"] = {"defaults": {"unit": unit, "decimals": 2}, "overrides": []}
    else:
        custom = {"lineWidth": 1, "fillOpacity": 20 if panel.get("stack") else 0, "showPoints": "never",
                  "stacking": {"mode": "normal" if panel.get("stack") else "none", "group": "A"},
                  "scaleDistribution": {"type": "log", "log": 10} if panel.get("log") else {"type": "linear"}}
        defaults = {"unit": unit, "custom": custom}
        if not panel.get("log"):
            defaults["min"] = 0
        made["fieldConfig"] = {"defaults": defaults, "overrides": []}
        made["options"] = {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
                           "tooltip": {"mode": "multi", "sort": "desc"}}
    return made


def _grafana_variable(name, label, query):
    return {"type": "query", "name": name, "label": label, "datasource": DATASOURCE, "refresh": 2, "sort": 1,
            "query": {"query": query, "refId": name}, "multi": True, "includeAll": True, "allValue": ".*",
            "current": {"selected": True, "text": "All", "value": "$__all"}}


def grafana(source, dashboard):
    """A dashboard."""
    others = [{"type": "link", "title": other["title"], "url": f"/d/arclane-{other['id']}", "keepTime": True, "includeVars": True,
               "asDropdown": False, "icon": "dashboard", "tags": [], "targetBlank": False, "tooltip": other["description"]}
              for other in source.dashboards if other is not dashboard]
    return {
        "uid": f"arclane-{dashboard['id']}", "title": f"Arclane: {dashboard['title']}", "description": dashboard["description"],
        "tags": ["arclane"], "schemaVersion": 39, "version": 1, "editable": True, "graphTooltip": 1, "refresh": "15s",
        "time": {"from": "now-1h", "to": "now"}, "timezone": "browser", "links": others,
        "templating": {"list": [
            {"type": "datasource", "name": "datasource", "label": "Prometheus", "query": "prometheus",
             "current": {"selected": False, "text": "Prometheus", "value": "prometheus"}},
            _grafana_variable("job", "Job", "label_values(arclane_serving, job)"),
            _grafana_variable("instance", "Instance", 'label_values(arclane_serving{job=~"$job"}, instance)')]},
        "annotations": {"list": []},
        "panels": [_grafana_panel(i, panel, place) for i, (panel, place) in enumerate(_layout(dashboard["panels"]))],
    }


# ---------------------------------------------------------------- Consoles
def console(source, dashboard):
    """A console template. {{label}} of legends is written [[label]]: braces belong to the template."""
    panels = json.loads(json.dumps(dashboard["panels"]).replace("{{", "[[").replace("}}", "]]"))
    content = json.dumps({"id": dashboard["id"], "title": dashboard["title"], "description": dashboard["description"],
                          "menu": [[other["id"], other["title"]] for other in source.dashboards], "panels": panels}, indent=1)
    # A template's end of the script, and its own actions, must not appear in the data.
    content = content.replace("</", "<\\/")
    assert "{{" not in content
    return ('<!-- SPDX-License-Identifier: Apache-2.0. Made by deploy/monitoring/generate.py of expressions.yaml. Not to be edited. -->\n'
            '{{ template "arclane_head" . }}\n'
            f'<script type="application/json" id="dashboard">\n{content}\n</script>\n'
            '{{ template "arclane_tail" . }}\n')


def generated(source=None):
    """Path below this folder -> content, of every generated file."""
    source = source or Source()
    files = {"prometheus/rules/arclane.rules.yaml": rules(source)}
    for dashboard in source.dashboards:
        files[f"grafana/dashboards/{dashboard['id']}.json"] = json.dumps(grafana(source, dashboard), indent=1) + "\n"
        files[f"prometheus/consoles/arclane-{dashboard['id']}.html"] = console(source, dashboard)
    return files


def stale_files(files, folder=HERE):
    """Generated files that are not what they should be, and files beside them that nothing generates."""
    stale = []
    for path, content in files.items():
        try:
            with open(os.path.join(folder, path), encoding="utf-8") as file:
                current = file.read() == content
        except OSError:
            current = False
        if not current:
            stale.append(path)
    for place in sorted({os.path.dirname(path) for path in files}):
        full = os.path.join(folder, place)
        for name in sorted(os.listdir(full)) if os.path.isdir(full) else []:
            if f"{place}/{name}" not in files:
                stale.append(f"{place}/{name} (nothing generates it)")
    return stale


def main(arguments):
    """Writes or checks."""
    files = generated()
    if arguments == ["--check"]:
        stale = stale_files(files)
        for path in stale:
            print(f"not current: deploy/monitoring/{path}")
        if stale:
            print("Run deploy/monitoring/generate.py and commit what it writes.")
        return 1 if stale else 0
    if arguments:
        print(__doc__)
        return 2
    for path, content in files.items():
        full = os.path.join(HERE, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(content)
    print(f"{len(files)} files written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
