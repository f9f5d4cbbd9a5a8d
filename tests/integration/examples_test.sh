#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the examples of client/examples against a live server and compares what they print. Node runs when
# its packages are installed (client/examples/node/node_modules) or ARCLANE_TEST_NODE=1 allows to install them.
#   examples_test.sh BUILD_FOLDER     such as build/release, with arclane-server and the C++ examples built
set -euo pipefail

build="$(cd "${1:?usage: examples_test.sh BUILD_FOLDER}" && pwd)"
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
examples="$root/client/examples"
work="$(mktemp -d)"
server_pid=""

# shellcheck disable=SC2317  # Called by the trap.
clean_up() {
  for pid in $server_pid ${late_pid:-}; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap clean_up EXIT

fail() {
  printf 'examples_test: %s\n' "$*" >&2
  [[ ! -s "$work/server.log" ]] || cat "$work/server.log" >&2
  exit 1
}

# A free port of the server's own choice, read from its log.
"$build/server/arclane-server" --listen=127.0.0.1:0 --metrics_listen=none >"$work/server.log" 2>&1 &
server_pid=$!
target=""
for _ in $(seq 100); do
  target="$(sed -n 's/.*listening.*grpc=\(127\.0\.0\.1:[0-9]*\).*/\1/p' "$work/server.log" | head -n 1)"
  [[ -z "$target" ]] || break
  kill -0 "$server_pid" 2>/dev/null || fail "the server ended"
  sleep 0.1
done
[[ -n "$target" ]] || fail "the server does not say where it listens"

# check NAME COMMAND...: the example succeeds, prints a complete route of the right length, samples, and the wrong field.
check() {
  local name="$1"
  shift
  "$@" "$target" <"$examples/request.json" >"$work/$name.txt" || fail "$name failed"
  # From (0, 0) by the wall's corner (6, 2) to (8, 9): sqrt(40) + sqrt(53).
  grep -q '^OUTCOME_COMPLETE, length 13\.60' "$work/$name.txt" || fail "$name: $(head -n 1 "$work/$name.txt")"
  [[ "$(grep -c '^  s=' "$work/$name.txt")" -eq 5 ]] || fail "$name does not print five samples"
  grep -q '^INVALID_ARGUMENT$' "$work/$name.txt" || fail "$name does not tell the refused request"
  grep -q '^  agent\.limits\.max_speed: ' "$work/$name.txt" || fail "$name does not name the wrong field"
  echo "$name: ok"
}

check cpp "$build/client/examples/plan_corridor_example"
# check_follow NAME TEXT COMMAND...: every agent of the example arrives.
check_follow() {
  local name="$1" text="$2"
  shift 2
  "$@" "$target" <"$examples/request.json" >"$work/$name.txt" || fail "$name failed"
  grep -q "$text" "$work/$name.txt" || fail "$name: $(cat "$work/$name.txt")"
  echo "$name: ok"
}

check_follow follow-cpp '^  1000 arrived$' "$build/client/examples/follow_example"
check_follow follow-python '^50 agents arrived' /usr/bin/python3 -B "$examples/python/follow_example.py"
check python /usr/bin/python3 -B "$examples/python/plan_corridor_example.py"

# check_ticks NAME COMMAND...: every tick is planned, the wrong item told with its field. The server comes half a second after the
# example, which must wait for it.
late_pid=""
check_ticks() {
  local name="$1" port
  shift
  port="$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
  (sleep 0.5; exec "$build/server/arclane-server" --listen="127.0.0.1:$port" --metrics_listen=none >"$work/late.log" 2>&1) &
  late_pid=$!
  "$@" "127.0.0.1:$port" <"$examples/request.json" >"$work/$name.txt" || fail "$name failed"
  kill "$late_pid" && wait "$late_pid" || true
  late_pid=""
  grep -q '^20 ticks, 1000 plans, 1 failed$' "$work/$name.txt" || fail "$name: $(tail -n 3 "$work/$name.txt")"
  grep -q '^INVALID_ARGUMENT$' "$work/$name.txt" || fail "$name does not tell the refused item"
  grep -q '^  .*agent\.limits\.max_speed: ' "$work/$name.txt" || fail "$name does not name the wrong field"
  echo "$name: ok"
}

check_ticks ticks-cpp "$build/client/examples/tick_loop_example"
check_ticks ticks-python /usr/bin/python3 -B "$examples/python/tick_loop_example.py"

if [[ "${ARCLANE_TEST_NODE:-0}" == 1 && ! -d "$examples/node/node_modules" ]]; then
  cp "$examples/node/package.json" "$work/"
  (cd "$work" && npm install --no-audit --no-fund --no-package-lock --silent) || fail "npm install failed"
  export NODE_PATH="$work/node_modules"
fi
if command -v node >/dev/null && { [[ -n "${NODE_PATH:-}" ]] || [[ -d "$examples/node/node_modules" ]]; }; then
  check node node "$examples/node/plan_corridor_example.js"
  check_ticks ticks-node node "$examples/node/tick_loop_example.js"
else
  echo "node: skipped (npm install in client/examples/node, or ARCLANE_TEST_NODE=1)"
fi
