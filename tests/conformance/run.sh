#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs reference records through a live server: tests/conformance/run.sh PATH... [--server HOST:PORT] [--report FILE] [--full]
# PATH is a record file (JSON Lines, plain or .gz), a Detour navmesh (.bin) or a folder of them. Builds nothing: says how to build what is absent.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# The packaged interpreter, which is the one that python3-grpcio belongs to.
python=/usr/bin/python3
if ! "$python" -c 'import grpc, google.protobuf' 2>/dev/null; then
  echo "conformance: python3-grpcio is needed: run deploy/install-dependencies.sh test" >&2
  exit 2
fi
exec "$python" -B "$here/conformance.py" "$@"
