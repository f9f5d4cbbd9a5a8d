#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what `docker-compose config` writes, and writes it for one service on the host's network: for machines on which
containers have no network of their own.

    docker-compose -f deploy/compose.yaml config | compose_on_host.py SERVICE IMAGE NAME=VALUE... > one.yaml
"""
import sys

import yaml


def main():
    service_name, image, *settings = sys.argv[1:]
    project = yaml.safe_load(sys.stdin)
    service = project["services"][service_name]
    for key in ("build", "ports", "depends_on"):
        service.pop(key, None)
    service["image"] = image
    service["network_mode"] = "host"
    service["environment"].update(setting.split("=", 1) for setting in settings)
    used = {volume.split(":")[0] for volume in service.get("volumes", [])}
    volumes = {name: value or {} for name, value in project.get("volumes", {}).items() if name in used}
    yaml.safe_dump({"version": "2.4", "services": {service_name: service}, "volumes": volumes}, sys.stdout)


if __name__ == "__main__":
    main()
