#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a bare Debian 12 to planned routes: installs what is missing, builds, starts the server, plans in a small town
# and draws pictures. Serves until Ctrl-C.
#   deploy/quickstart.sh [--once] [--port N] [--metrics-port N] [--out FOLDER] [--no-install]
#     --once            stop after the demonstration
#     --port N          gRPC port (default 50051, or ARCLANE_PORT)
#     --metrics-port N  metrics port (default 9464, or ARCLANE_METRICS_PORT)
#     --out FOLDER      where the pictures go (default out/quickstart in the project)
#     --no-install      do not install packages
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

once=0
install=1
port="${ARCLANE_PORT:-50051}"
metrics_port="${ARCLANE_METRICS_PORT:-9464}"
out="$root/out/quickstart"
server_pid=""
run_folder=""

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
fail() { printf 'quickstart: %s\n' "$*" >&2; exit 1; }
usage() { sed -n '5,10s/^# //p' "${BASH_SOURCE[0]}"; }

# shellcheck disable=SC2317  # Called by the trap.
stop_server() {
  local code=$?
  trap - EXIT INT TERM
  if [[ -n "$server_pid" ]] && kill -0 "$server_pid" 2>/dev/null; then
    kill -TERM "$server_pid" 2>/dev/null || true
    for _ in $(seq 100); do
      kill -0 "$server_pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$server_pid" 2>/dev/null || true
    wait "$server_pid" 2>/dev/null || true
    echo "Server stopped."
  fi
  [[ -z "$run_folder" ]] || rm -rf "$run_folder"
  exit "$code"
}
trap stop_server EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

need_value() { [[ $# -ge 2 && -n "$2" ]] || fail "$1 needs a value (see --help)"; }
need_port() { [[ "$2" =~ ^[0-9]+$ ]] && (( $2 >= 1 && $2 <= 65535 )) || fail "$1: '$2' is no port; give a number from 1 to 65535"; }
while [[ $# -gt 0 ]]; do
  case "$1" in
    --once) once=1 ;;
    --no-install) install=0 ;;
    --port) need_value "$@"; port="$2"; shift ;;
    --metrics-port) need_value "$@"; metrics_port="$2"; shift ;;
    --out) need_value "$@"; mkdir -p "$2"; out="$(cd "$2" && pwd)"; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; fail "unknown argument $1" ;;
  esac
  shift
done
need_port --port "$port"
need_port --metrics-port "$metrics_port"
[[ "$port" != "$metrics_port" ]] || fail "gRPC and metrics need different ports"

taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
# Before the build, so that nobody waits minutes for this answer.
if taken "$port"; then
  fail "port $port is taken (ss -ltnp 'sport = :$port' shows by whom). Stop that program or choose another: --port N"
fi
if taken "$metrics_port"; then
  fail "port $metrics_port is taken (ss -ltnp 'sport = :$metrics_port' shows by whom). Stop that program or choose another: --metrics-port N"
fi

say "1/5  Packages"
if [[ $install -eq 1 ]]; then
  deploy/install-dependencies.sh build || fail "packages are missing; see the message above"
else
  echo "Skipped (--no-install)."
fi

say "2/5  Build (a few minutes the first time, seconds afterwards)"
configure=(cmake --preset release)
# A build folder that tests/run.sh made keeps its tests.
[[ -f build/release/CMakeCache.txt ]] || configure+=(-DARCLANE_BUILD_TESTS=OFF)
run_folder="$(mktemp -d)"
if ! "${configure[@]}" >"$run_folder/configure.log" 2>&1; then
  tail -n 30 "$run_folder/configure.log" >&2
  fail "cmake could not configure the build (above). deploy/install-dependencies.sh build installs what it needs."
fi
cmake --build --preset release --target arclane-server arclane || fail "the build failed (above)"
server="$root/build/release/server/arclane-server"
cli="$root/build/release/client/cli/arclane"

