#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds in Release mode and runs every benchmark, in process and end to end:
#   tests/benchmarks/run.sh [--quick] [--json FILE] [--filter REGEX] [--against FILE [--tolerance SHARE]]
# Each figure comes with its baseline from the same run. --against ends with code 1 when a ratio grew since that run.
# ARCLANE_BUILD_DIR names a build to use as it is.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
# Nobody waits for a build to be told how to ask for one.
build=1
for argument in "$@"; do
  case "$argument" in -h | --help) build=0 ;; esac
done
if [[ -z "${ARCLANE_BUILD_DIR:-}" && $build -eq 1 ]]; then
  (
    cd "$root"
    cmake --preset release -DARCLANE_BUILD_TESTS=ON -DARCLANE_BUILD_GRPC=ON >/dev/null
    cmake --build --preset release --target benchmarks arclane-server arclane-load
  ) >&2
fi
exec /usr/bin/python3 -B "$root/tests/benchmarks/run_benchmarks.py" "$@"
