#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The container image: built from deploy/Dockerfile as it is, run hardened, stopped under load; and deploy/compose.yaml.
# Needs no registry and no container daemon: a base made by mmdebstrap stands in for debian:bookworm-slim.
# Ends with code 77, having said why, on a machine that can run no containers; that is found out by running one.
#   tests/deployment/container.sh [--full] [--no-install] [--base FILE]
#     --full        compile inside the image, as a user's build does (minutes); otherwise build/release goes into it
#     --no-install  do not install packages
#     --base FILE   the archive of the base; made there if it is not there yet
# Leaves nothing behind: images and containers live in a folder of their own, which is deleted.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
. tests/support/skip.sh

full=0
install=1
base=""
while [[ $# -gt 0 ]]; do
  case "$1" in
    --full) full=1 ;;
    --no-install) install=0 ;;
    --base) base="${2:?--base needs a file}"; shift ;;
    -h | --help) sed -n '3,10s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "container: unknown argument $1 (see --help)" >&2; exit 2 ;;
  esac
  shift
done
[[ "$(id -u)" -eq 0 ]] || skip "cannot run containers here: overlay mounts and control groups need root"
[[ $install -eq 0 ]] || deploy/install-dependencies.sh test containers

scratch="$(mktemp -d)"
passed=0
failed=0
pass() { passed=$((passed + 1)); echo "ok      $*"; }
fail() { failed=$((failed + 1)); echo "FAILED  $*"; }
expect() {
  local what="$1"
  shift
  if "$@" >"$scratch/out" 2>&1; then pass "$what"; else tail -n 20 "$scratch/out"; fail "$what"; fi
}

