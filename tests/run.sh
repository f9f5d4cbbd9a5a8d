#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds everything and runs the tests: tests/run.sh [--full] [--no-install] [-- CTEST ARGUMENTS]
# --full also runs the long sizes (ARCLANE_FULL_TESTS=1). --no-install leaves missing packages to you.
# Reference data, if you have it, is found by ARCLANE_CONFORMANCE_DIR; without it the tests that need it skip.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
install=1
ctest_arguments=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    --full) export ARCLANE_FULL_TESTS=1 ;;
    --no-install) install=0 ;;
    --) shift; ctest_arguments=("$@"); break ;;
    *) sed -n '3,5s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
  shift
done

[[ $install -eq 0 ]] || deploy/install-dependencies.sh test

# A folder of reference data beside the project is used when no other is named.
default_reference_dir="$root/../shared/data"
if [[ -z "${ARCLANE_CONFORMANCE_DIR:-}" && -d "$default_reference_dir" ]]; then
  ARCLANE_CONFORMANCE_DIR="$(cd "$default_reference_dir" && pwd)"
fi
if [[ -n "${ARCLANE_CONFORMANCE_DIR:-}" && -d "${ARCLANE_CONFORMANCE_DIR}" ]]; then
  export ARCLANE_CONFORMANCE_DIR
  echo "Reference data: $ARCLANE_CONFORMANCE_DIR"
else
  unset ARCLANE_CONFORMANCE_DIR
  echo "Reference data: none (set ARCLANE_CONFORMANCE_DIR); the tests that need it skip, all others run."
fi

cmake --preset release -DARCLANE_BUILD_TESTS=ON -DARCLANE_BUILD_GRPC=ON
cmake --build --preset release
# Overload is measured by itself: .ci/run overload.
ctest --test-dir build/release -LE overload --output-on-failure --timeout 900 -j "$(nproc)" "${ctest_arguments[@]}"
