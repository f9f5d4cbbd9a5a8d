#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs reference records through a live server: tests/conformance/run.sh PATH... [--server HOST:PORT] [--report FILE] [--full]
# PATH is a record file (JSON Lines, plain or .gz), a Detour navmesh (.bin) or a folder of them. Builds the server and the local program first where they are absent.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# The packaged interpreter, which is the one that python3-grpcio belongs to.
python=/usr/bin/python3
if ! "$python" -c 'import grpc, google.protobuf' 2>/dev/null; then
  echo "conformance: python3-grpcio is needed: run deploy/install-dependencies.sh test" >&2
  exit 2
fi
build="${ARCLANE_BUILD_DIR:-$here/../../build/release}"
if [[ ! -x "$build/server/arclane-server" || ! -x "$build/tests/conformance/arclane_conformance" ]]; then
  if [[ -n "${ARCLANE_BUILD_DIR:-}" ]]; then
    echo "conformance: $ARCLANE_BUILD_DIR lacks arclane-server or arclane_conformance: build them there" >&2
    exit 2
  fi
  echo "Building the server and the conformance program (build/release) ..." >&2
  (cd "$here/../.." && cmake --preset release -DARCLANE_BUILD_TESTS=ON -DARCLANE_BUILD_GRPC=ON >/dev/null &&
    cmake --build --preset release --target arclane-server arclane_conformance) >&2
fi
exec "$python" -B "$here/conformance.py" "$@"
