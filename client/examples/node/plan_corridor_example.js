// SPDX-License-Identifier: Apache-2.0
// Plans one corridor and prints its length and first samples; then sends a wrong request and prints what is wrong with it.
//   npm install && node plan_corridor_example.js [HOST:PORT] < request.json
'use strict';

const fs = require('fs');
const path = require('path');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const PROTO_DIR = path.join(__dirname, '..', '..', '..', 'proto');
const SDK_DIR = path.join(__dirname, '..', '..', 'sdk');
const DEADLINE_MS = 5000;
const LOAD_OPTIONS = {includeDirs: [PROTO_DIR], keepCase: true, enums: String, longs: String, defaults: true, oneofs: true};

const {PathPlanner} =
    grpc.loadPackageDefinition(protoLoader.loadSync('arclane/v1/planner.proto', LOAD_OPTIONS)).arclane.v1;
const {google} = grpc.loadPackageDefinition(
    protoLoader.loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto'], LOAD_OPTIONS));

function decode(type, bytes) {
  return type.deserialize(bytes);
}

// The violated fields of a failed call.
function violationsOf(error) {
  const [bytes] = error.metadata.get('grpc-status-details-bin');
  if (!bytes) return [];
  const status = decode(google.rpc.Status, bytes);
  return status.details.filter((detail) => detail.type_url.endsWith('/google.rpc.BadRequest'))
      .flatMap((detail) => decode(google.rpc.BadRequest, detail.value).field_violations);
}

function planCorridor(client, request) {
  return new Promise((resolve, reject) => {
    client.PlanCorridor(request, {deadline: Date.now() + DEADLINE_MS},
                        (error, response) => error ? reject(error) : resolve(response));
  });
}

async function main() {
  const target = process.argv[2] || 'localhost:50051';
  const request = JSON.parse(fs.readFileSync(0, 'utf8'));
  // The same retries and balancing as the C++ client's.
  const serviceConfig = fs.readFileSync(path.join(SDK_DIR, 'default_service_config.json'), 'utf8');
  const client = new PathPlanner(target, grpc.credentials.createInsecure(), {'grpc.service_config': serviceConfig});
  try {
    const {route} = await planCorridor(client, request);
    console.log(`${route.outcome}, length ${route.length.toPrecision(6)}, ${route.duration_s.toPrecision(6)} s`);
    const {distance, time_s, position, speed} = route.samples;
    for (let i = 0; i < Math.min(distance.length, 5); ++i) {
      console.log(`  s=${distance[i]} t=${time_s[i].toPrecision(6)} at (${position.x[i].toPrecision(6)}, ` +
                  `${position.y[i].toPrecision(6)}) speed ${speed[i].toPrecision(6)}`);
    }
    request.agent.limits.max_speed = -1;
    try {
      await planCorridor(client, request);
      throw new Error('a negative speed was not refused');
    } catch (error) {
      if (error.code !== grpc.status.INVALID_ARGUMENT) throw error;
      console.log('INVALID_ARGUMENT');
      for (const {field, description} of violationsOf(error)) console.log(`  ${field}: ${description}`);
    }
  } finally {
    client.close();
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
