// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/load_flags.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/command_line/flag_help.h"
#include "server/command_line/flag_words.h"

// All flags are texts, so that every error is told together with the others.
ABSL_FLAG(std::string, server, "localhost:50051",
          "Where the service listens: host:port, or any target of gRPC.");
ABSL_FLAG(std::string, loop, "closed",
          "closed: --concurrency calls are kept in flight. open: --rate calls a second start at "
          "set times, and a latency "
          "counts from the set time, so that a stalled server is not measured by fewer calls.");
ABSL_FLAG(std::string, concurrency, "8", "Calls in flight of a closed loop, over all connections.");
ABSL_FLAG(std::string, rate, "", "Calls a second of an open loop.");
ABSL_FLAG(std::string, arrivals, "uniform", "Gaps of an open loop: uniform or poisson.");
ABSL_FLAG(std::string, max_in_flight, "4096",
          "Most calls in flight of an open loop; later ones wait in the client, and their latency "
          "has the wait.");
ABSL_FLAG(std::string, shape, "unary",
          "unary: a call a request. stream: a message a request. batch: a call for --batch_size "
          "requests.");
ABSL_FLAG(std::string, batch_size, "1000", "Requests of one batch.");
ABSL_FLAG(std::string, mix, "corridor:32",
          "What is asked for: parts separated by commas, each with an optional @WEIGHT. Generated: "
          "corridor:POLYGONS (sent along), "
          "reference:POLYGONS (by refs of a mesh that is published first), waypoints:POINTS, "
          "spline:POINTS, ping:BYTES. From files "
          "of protobuf JSON, one request a line: plan-corridor=FILE, plan-waypoints=FILE, "
          "plan-spline=FILE, plan-speed=FILE.");
ABSL_FLAG(std::string, samples, "100", "Samples of generated requests; 0: none.");
ABSL_FLAG(std::string, distinct, "1000",
          "Different requests of each generated part; they are sent in turn.");
ABSL_FLAG(std::string, cache, "as-given",
          "as-given (by the requests), use, or bypass: sets cache_mode of corridor requests.");
ABSL_FLAG(std::string, connections, "1", "HTTP/2 connections.");
ABSL_FLAG(std::string, threads, "1", "Threads of the client; at most --connections.");
ABSL_FLAG(std::string, deadline, "5s", "Of every call, retries included.");
ABSL_FLAG(std::string, max_attempts, "1",
          "1: no retries. More: UNAVAILABLE, RESOURCE_EXHAUSTED and CANCELLED are tried again as "
          "the client library does.");
ABSL_FLAG(std::string, warm_up, "1s", "Load before the measured part.");
ABSL_FLAG(std::string, duration, "10s",
          "Length of the measured part, Pings included; at most 24h.");
ABSL_FLAG(
    std::string, count, "1000000",
    "Most measured calls, Pings not counted. The first of --duration and --count ends the run.");
ABSL_FLAG(std::string, ping, "alternate",
          "alternate: plans and Pings of the same bytes take turns in short slices. beside: both "
          "at the same time.");
ABSL_FLAG(std::string, ping_share, "0.25",
          "Share of the Pings: of the time (alternate) or of the calls (beside).");
ABSL_FLAG(std::string, slice, "100ms", "Length of a slice of plans.");
ABSL_FLAG(std::string, server_pid, "0",
          "Process id of the server on this machine: its CPU time a call is then told. 0: none.");
ABSL_FLAG(std::string, json, "", "File for the report as JSON; - for the standard output.");
ABSL_FLAG(std::string, csv, "", "File for the report as CSV; - for the standard output.");
ABSL_FLAG(std::string, svg, "", "File for a picture of the latencies; - for the standard output.");
ABSL_FLAG(bool, quiet, false, "No line of progress each second.");

