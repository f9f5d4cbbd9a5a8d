// SPDX-License-Identifier: Apache-2.0
// Checks manifests: node check_manifests.mjs SETTINGS FILE...
// Every document against the schema of its kind (wrong values), by the TypeScript compiler against the type of its kind
// (misspelt keys), and against what this project asks of its own pods: that every container is confined, that probes ask for
// services that exist, and that every ARCLANE_ variable is a setting of the server. SETTINGS is what arclane-server
// --print_config writes; "-" leaves that check out. Exit code 1 with a line for each fault.
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseAllDocuments} from 'yaml';

const here = dirname(fileURLToPath(import.meta.url));
const [settingsFile, ...files] = process.argv.slice(2);
const faults = [];
const fault = (where, text) => faults.push(`${where}: ${text}`);

// The package and module of a kind.
function moduleOf(document) {
  const {apiVersion} = document;
  return apiVersion.startsWith('monitoring.coreos.com/') ? `@kubernetes-models/prometheus-operator/${apiVersion}`
                                                         : `kubernetes-models/${apiVersion}`;
}

function documentsOf(file) {
  const found = [];
  for (const parsed of parseAllDocuments(readFileSync(file, 'utf8'))) {
    for (const error of parsed.errors) fault(file, error.message);
    const value = parsed.toJS();
    if (value === null) continue;
    if (typeof value.apiVersion !== 'string' || typeof value.kind !== 'string') {
      fault(file, 'a document without apiVersion and kind');
      continue;
    }
    found.push({where: `${file}: ${value.kind} ${value.metadata?.name}`, value});
  }
  if (found.length === 0) fault(file, 'no document');
  return found;
}

async function checkValues({where, value}) {
  try {
    const Kind = (await import(moduleOf(value)))[value.kind];
    new Kind(value).validate();
  } catch (error) {
    fault(where, error.message);
  }
}

// A literal of a type may have no key that the type does not know.
function checkKeys(documents) {
  const folder = mkdtempSync(join(here, '.keys-'));
  try {
    const lines = documents.map(({value}, i) =>
      `import type {I${value.kind} as T${i}} from ${JSON.stringify(moduleOf(value))};\n` +
      `export const d${i}: T${i} = ${JSON.stringify(value)};`);
    const source = join(folder, 'manifests.ts');
    writeFileSync(source, lines.join('\n') + '\n');
    execFileSync(join(here, 'node_modules/.bin/tsc'),
                 ['--noEmit', '--strict', '--skipLibCheck', '--target', 'esnext', '--module', 'nodenext', source],
                 {encoding: 'utf8', cwd: here});
  } catch (error) {
    for (const line of String(error.stdout ?? error.message).split('\n')) {
      const found = /manifests\.ts\((\d+),\d+\): (.*)/.exec(line);
      if (found) fault(documents[Math.ceil(Number(found[1]) / 2) - 1].where, found[2]);
    }
    if (faults.length === 0) fault('tsc', String(error.stdout ?? error.message));
  } finally {
    rmSync(folder, {recursive: true});
  }
}

const settings = settingsFile === '-' ? undefined
                                      : new Set(Object.keys(JSON.parse(readFileSync(settingsFile, 'utf8'))));

function checkProbe(where, probe) {
  const asked = probe.grpc ? probe.grpc.service
                           : probe.exec.command.at(-1) === 'health' ? '' : probe.exec.command.at(-1);
  if (!['', 'liveness', 'arclane.v1.PathPlanner', 'arclane.v1.NavMeshRegistry'].includes(asked))
    fault(where, `a probe asks for ${asked}, which the server does not know`);
  return asked;
}

function checkContainer(where, container, isServer) {
  const security = container.securityContext ?? {};
  if (security.readOnlyRootFilesystem !== true) fault(where, 'its root file system can be written');
  if (security.allowPrivilegeEscalation !== false) fault(where, 'it may gain privileges');
  if (!security.capabilities?.drop?.includes('ALL')) fault(where, 'it keeps capabilities');
  if (!container.resources?.limits?.memory) fault(where, 'it has no limit of memory');
  if (!isServer) return;
  for (const {name} of container.env ?? []) {
    if (settings && name.startsWith('ARCLANE_') && !settings.has(name.slice('ARCLANE_'.length).toLowerCase()))
      fault(where, `${name} is no setting of the server`);
  }
  if (checkProbe(where, container.livenessProbe) !== 'liveness')
    fault(where, 'its liveness depends on its readiness');
  if (container.readinessProbe) checkProbe(where, container.readinessProbe);
  checkProbe(where, container.startupProbe);
}

function checkPods({where, value}) {
  const pod = value.spec?.template?.spec;
  if (!pod) return;
  if (pod.securityContext?.runAsNonRoot !== true) fault(where, 'it may run as root');
  if (pod.automountServiceAccountToken !== false) fault(where, 'it gets a token of the cluster');
  for (const container of [...pod.initContainers ?? [], ...pod.containers])
    checkContainer(`${where}, container ${container.name}`, container, container.name === 'arclane');
}

const documents = files.flatMap(documentsOf);
for (const document of documents) await checkValues(document);
documents.forEach(checkPods);
checkKeys(documents);
if (faults.length > 0) {
  console.log(faults.join('\n'));
  process.exit(1);
}
console.log(`${documents.length} documents: ${documents.map(({value}) => value.kind).join(', ')}`);
