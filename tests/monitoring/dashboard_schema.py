#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Grafana dashboards against the type `Dashboard` of Grafana's own schema, and a planted fault in each kind of place.

dashboard_schema.py NODE_MODULES: a folder with the npm packages @grafana/schema and typescript (run.sh installs them).
"""
import copy
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DASHBOARDS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "deploy", "monitoring", "grafana", "dashboards")


def misspelt_key(dashboard):
    """A key that Grafana would ignore."""
    dashboard["panels"][0]["gridpos"] = dashboard["panels"][0].pop("gridPos")


def wrong_type(dashboard):
    """A text where a number belongs."""
    dashboard["panels"][1]["gridPos"]["w"] = "12"


def unknown_value(dashboard):
    """A variable of a kind that there is not."""
    dashboard["templating"]["list"][1]["type"] = "querry"


def missing_key(dashboard):
    """A panel without its type."""
    del dashboard["panels"][2]["type"]


FAULTS = (misspelt_key, wrong_type, unknown_value, missing_key)


def errors_of(node_modules, dashboards):
    """Name -> tsc's complaints, of the dashboards that have some."""
    with tempfile.TemporaryDirectory(prefix="arclane-dashboards-") as folder:
        os.symlink(os.path.abspath(node_modules), os.path.join(folder, "node_modules"))
        for name, dashboard in dashboards.items():
            # A literal of a declared type: what the type does not know is an error too.
            with open(os.path.join(folder, f"{name}.ts"), "w", encoding="utf-8") as file:
                file.write("import { Dashboard } from '@grafana/schema';\n"
                           f"export const dashboard: Dashboard = {json.dumps(dashboard, indent=1)};\n")
        options = {"strict": True, "noEmit": True, "module": "esnext", "moduleResolution": "bundler", "target": "es2022",
                   "skipLibCheck": True, "types": []}
        with open(os.path.join(folder, "tsconfig.json"), "w", encoding="utf-8") as file:
            json.dump({"compilerOptions": options, "files": [f"{name}.ts" for name in dashboards]}, file)
        result = subprocess.run([os.path.join(node_modules, ".bin", "tsc"), "--project", folder, "--pretty", "false"],
                                capture_output=True, text=True, timeout=300, check=False)
        found = {}
        for line in result.stdout.splitlines():
            match = re.match(r"(?:.*/)?([\w-]+)\.ts\(\d+,\d+\): error", line)
            if match:
                found.setdefault(match.group(1), []).append(line)
        if result.returncode != 0 and not found:
            raise RuntimeError(f"tsc failed:\n{result.stdout}{result.stderr}")
        return found


def main(node_modules):
    """0 when the dashboards fit and every planted fault is found."""
    dashboards = {}
    for path in sorted(glob.glob(os.path.join(DASHBOARDS, "*.json"))):
        with open(path, encoding="utf-8") as file:
            dashboards[os.path.splitext(os.path.basename(path))[0]] = json.load(file)
    good = list(dashboards)
    for fault in FAULTS:
        broken = copy.deepcopy(dashboards[good[0]])
        fault(broken)
        dashboards[f"planted-{fault.__name__}"] = broken
    errors = errors_of(node_modules, dashboards)
    failed = [name for name in good if name in errors]
    missed = [fault.__name__ for fault in FAULTS if f"planted-{fault.__name__}" not in errors]
    for name in failed:
        print(f"{name}.json does not fit Grafana's schema:", *errors[name], sep="\n  ")
    for name in missed:
        print(f"the check does not see a planted fault: {name}")
    if not failed and not missed:
        print(f"{len(good)} dashboards fit Grafana's schema; {len(FAULTS)} planted faults are found")
    return 1 if failed or missed or not good else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