namespace arclane {
namespace {

constexpr char kUsage[] = R"(Load for Arclane, and what it costs.

Plans and Pings with the same request and response bytes run over the same connections in the same run;
the report tells their latencies, and the ratio.

Examples:
  arclane-load                                                     # 8 calls in flight, 10 s
  arclane-load --loop=open --rate=2000 --duration=30s --svg=latency.svg
  arclane-load --mix=corridor:32@8,spline:6,waypoints:20 --concurrency=64 --connections=2
  arclane-load --mix=plan-corridor=requests.jsonl --json=run.json --csv=-
  arclane-load --mix=reference:16 --cache=bypass --shape=batch --batch_size=1000 --concurrency=2
  arclane-load --mix=ping:1024 --shape=stream                      # the stream alone
  arclane-load --loop=open --rate=50000 --ping=beside --max_attempts=4 --deadline=1s   # overload

Exit codes: 0 measured; 1 no call succeeded, or the server cannot be reached; 2 wrong flags, or files of
theirs that cannot be read or written, told before the load begins.)";

// Reads texts into members and gathers what is wrong.
class FlagReader {
 public:
  template <typename Number>
  void Read(const std::string& text, const char* name, Number& value) {
    Number number{};
    bool read;
    if constexpr (std::is_floating_point_v<Number>) {
      read = absl::SimpleAtod(text, &number);
    } else {
      read = absl::SimpleAtoi(text, &number);
    }
    if (read) {
      value = number;
    } else {
      Fault(name, absl::StrCat("\"", text, "\" is no number"));
    }
  }
  void ReadDuration(const std::string& text, const char* name, absl::Duration& value) {
    if (!absl::ParseDuration(text, &value)) {
      Fault(name, absl::StrCat("\"", text, "\" is no duration such as 500ms, 2s or 1m30s"));
    }
  }
  template <typename Choice>
  void ReadChoice(const std::string& text, const char* name,
                  const std::vector<std::pair<std::string, Choice>>& choices, Choice& value) {
    for (const auto& [word, choice] : choices) {
      if (word == text) {
        value = choice;
        return;
      }
    }
    Fault(name, absl::StrCat("\"", text, "\" is none of ",
                             absl::StrJoin(choices, ", ", [](std::string* out, const auto& choice) {
                               out->append(choice.first);
                             })));
  }
  void Fault(const char* name, const std::string& what) {
    errors.push_back(absl::StrCat("--", name, ": ", what));
  }

