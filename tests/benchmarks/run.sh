#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds in Release mode and runs every benchmark: tests/benchmarks/run.sh [--quick] [--json FILE] [--filter REGEX]
# Each figure comes with its baseline from the same run. ARCLANE_BUILD_DIR names a build to use as it is.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
if [[ -z "${ARCLANE_BUILD_DIR:-}" ]]; then
  (
    cd "$root"
    cmake --preset release -DARCLANE_BUILD_TESTS=ON -DARCLANE_BUILD_GRPC=ON >/dev/null
    cmake --build --preset release --target benchmarks arclane-server
  ) >&2
fi
exec /usr/bin/python3 -B "$root/tests/benchmarks/run_benchmarks.py" "$@"
