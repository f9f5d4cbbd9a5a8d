#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that Arclane needs and that are not installed yet: deploy/install-dependencies.sh GROUP...
# Groups: build (compile server and client), runtime (run them), test (all tests, conformance and benchmarks), lint (what
# continuous integration checks beyond that), containers (build and run the image, compose), proxies (rolling restarts behind
# one), monitoring (checks of dashboards and alerts). This file is the one place that lists packages.
set -euo pipefail

build_packages=(
  build-essential cmake ninja-build ccache pkg-config git ca-certificates curl
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc grpc-proto libabsl-dev
  prometheus-cpp-dev libspdlog-dev libsqlite3-dev libxxhash-dev nlohmann-json3-dev zlib1g-dev libssl-dev libcli11-dev
  libgoogle-perftools-dev
)
# The libraries that the programs load; deploy/Dockerfile's runtime stage starts both, so one that is missing fails the build.
runtime_packages=(
  libgrpc++1.51 libprotobuf32 libprometheus-cpp-pull1.0 libspdlog1.10 libsqlite3-0 libgoogle-perftools4
)
test_packages=(
  libgtest-dev libgmock-dev libbenchmark-dev python3 python3-grpcio python3-protobuf python3-yaml
)
lint_packages=(
  clang clang-format clang-tidy nodejs npm
)
container_packages=(
  podman buildah runc conmon containernetworking-plugins uidmap catatonit mmdebstrap docker-compose
)
proxy_packages=(
  haproxy nginx-light
)

monitoring_packages=(
  prometheus chromium fonts-dejavu-core
)

usage() {
  sed -n '3,6s/^# //p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

[[ $# -gt 0 ]] || usage
wanted=()
for group in "$@"; do
  case "$group" in
    build) wanted+=("${build_packages[@]}") ;;
    runtime) wanted+=("${runtime_packages[@]}") ;;
    test) wanted+=("${build_packages[@]}" "${test_packages[@]}") ;;
    lint) wanted+=("${lint_packages[@]}") ;;
    containers) wanted+=("${container_packages[@]}") ;;
    proxies) wanted+=("${proxy_packages[@]}") ;;
    monitoring) wanted+=("${monitoring_packages[@]}") ;;
    *) usage ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "install-dependencies: no dpkg here: this script knows Debian 12. Install by other means: ${wanted[*]}" >&2
  exit 1
fi

is_installed() {
  [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null || true)" == installed ]]
}

# Node.js also comes from elsewhere (its own packages bring npm along and conflict with Debian's): its commands are what counts.
is_there() {
  case "$1" in
    nodejs) command -v node >/dev/null ;;
    npm) command -v npm >/dev/null ;;
    *) is_installed "$1" ;;
  esac
}

missing=()
for package in "${wanted[@]}"; do
  is_there "$package" || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  echo "All packages are installed."
  exit 0
fi

as_root=()
if [[ "$(id -u)" -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install-dependencies: neither root nor sudo. As root, run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing: ${missing[*]}"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
# Quiet when it works; everything that apt said when it does not.
if ! { "${as_root[@]}" apt-get update &&
       "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } \
     >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "install-dependencies: apt-get failed (above). Check the network and /etc/apt/sources.list, then run this again." >&2
  exit 1
fi
