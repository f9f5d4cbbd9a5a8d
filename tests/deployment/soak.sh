#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A server under steady load for minutes: its memory and its open files must not grow.
#   tests/deployment/soak.sh [--full] [--no-install] [--json FILE] [--seconds N]
#     --full        10 minutes instead of 2
#     --no-install  do not install packages
#     --json FILE   the figures
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"

install=1
arguments=()
for argument in "$@"; do
  case "$argument" in
    --no-install) install=0 ;;
    -h | --help) sed -n '3,7s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) arguments+=("$argument") ;;
  esac
done

[[ $install -eq 0 ]] || deploy/install-dependencies.sh test
[[ -f build/release/CMakeCache.txt ]] || cmake --preset release >/dev/null
cmake --build --preset release --target arclane-server arclane restart_load
exec /usr/bin/python3 -B tests/deployment/soak.py "${arguments[@]}"
