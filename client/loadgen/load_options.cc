// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/load_options.h"

#include <cmath>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace arclane {
namespace {

constexpr int kMostWeight = 1000;
constexpr int kMostConcurrency = 100'000;
constexpr int kMostConnections = 1024;
constexpr int kMostThreads = 64;
constexpr int kMostAttempts = 10;
constexpr double kHighestRate = 1e7;
constexpr absl::Duration kLongestRun = absl::Hours(24);

struct GeneratedKind {
  std::string_view name;
  MixPart::Source source;
  int smallest;
  int largest;
};
constexpr GeneratedKind kGenerated[] = {
    {"corridor", MixPart::Source::kCorridor, 1, 1'000'000},
    {"reference", MixPart::Source::kReference, 1, 100'000},
    {"waypoints", MixPart::Source::kWaypoints, 2, 1'000'000},
    {"spline", MixPart::Source::kSpline, 2, 100'000},
    {"ping", MixPart::Source::kPing, 0, 1 << 20},
};

struct FileKind {
  std::string_view name;
  std::string_view method;
};
constexpr FileKind kFiles[] = {
    {"plan-corridor", "PlanCorridor"},
    {"plan-waypoints", "PlanWaypoints"},
    {"plan-spline", "PlanSpline"},
    {"plan-speed", "PlanSpeed"},
};

// An empty text when the part is right, else what is wrong with it.
std::string ParseSource(const std::string& text, MixPart& part) {
  if (const size_t equals = text.find('='); equals != std::string::npos) {
    const std::string name = text.substr(0, equals);
    part.source = MixPart::Source::kFile;
    part.path = text.substr(equals + 1);
    if (part.path.empty()) return "names no file";
    for (const FileKind& kind : kFiles) {
      if (kind.name == name) {
        part.method = std::string(kind.method);
        return "";
      }
    }
    return absl::StrCat("\"", name,
                        "\" is none of plan-corridor, plan-waypoints, plan-spline, plan-speed");
  }
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  for (const GeneratedKind& kind : kGenerated) {
    if (kind.name != name) continue;
    part.source = kind.source;
    if (colon == std::string::npos || !absl::SimpleAtoi(text.substr(colon + 1), &part.size) ||
        part.size < kind.smallest || part.size > kind.largest) {
      return absl::StrCat("needs a size behind a colon, from ", kind.smallest, " to ",
                          kind.largest);
    }
    return "";
  }
  return absl::StrCat("\"", name,
                      "\" is none of corridor, reference, waypoints, spline, ping, and no "
                      "METHOD=FILE");
}

}  // namespace

std::vector<MixPart> ParseMix(const std::string& text, std::vector<std::string>& errors) {
  std::vector<MixPart> mix;
  for (const absl::string_view piece : absl::StrSplit(text, ',')) {
    MixPart part;
    std::string source(piece);
    std::string fault;
    if (const size_t at = source.rfind('@'); at != std::string::npos) {
      if (!absl::SimpleAtoi(source.substr(at + 1), &part.weight) || part.weight < 1 ||
          part.weight > kMostWeight) {
        fault = absl::StrCat("the weight behind @ must be a whole number from 1 to ", kMostWeight);
      }
      source.resize(at);
    }
    if (fault.empty()) fault = ParseSource(source, part);
    if (fault.empty()) {
      mix.push_back(std::move(part));
    } else {
      errors.push_back(absl::StrCat("--mix: \"", std::string(piece), "\": ", fault));
    }
  }
  return mix;
}

std::vector<std::string> FaultsOf(const LoadOptions& options) {
  std::vector<std::string> faults;
  const auto check = [&faults](bool right, const char* flag, const auto&... what) {
    if (!right) faults.push_back(absl::StrCat("--", flag, ": ", what...));
  };
  const auto check_range = [&check](auto value, auto low, auto high, const char* flag) {
    check(value >= low && value <= high, flag, "must be from ", low, " to ", high);
  };
  const auto check_duration = [&check](absl::Duration value, bool zero, const char* flag) {
    check((zero ? value >= absl::ZeroDuration() : value > absl::ZeroDuration()) &&
              value <= kLongestRun,
          flag, "must be ", zero ? "at least" : "more than", " 0s and at most 24h");
  };
  check(!options.target.empty(), "server", "is empty");
  if (options.loop == LoadLoop::kOpen) {
    check(std::isfinite(options.rate) && options.rate > 0.0 && options.rate <= kHighestRate, "rate",
          "an open loop needs a rate above 0 and up to 1e7 calls a second");
  } else {
    check_range(options.concurrency, 1, kMostConcurrency, "concurrency");
  }
  check_range(options.max_in_flight, 1, kMostConcurrency, "max_in_flight");
  check_range(options.batch_size, 1, 10'000, "batch_size");
  check(!options.mix.empty(), "mix", "has no part");
  check_range(options.samples, 0, 1'000'000, "samples");
  check_range(options.distinct, 1, 1'000'000, "distinct");
  check_range(options.connections, 1, kMostConnections, "connections");
  check_range(options.threads, 1, kMostThreads, "threads");
  check(options.threads <= options.connections, "threads", "must not exceed --connections");
  if (options.loop == LoadLoop::kClosed) {
    check(options.concurrency >= options.threads, "concurrency", "must be at least --threads");
  }
  check(options.max_in_flight >= options.threads, "max_in_flight", "must be at least --threads");
  check_duration(options.deadline, false, "deadline");
  check_range(options.max_attempts, 1, kMostAttempts, "max_attempts");
  check(options.max_attempts == 1 || options.shape != CallShape::kStream, "max_attempts",
        "messages of a stream are not sent again");
  check_duration(options.warm_up, true, "warm_up");
  check(options.ping == PingTurns::kAlternate || options.warm_up > absl::ZeroDuration(), "warm_up",
        "is needed with --ping=beside: it tells the size of the answers");
  check_duration(options.duration, false, "duration");
  check_range(options.count, int64_t{1}, int64_t{1'000'000'000'000}, "count");
  check(options.ping_share > 0.0 && options.ping_share <= 0.9, "ping_share",
        "must be above 0 and at most 0.9");
  check(options.slice >= absl::Milliseconds(1) && options.slice <= absl::Seconds(10), "slice",
        "must be from 1ms to 10s");
  check(options.server_pid >= 0, "server_pid", "must be a process id");
  return faults;
}

}  // namespace arclane
