#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Dashboards, consoles, rules and alerts against a live server and a real Prometheus:
#   tests/monitoring/run.sh [--full] [--no-install] [--pictures FOLDER]
#     --full             ten minutes of load at a higher rate
#     --no-install       do not install packages
#     --pictures FOLDER  keep screenshots of the consoles
# Needs a built server (ARCLANE_BUILD_DIR, default build/release). Takes about two minutes on two cores; at its end nothing runs.
set -uo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root" || exit 1
. tests/support/skip.sh

grafana_schema_version=13.2.3
typescript_version=7.0.2
seconds=25
rate=1
install=1
pictures=""

while [[ $# -gt 0 ]]; do
  case "$1" in
    --full) seconds=600; rate=2 ;;
    --no-install) install=0 ;;
    --pictures)
      [[ $# -ge 2 ]] || { echo "run.sh: --pictures needs a folder" >&2; exit 2; }
      pictures="$2"
      shift ;;
    *) sed -n '3,7s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
  shift
done

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
failed=()

check() {
  local name="$1"
  shift
  printf '\n== %s\n' "$name"
  "$@" || failed+=("$name")
}

if [[ $install -eq 1 ]]; then
  deploy/install-dependencies.sh test lint monitoring || exit 1
fi

check_schema() {
  local absent
  if ! absent="$(npm_answers "@grafana/schema@$grafana_schema_version")"; then
    echo "skipped: types of the dashboards: $absent"
    return 0
  fi
  npm install --prefix "$scratch/npm" --no-save --no-audit --no-fund --silent \
    "@grafana/schema@$grafana_schema_version" "typescript@$typescript_version" || return 1
  /usr/bin/python3 -B tests/monitoring/dashboard_schema.py "$scratch/npm/node_modules"
}

check "generated files" /usr/bin/python3 -B tests/monitoring/generated_test.py
check "table of metrics" /usr/bin/python3 -B tests/monitoring/metrics_table_test.py
check "alerts" /usr/bin/python3 -B tests/monitoring/alert_rules_test.py
check "dashboards" check_schema
check "live" /usr/bin/python3 -B tests/monitoring/live_check.py --seconds "$seconds" --rate "$rate" ${pictures:+--pictures "$pictures"}

if [[ ${#failed[@]} -gt 0 ]]; then
  printf '\nFailed: %s\n' "${failed[*]}"
  exit 1
fi
printf '\nAll checks of monitoring passed.\n'
