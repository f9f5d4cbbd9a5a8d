#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where the server's CPU time goes, stage by stage, under a load: tests/benchmarks/cpu_share.sh [--seconds N] [--json FILE] [--keep FOLDER] [-- FLAGS]
# FLAGS go to arclane-load; without them, the usual loads are measured one after the other. Needs perf (Debian: linux-perf) and the
# right to use it (kernel.perf_event_paranoid). ARCLANE_BUILD_DIR names the build; build/release without it.
set -euo pipefail

command -v perf >/dev/null || { echo "cpu_share: perf is not installed (Debian: linux-perf)" >&2; exit 1; }
exec /usr/bin/python3 -B "$(dirname "${BASH_SOURCE[0]}")/cpu_share.py" "$@"
