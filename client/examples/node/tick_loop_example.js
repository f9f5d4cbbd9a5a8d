// SPDX-License-Identifier: Apache-2.0
// A game server's loop: in every tick one PlanBatch call plans for all agents that need a route. Agents share a profile; one agent of
// the last tick is wrong, and its error names the field.
//   npm install && node tick_loop_example.js [HOST:PORT] < request.json
'use strict';

const fs = require('fs');
const path = require('path');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const PROTO_DIR = path.join(__dirname, '..', '..', '..', 'proto');
const LOAD_OPTIONS = {includeDirs: [PROTO_DIR], keepCase: true, enums: String, longs: String, defaults: true, oneofs: true};
const TICKS = 20;
const AGENTS = 50;
const TICK_MS = 50;
const DEADLINE_MS = 500;    // Of a call.
const PATIENCE_MS = 20000;  // Until a server must answer.
const WORTH_A_RETRY = [grpc.status.UNAVAILABLE, grpc.status.RESOURCE_EXHAUSTED];

const {PathPlanner} =
    grpc.loadPackageDefinition(protoLoader.loadSync('arclane/v1/planner.proto', LOAD_OPTIONS)).arclane.v1;
const {google} = grpc.loadPackageDefinition(
    protoLoader.loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto'], LOAD_OPTIONS));

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

// The routes that agents ask for in one tick, from slightly different places.
function batchOf(request, tick) {
  const {agent: profile, ...rest} = request;
  const items = [];
  for (let agent = 0; agent < AGENTS; ++agent) {
    const start = {...request.start, x: (request.start.x || 0) + 0.001 * agent + 0.0001 * tick};
    items.push({corridor: {...rest, start}, agent_index: 0});
  }
  if (tick === TICKS - 1) {
    items.push({corridor: {...request, agent: {...profile, limits: {...profile.limits, max_speed: -1}}}});
  }
  return {items, shared: {agents: [profile]}};
}

// The error details of one kind: those of the standard error model are messages by type.
function detailsOf(details, name, type) {
  return details.filter((detail) => detail.type_url.endsWith(`/google.rpc.${name}`)).map((detail) => type.deserialize(detail.value));
}

// How long the server asks to wait before a retry; a tick when it does not say.
function retryDelayMs(error) {
  const [bytes] = error.metadata.get('grpc-status-details-bin');
  if (!bytes) return TICK_MS;
  const [info] = detailsOf(google.rpc.Status.deserialize(bytes).details, 'RetryInfo', google.rpc.RetryInfo);
  return info ? 1000 * Number(info.retry_delay.seconds) + 1e-6 * info.retry_delay.nanos : TICK_MS;
}

function planBatch(client, batch) {
  return new Promise((resolve, reject) => {
    const answers = [];
    const call = client.PlanBatch(batch, {deadline: Date.now() + DEADLINE_MS});
    call.on('data', (message) => answers.push(...message.answers));
    call.on('end', () => resolve(answers));
    call.on('error', reject);
  });
}

// All answers of a batch, tried again where a retry can help.
async function planPatiently(client, batch) {
  const giveUp = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await planBatch(client, batch);
    } catch (error) {
      const wait = retryDelayMs(error);
      if (!WORTH_A_RETRY.includes(error.code) || Date.now() + wait > giveUp) throw error;
      console.error(`again in ${wait} ms: ${error.details}`);
      await sleep(wait);
    }
  }
}

async function main() {
  const target = process.argv[2] || 'localhost:50051';
  const request = JSON.parse(fs.readFileSync(0, 'utf8'));
  // A server that restarts is found again soon.
  const client = new PathPlanner(target, grpc.credentials.createInsecure(),
                                 {'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 1000});
  let planned = 0;
  let failed = 0;
  try {
    for (let tick = 0; tick < TICKS; ++tick) {
      const nextTick = Date.now() + TICK_MS;
      for (const {status} of await planPatiently(client, batchOf(request, tick))) {
        if (!status) {
          ++planned;  // The answer's corridor.route goes to the agent.
          continue;
        }
        ++failed;
        console.log(grpc.status[status.code]);
        for (const {field_violations: violations} of detailsOf(status.details, 'BadRequest', google.rpc.BadRequest)) {
          for (const {field, description} of violations) console.log(`  ${field}: ${description}`);
        }
      }
      await sleep(nextTick - Date.now());
    }
    console.log(`${TICKS} ticks, ${planned} plans, ${failed} failed`);
  } finally {
    client.close();
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
