// SPDX-License-Identifier: Apache-2.0
// What a load run does, as one checked struct.
#ifndef ARCLANE_CLIENT_LOADGEN_LOAD_OPTIONS_H_
#define ARCLANE_CLIENT_LOADGEN_LOAD_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace arclane {

enum class LoadLoop {
  kClosed,  // A number of calls is kept in flight: the next one starts when one ends.
  kOpen,    // Calls start at times that are set beforehand, whatever becomes of the earlier ones.
};

// Gaps between the calls of an open loop.
enum class Arrivals {
  kUniform,
  kPoisson,  // Exponential gaps, the same in every run.
};

enum class CallShape {
  kUnary,   // One call a request.
  kStream,  // One message a request, on one bidirectional stream a connection.
  kBatch,   // One PlanBatch call for many requests.
};

// How the Pings stand beside the plans.
enum class PingTurns {
  kAlternate,  // Plans and Pings take turns in short slices: each is measured under its own load.
  kBeside,     // Both run at the same time: Pings show what is left for others under this load.
};

enum class CacheUse {
  kAsGiven,  // As the requests say.
  kUse,
  kBypass,
};

// One part of the mix.
struct MixPart {
  enum class Source {
    kCorridor,   // Generated: `size` polygons sent along.
    kReference,  // Generated: refs of `size` polygons of a mesh that the run publishes.
    kWaypoints,  // Generated: `size` waypoints.
    kSpline,     // Generated: a Catmull-Rom curve of `size` control points.
    kFile,       // Protobuf JSON of `method`, one request a line or one in the file.
    kPing,       // Nothing but Pings, of `size` bytes either way.
  };
  Source source = Source::kCorridor;
  int size = 32;
  std::string method;  // "PlanCorridor", ...; only for kFile.
  std::string path;
  int weight = 1;  // In [1, 1000].
};

struct LoadOptions {
  std::string target = "localhost:50051";

  // The load.
  LoadLoop loop = LoadLoop::kClosed;
  int concurrency = 8;  // Calls in flight of a closed loop, over all connections.
  double rate = 0.0;    // Calls a second of an open loop.
  Arrivals arrivals = Arrivals::kUniform;
  // Most calls in flight of an open loop. Beyond it calls wait in the client, and their latency has
  // the wait.
  int max_in_flight = 4096;
  CallShape shape = CallShape::kUnary;
  int batch_size = 1000;
  std::vector<MixPart> mix = {MixPart{}};
  int samples = 100;    // Of generated requests; 0: none.
  int distinct = 1000;  // Different requests of each generated part.
  CacheUse cache = CacheUse::kAsGiven;

  // The way there.
  int connections = 1;
  int threads = 1;  // Of the client; each has its share of the connections.
  absl::Duration deadline = absl::Seconds(5);
  // 1: no retries. More: retries as the client library makes them, counted here.
  int max_attempts = 1;

  // The run.
  absl::Duration warm_up = absl::Seconds(1);
  absl::Duration duration = absl::Seconds(10);  // Of the measured part, Pings included.
  int64_t count = 1'000'000;                    // Most measured calls, Pings not counted.
  PingTurns ping = PingTurns::kAlternate;
  double ping_share = 0.25;  // Of the time (alternate) or of the calls (beside).
  absl::Duration slice = absl::Milliseconds(100);  // Of plans; Pings have their share of it.
  int server_pid = 0;                              // A process whose CPU time is reported; 0: none.

  // The report. "" writes none, "-" to the standard output.
  std::string json_file;
  std::string csv_file;
  std::string svg_file;
  bool quiet = false;
};

// Parses "corridor:32@3,spline:6,plan-corridor=requests.jsonl". Adds a line to `errors` for every
// part that makes no sense.
std::vector<MixPart> ParseMix(const std::string& text, std::vector<std::string>& errors);

// Everything that is wrong with these options, by the name of the flag.
std::vector<std::string> FaultsOf(const LoadOptions& options);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_LOAD_OPTIONS_H_
