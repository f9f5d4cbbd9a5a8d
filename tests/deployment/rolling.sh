#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rolling restarts under load: two servers behind round_robin, behind haproxy and behind nginx, and one server with a volume.
# No call may fail.
#   tests/deployment/rolling.sh [--full] [--no-install] [--json FILE] [SCENARIO...]
#     --full        50 rounds instead of 10
#     --no-install  do not install packages
#     --json FILE   the figures
#     SCENARIO      round_robin, haproxy, nginx, single, plain; all without one
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"

install=1
arguments=()
for argument in "$@"; do
  case "$argument" in
    --no-install) install=0 ;;
    -h | --help) sed -n '3,9s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) arguments+=("$argument") ;;
  esac
done

[[ $install -eq 0 ]] || deploy/install-dependencies.sh test proxies
[[ -f build/release/CMakeCache.txt ]] || cmake --preset release >/dev/null
cmake --build --preset release --target arclane-server restart_load
exec /usr/bin/python3 -B tests/deployment/rolling.py "${arguments[@]}"