say "3/5  Server"
"$server" --listen="127.0.0.1:$port" --metrics_listen="127.0.0.1:$metrics_port" --ready_file="$run_folder/ready.json" \
  >"$run_folder/server.log" 2>&1 &
server_pid=$!
for _ in $(seq 150); do
  [[ ! -s "$run_folder/ready.json" ]] || break
  if ! kill -0 "$server_pid" 2>/dev/null; then
    cat "$run_folder/server.log" >&2
    server_pid=""
    fail "the server ended while starting (above)"
  fi
  sleep 0.1
done
if [[ ! -s "$run_folder/ready.json" ]]; then
  cat "$run_folder/server.log" >&2
  fail "the server was not ready after 15 s (above)"
fi
export ARCLANE_SERVER="127.0.0.1:$port"
"$cli" health >/dev/null || fail "the server does not answer the health check"
echo "gRPC on 127.0.0.1:$port, metrics on http://127.0.0.1:$metrics_port/metrics, process $server_pid."

say "4/5  Routes and a patrol in a small town (deploy/level)"
mkdir -p "$out"
for request in deploy/level/requests/*.json; do
  name="$(basename "$request" .json)"
  echo
  echo "arclane plan-corridor $request --svg $out/$name.svg"
  "$cli" plan-corridor "$request" --svg "$out/$name.svg" >"$run_folder/plan.txt" || fail "planning $request failed (above)"
  # The summary and the corners; the segments, speed phases and samples that follow are long.
  awk '/^segments/ { exit } { print }' "$run_folder/plan.txt"
  [[ -s "$out/$name.svg" ]] || fail "no picture was written to $out/$name.svg"
done

# A curve: a patrol round the fountain, timed and sampled at equal steps of its length.
curve=deploy/level/curves/fountain_patrol.json
echo
echo "arclane plan-spline $curve --svg $out/fountain_patrol.svg"
"$cli" plan-spline "$curve" --svg "$out/fountain_patrol.svg" >"$run_folder/plan.txt" || fail "planning $curve failed (above)"
awk '/^$/ { exit } { print }' "$run_folder/plan.txt"
[[ -s "$out/fountain_patrol.svg" ]] || fail "no picture was written to $out/fountain_patrol.svg"

# The same town published: polygons are named by their refs, and the second answer comes from the cache.
by_reference=deploy/level/by_reference/tavern_to_gate.json
echo
echo "arclane navmesh publish town deploy/level/town.json; arclane plan-corridor $by_reference   # twice"
"$cli" navmesh publish town deploy/level/town.json || fail "deploy/level/town.json could not be published (above)"
for _ in 1 2; do
  "$cli" plan-corridor "$by_reference" >"$run_folder/plan.txt" || fail "planning $by_reference failed (above)"
  sed -n 2p "$run_folder/plan.txt"
done
"$cli" navmesh draw town --out "$out/town.svg" || fail "the town could not be drawn (above)"

say "5/5  Metrics (those of PlanCorridor that have counted something)"
metrics="$(curl --fail --silent --show-error --max-time 10 "http://127.0.0.1:$metrics_port/metrics")" ||
  fail "the metrics page does not answer"
awk '/^arclane_/ && !/_bucket/ && (/PlanCorridor/ || /build_info/) && $NF != 0 && shown++ < 12' <<<"$metrics"

say "Done"
cat <<EOF
Pictures:  $out/*.svg
Plan:      ARCLANE_SERVER=127.0.0.1:$port build/release/client/cli/arclane plan-corridor deploy/level/requests/chapel_to_smithy.json
Limits:    ARCLANE_SERVER=127.0.0.1:$port build/release/client/cli/arclane limits
More:      README.md
EOF
if [[ $once -eq 1 ]]; then
  exit 0
fi
echo
echo "Serving. Ctrl-C stops the server."
trap 'exit 0' INT TERM
wait "$server_pid" || true
cat "$run_folder/server.log" >&2
server_pid=""
fail "the server ended by itself (its log is above)"