  std::vector<std::string> errors;
};

LoadOptions ReadTexts(FlagReader& reader) {
  LoadOptions options;
  options.target = absl::GetFlag(FLAGS_server);
  reader.ReadChoice<LoadLoop>(absl::GetFlag(FLAGS_loop), "loop",
                              {{"closed", LoadLoop::kClosed}, {"open", LoadLoop::kOpen}},
                              options.loop);
  reader.Read(absl::GetFlag(FLAGS_concurrency), "concurrency", options.concurrency);
  if (const std::string rate = absl::GetFlag(FLAGS_rate); !rate.empty()) {
    reader.Read(rate, "rate", options.rate);
    if (absl::GetFlag(FLAGS_loop) == "closed") reader.Fault("rate", "needs --loop=open");
  }
  reader.ReadChoice<Arrivals>(absl::GetFlag(FLAGS_arrivals), "arrivals",
                              {{"uniform", Arrivals::kUniform}, {"poisson", Arrivals::kPoisson}},
                              options.arrivals);
  reader.Read(absl::GetFlag(FLAGS_max_in_flight), "max_in_flight", options.max_in_flight);
  reader.ReadChoice<CallShape>(
      absl::GetFlag(FLAGS_shape), "shape",
      {{"unary", CallShape::kUnary}, {"stream", CallShape::kStream}, {"batch", CallShape::kBatch}},
      options.shape);
  reader.Read(absl::GetFlag(FLAGS_batch_size), "batch_size", options.batch_size);
  options.mix = ParseMix(absl::GetFlag(FLAGS_mix), reader.errors);
  reader.Read(absl::GetFlag(FLAGS_samples), "samples", options.samples);
  reader.Read(absl::GetFlag(FLAGS_distinct), "distinct", options.distinct);
  reader.ReadChoice<CacheUse>(
      absl::GetFlag(FLAGS_cache), "cache",
      {{"as-given", CacheUse::kAsGiven}, {"use", CacheUse::kUse}, {"bypass", CacheUse::kBypass}},
      options.cache);
  reader.Read(absl::GetFlag(FLAGS_connections), "connections", options.connections);
  reader.Read(absl::GetFlag(FLAGS_threads), "threads", options.threads);
  reader.ReadDuration(absl::GetFlag(FLAGS_deadline), "deadline", options.deadline);
  reader.Read(absl::GetFlag(FLAGS_max_attempts), "max_attempts", options.max_attempts);
  reader.ReadDuration(absl::GetFlag(FLAGS_warm_up), "warm_up", options.warm_up);
  reader.ReadDuration(absl::GetFlag(FLAGS_duration), "duration", options.duration);
  reader.Read(absl::GetFlag(FLAGS_count), "count", options.count);
  reader.ReadChoice<PingTurns>(
      absl::GetFlag(FLAGS_ping), "ping",
      {{"alternate", PingTurns::kAlternate}, {"beside", PingTurns::kBeside}}, options.ping);
  reader.Read(absl::GetFlag(FLAGS_ping_share), "ping_share", options.ping_share);
  reader.ReadDuration(absl::GetFlag(FLAGS_slice), "slice", options.slice);
  reader.Read(absl::GetFlag(FLAGS_server_pid), "server_pid", options.server_pid);
  options.json_file = absl::GetFlag(FLAGS_json);
  options.csv_file = absl::GetFlag(FLAGS_csv);
  options.svg_file = absl::GetFlag(FLAGS_svg);
  options.quiet = absl::GetFlag(FLAGS_quiet);
  return options;
}

// How to use the program, and its own flags by name.
std::string HelpText() {
  std::string text = absl::StrCat(kUsage, "\n\nFlags:\n");
  std::map<std::string, std::string> own;
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    if (!absl::StrContains(flag->Filename(), "client/loadgen/load_flags")) continue;
    const std::string by_default = flag->DefaultValue();
    own[std::string(name)] =
        absl::StrCat(flag->Help(), " Default: ", by_default.empty() ? "none" : by_default, ".");
  }
  for (const auto& [name, help] : own) AppendHelp(name, help, text);
  AppendHelp("version", "Print the version and exit.", text);
  return text;
}

}  // namespace

absl::StatusOr<LoadOptions> ReadLoadFlags(int argc, char** argv) {
  if (AsksForHelp(argc, argv)) {
    std::fputs(HelpText().c_str(), stdout);
    std::exit(0);
  }
  absl::FlagsUsageConfig usage;
  usage.version_string = [] { return std::string("arclane-load " ARCLANE_VERSION "\n"); };
  absl::SetFlagsUsageConfig(usage);
  FlagReader reader;
  std::vector<char*> flag_words = CheckedFlagWords(argc, argv, reader.errors);
  const std::vector<char*> words =
      absl::ParseCommandLine(static_cast<int>(flag_words.size()), flag_words.data());
  for (size_t i = 1; i < words.size(); ++i) {
    reader.errors.push_back(
        absl::StrCat("\"", words[i], "\" is no flag; flags are given as --name=value"));
  }
  const LoadOptions options = ReadTexts(reader);
  // What is wrong with a flag that could not be read is told already.
  const size_t unread = reader.errors.size();
  for (std::string& fault : FaultsOf(options)) {
    const std::string flag = fault.substr(0, fault.find(':') + 1);
    const bool told = std::any_of(reader.errors.begin(), reader.errors.begin() + unread,
                                  [&flag](const std::string& e) { return e.starts_with(flag); });
    if (!told) reader.errors.push_back(std::move(fault));
  }
  if (!reader.errors.empty()) return absl::InvalidArgumentError(absl::StrJoin(reader.errors, "\n"));
  return options;
}

}  // namespace arclane