# ---------------------------------------------------------------- Containers of our own: storage, no daemon, no systemd
export CONTAINERS_STORAGE_CONF="$scratch/storage.conf" CONTAINERS_CONF="$scratch/containers.conf"
export REGISTRIES_CONFIG_PATH="$scratch/registries.conf" TMPDIR="$scratch/tmp"
mkdir "$scratch/tmp"
: >"$scratch/registries.conf"
cat >"$scratch/storage.conf" <<END
[storage]
driver = "overlay"
graphroot = "$scratch/images"
runroot = "$scratch/run"
END
cat >"$scratch/containers.conf" <<END
[containers]
netns = "host"
default_ulimits = ["nofile=$(ulimit -Hn):$(ulimit -Hn)", "nproc=8192:8192"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
END
load_pid=""
podman_pid=""
# shellcheck disable=SC2317  # Called by the trap.
clean_up() {
  [[ -z "$load_pid" ]] || kill "$load_pid" 2>/dev/null || true
  [[ -z "$podman_pid" ]] || kill "$podman_pid" 2>/dev/null || true
  podman rm --all --force --time 5 >/dev/null 2>&1 || true
  podman volume rm --all --force >/dev/null 2>&1 || true
  podman unshare true 2>/dev/null || true
  umount "$scratch/images/overlay" 2>/dev/null || true
  rm -rf "$scratch"
}
trap clean_up EXIT
# podman asks systemd for timers of its own health checks; without one they are run by hand.
without_timers() { grep -v 'systemd connection to' || true; }

# ---------------------------------------------------------------- Whether this machine can
# An image of one static program, made and run with what the checks below need of mounts and control groups.
containers_run() {
  local program="$scratch/probe" container
  echo 'int main(void) { return 0; }' | cc -static -x c -o "$program" - || return 1
  container="$(buildah from scratch)" || return 1
  buildah copy --quiet "$container" "$program" /probe >/dev/null || return 1
  buildah config --entrypoint '["/probe"]' "$container" || return 1
  buildah commit --quiet "$container" localhost/probe >/dev/null || return 1
  buildah rm "$container" >/dev/null || return 1
  timeout 60 podman run --rm --network host --read-only --read-only-tmpfs=false --tmpfs /tmp:rw,size=1m --cap-drop all \
    --memory 64m --memory-swap 64m --pids-limit 8 --cpus 1 localhost/probe
}
containers_run >"$scratch/probe.log" 2>&1 || skip "cannot run containers here: $(grep . "$scratch/probe.log" | tail -n 1)"

build_dir="${ARCLANE_BUILD_DIR:-build/release}"
if [[ -z "${ARCLANE_BUILD_DIR:-}" ]]; then
  [[ -f build/release/CMakeCache.txt ]] || cmake --preset release >/dev/null
  cmake --build --preset release --target arclane-server arclane restart_load
fi

# ---------------------------------------------------------------- The image
begin=$SECONDS
: "${base:=$scratch/base.tar}"
if [[ ! -s "$base" ]]; then
  if ! mmdebstrap --quiet --variant=minbase bookworm "$base" 2>"$scratch/mmdebstrap.log"; then
    tail -n 20 "$scratch/mmdebstrap.log"
    (cd "$scratch" && apt-get -qq download hostname >/dev/null 2>&1) || skip "no base for the image: no archive of Debian answers"
    fail "a base is made: the archive answers, mmdebstrap does not get one from it"
    exit 1
  fi
fi
podman import --quiet --change 'CMD ["bash"]' "$base" docker.io/library/debian:bookworm-slim >/dev/null
echo "The base stands in for debian:bookworm-slim after $((SECONDS - begin)) s."

build=(buildah bud --format docker --network host -f deploy/Dockerfile -t localhost/arclane:test)
commit="$(git rev-parse --short=12 HEAD)"
build+=(--build-arg "COMMIT=$commit")
if [[ $full -eq 0 ]]; then
  # The Dockerfile is the same: its first stage is replaced by what it would make.
  mkdir -p "$scratch/binaries/out"
  strip -o "$scratch/binaries/out/arclane-server" "$build_dir/server/arclane-server"
  strip -o "$scratch/binaries/out/arclane" "$build_dir/client/cli/arclane"
  build+=(--build-context "build=$scratch/binaries")
fi
begin=$SECONDS
if ! "${build[@]}" . >"$scratch/build.log" 2>&1; then
  tail -n 40 "$scratch/build.log"
  fail "the image builds"
  exit 1
fi
pass "the image builds, in $((SECONDS - begin)) s"
size() { podman image inspect --format '{{.Size}}' "$1"; }
base_bytes="$(size docker.io/library/debian:bookworm-slim)"
image_bytes="$(size localhost/arclane:test)"
own_mb=$(((image_bytes - base_bytes) / 1000000))
echo "Image: $((image_bytes / 1000000)) MB, $own_mb MB of them on top of the base."
# What is on top is the programs and their libraries: compilers or headers in it would be ten times that.
expect "at most 60 MB on top of the base" test "$own_mb" -le 60
inspect() { podman image inspect --format "{{$2}}" localhost/arclane:test | grep -q "$1"; }
expect "a numeric user" inspect '^10001:10001$' .Config.User
expect "exec form" inspect '^\[arclane-server\]$' .Config.Entrypoint
expect "SIGTERM stops it" inspect '^SIGTERM$' .Config.StopSignal
expect "its commit is a label" inspect "$commit" '.Config.Labels'
expect "no compiler and no header in it" bash -c \
  "! podman run --rm --entrypoint /bin/sh localhost/arclane:test -c 'command -v cc c++ cmake || ls /usr/include/grpcpp' 2>/dev/null"

# ---------------------------------------------------------------- Hardened
read -r port metrics_port compose_port compose_metrics_port < <(/usr/bin/python3 -B -c \
  'import sys; sys.path.insert(0, "tests/deployment"); import local_servers; print(*local_servers.free_ports(4))')
cli() { "$build_dir/client/cli/arclane" --server "127.0.0.1:$port" "$@"; }
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
run_hardened() {
  podman run --detach --name arclane --network host --read-only --read-only-tmpfs=false \
    --tmpfs /tmp:rw,noexec,nosuid,nodev,size=8m --cap-drop all --security-opt no-new-privileges \
    --memory 256m --memory-swap 256m --pids-limit 64 --cpus 1 --stop-timeout 40 \
    --volume arclane-data:/var/lib/arclane \
    --env ARCLANE_DATA_DIR=/var/lib/arclane --env ARCLANE_DRAIN_DELAY_S=0.5 \
    --env ARCLANE_CACHE_BYTES=32MiB --env ARCLANE_MAX_ADMITTED_BYTES=64MiB \
    --env "ARCLANE_LISTEN=127.0.0.1:$port" --env "ARCLANE_METRICS_LISTEN=127.0.0.1:$metrics_port" \
    --env "ARCLANE_SERVER=127.0.0.1:$port" localhost/arclane:test 2> >(without_timers >&2) >/dev/null
}
await_first_plan() {
  for _ in $(seq 500); do
    cli plan-corridor client/examples/request.json >/dev/null 2>&1 && return 0
    sleep 0.01
  done
  return 1
}
begin="$(milliseconds)"
run_hardened
if await_first_plan; then
  pass "the first plan, $(($(milliseconds) - begin)) ms after podman run"
else
  podman logs arclane 2>&1 | tail -n 20
  fail "the first plan within the time"
fi
expect "its HEALTHCHECK is content" podman healthcheck run arclane
expect "alive" podman exec arclane arclane health --service liveness
expect "a plan by the command line inside" bash -c \
  "podman exec -i arclane arclane plan-corridor - --json <client/examples/request.json | grep -q OUTCOME_COMPLETE"
expect "one planning thread for one CPU of quota" bash -c "podman logs arclane 2>&1 | grep -q '\"planner_threads\":1'"
expect "metrics" bash -c "curl --fail --silent --max-time 5 http://127.0.0.1:$metrics_port/metrics | grep -q ^arclane_serving"
expect "its root cannot be written" bash -c "podman exec arclane /bin/sh -c 'touch /usr/local/bin/x 2>/dev/null || echo refused' | grep -q refused"
expect "it is not root" bash -c "test \"\$(podman exec arclane id -u)\" = 10001"

# ---------------------------------------------------------------- SIGTERM under load, and back
protoc -I proto --encode=arclane.v1.NeutralNavMesh arclane/v1/navmesh.proto <tests/deployment/yard.txtpb >"$scratch/yard.navmesh"
expect "a navmesh is published" cli navmesh publish yard "$scratch/yard.navmesh"
"$build_dir/tests/deployment/restart_load" --target="127.0.0.1:$port" --service_config=waiting --most_seconds=300 \
  >"$scratch/load.json" 2>"$scratch/load.log" &
load_pid=$!
sleep 2
podman kill --signal TERM arclane >/dev/null
code="$(podman wait arclane)"
expect "SIGTERM under load gives exit code 0 (it was $code)" test "$code" = 0
expect "all calls had ended" bash -c "podman logs arclane 2>&1 | grep -q '\"all_calls_ended\":true'"
podman start arclane 2> >(without_timers >&2) >/dev/null
expect "it is back with its volume" await_first_plan
sleep 1
kill -TERM "$load_pid"
if wait "$load_pid"; then
  pass "no call failed: $(cat "$scratch/load.json")"
else
  cat "$scratch/load.log" "$scratch/load.json"
  fail "no call failed"
fi
load_pid=""
expect "the navmesh is still there" cli navmesh get yard
podman stop --time 40 arclane >/dev/null 2>&1
expect "podman stop gives exit code 0" test "$(podman inspect --format '{{.State.ExitCode}}' arclane)" = 0

# ---------------------------------------------------------------- Compose
expect "compose.yaml is valid" docker-compose -f deploy/compose.yaml config --quiet
sed 's/stop_grace_period/stop_grace_perod/' deploy/compose.yaml >"$scratch/planted.yaml"
expect "a misspelt key is found" bash -c "! docker-compose -f '$scratch/planted.yaml' config --quiet"
# Every file that a service mounts is there.
mounts_exist() {
  local path missing=0
  for path in $(docker-compose -f deploy/compose.yaml config | sed -n 's/^ *- \(\/[^:]*\):.*:ro$/\1/p'); do
    [[ -e "$path" ]] || { echo "$path is not there"; missing=1; }
  done
  return $missing
}
expect "what it mounts is there" mounts_exist
podman system service --time=0 "unix://$scratch/podman.sock" >"$scratch/podman.log" 2>&1 &
podman_pid=$!
for _ in $(seq 100); do [[ -S "$scratch/podman.sock" ]] && break; sleep 0.1; done
export DOCKER_HOST="unix://$scratch/podman.sock"
docker-compose -f deploy/compose.yaml config | /usr/bin/python3 -B tests/deployment/compose_on_host.py arclane localhost/arclane:test \
  "ARCLANE_LISTEN=127.0.0.1:$compose_port" "ARCLANE_METRICS_LISTEN=127.0.0.1:$compose_metrics_port" >"$scratch/one.yaml"
port="$compose_port"
expect "docker-compose up" docker-compose -p arclanetest -f "$scratch/one.yaml" up --detach
expect "it plans there" await_first_plan
expect "docker-compose down" docker-compose -p arclanetest -f "$scratch/one.yaml" down --volumes --timeout 30

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
