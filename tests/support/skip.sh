# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by checks that some machines cannot run, containers and registries foremost: what is absent is found out by trying,
# and said. skip_code is then the exit code, by which .ci/run tells it from a failure.
skip_code=77

# Says why nothing of this runs here, and is the end of the process.
skip() {
  echo "skipped: $*"
  exit "$skip_code"
}

# PACKAGE@VERSION: whether npm finds it. If not, says why.
npm_answers() {
  local answer
  answer="$(npm view "$1" version --fetch-retries=1 --fetch-timeout=20000 2>&1)" && return 0
  echo "npm does not reach $1 from here ($(grep -m 1 . <<<"$answer"))"
  return 1
}
