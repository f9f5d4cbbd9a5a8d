// SPDX-License-Identifier: Apache-2.0
// What a request that names a navmesh costs before the cache is asked.
#include <string>

#include "benchmark/benchmark.h"
#include "server/codec/canonical_request.h"
#include "tests/benchmarks/zigzag_request.h"

namespace arclane::benchmarks {
namespace {

std::string EncodedByReference(int64_t refs) {
  v1::PlanCorridorRequest request = ZigzagRequest(0);
  request.mutable_navmesh()->set_navmesh_id("zigzag");
  auto* corridor = request.mutable_corridor()->mutable_refs();
  for (int64_t ref = 0; ref < refs; ++ref) corridor->add_ref(static_cast<uint64_t>(ref));
  return request.SerializeAsString();
}

void BM_Glance_Refs(benchmark::State& state) {
  const std::string encoded = EncodedByReference(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(GlanceAt(encoded));
}
BENCHMARK(BM_Glance_Refs)->Arg(32)->Arg(512);

void BM_ParseRequest_Refs(benchmark::State& state) {
  const std::string encoded = EncodedByReference(state.range(0));
  v1::PlanCorridorRequest request;
  for (auto _ : state) {
    request.ParseFromString(encoded);
    benchmark::DoNotOptimize(request);
  }
}
BENCHMARK(BM_ParseRequest_Refs)->Arg(32)->Arg(512);

void BM_ParseAndCanonicalize_Refs(benchmark::State& state) {
  const std::string encoded = EncodedByReference(state.range(0));
  v1::PlanCorridorRequest request;
  std::string canonical;
  for (auto _ : state) {
    request.ParseFromString(encoded);
    Canonicalize(request, &canonical);
    benchmark::DoNotOptimize(canonical);
  }
}
BENCHMARK(BM_ParseAndCanonicalize_Refs)->Arg(32)->Arg(512);

}  // namespace
}  // namespace arclane::benchmarks
