// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/request_mix.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "arclane/v1/planner.pb.h"
#include "client/cli/request_input.h"
#include "client/loadgen/generated_requests.h"
#include "client/loadgen/plan_item_wire.h"
#include "client/loadgen/shared_items.h"

namespace arclane {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;

// Gathers requests under one bound of their bytes.
class Builder {
 public:
  explicit Builder(const LoadOptions& options) : options_(options) {}

  void Generate(const MixPart& part, RequestSource& source) {
    for (int serial = 0; serial < options_.distinct && Room(); ++serial) {
      const GeneratedShape shape{.size = part.size, .samples = options_.samples, .serial = serial};
      switch (part.source) {
        case MixPart::Source::kCorridor:
          AddCorridor(GeneratedCorridor(shape), source);
          break;
        case MixPart::Source::kReference:
          AddCorridor(GeneratedReference(shape), source);
          break;
        case MixPart::Source::kWaypoints:
          Add(GeneratedWaypoints(shape), source);
          break;
        default:
          Add(GeneratedSpline(shape), source);
          break;
      }
    }
  }

  void Read(const MixPart& part, std::istream& standard_input, RequestSource& source) {
    const auto input = RequestInput::Open(part.path, InputLayout::kDetect, standard_input);
    if (!input.ok()) {
      errors_.emplace_back(input.status().message());
      return;
    }
    while (const auto text = (*input)->Next()) {
      if (!Room()) return;
      if (part.method == "PlanCorridor") {
        v1::PlanCorridorRequest request;
        if (Parse(*text, (*input)->name(), request)) AddCorridor(std::move(request), source);
      } else if (part.method == "PlanWaypoints") {
        ReadOne<v1::PlanWaypointsRequest>(*text, (*input)->name(), source);
      } else if (part.method == "PlanSpline") {
        ReadOne<v1::PlanSplineRequest>(*text, (*input)->name(), source);
      } else {
        ReadOne<v1::PlanSpeedRequest>(*text, (*input)->name(), source);
      }
    }
  }

  void AddPing(int bytes, RequestSource& source) {
    v1::PingRequest request;
    request.mutable_payload()->resize(static_cast<size_t>(bytes));
    request.set_response_size(static_cast<uint32_t>(bytes));
    AddBytes(request.SerializeAsString(), source);
  }

  void Fault(std::string error) { errors_.push_back(std::move(error)); }
  absl::Status Finish() const {
    if (errors_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrJoin(errors_, "\n"));
  }
  std::string shared() const { return items_.shared().SerializeAsString(); }

 private:
  bool Room() {
    if (bytes_ <= kMostBytes) return true;
    if (!full_) {
      errors_.push_back(
          "--mix: its requests exceed 1 GiB: fewer of them (--distinct), or smaller ones");
    }
    full_ = true;
    return false;
  }

  bool Parse(const RequestText& text, const std::string& file, google::protobuf::Message& request) {
    const absl::Status parsed = ParseJson(text.text, file, text.line, request);
    if (!parsed.ok()) errors_.emplace_back(parsed.message());
    return parsed.ok();
  }

  template <typename Request>
  void ReadOne(const RequestText& text, const std::string& file, RequestSource& source) {
    Request request;
    if (Parse(text, file, request)) Add(std::move(request), source);
  }

  void AddCorridor(v1::PlanCorridorRequest request, RequestSource& source) {
    if (options_.cache == CacheUse::kUse) request.set_cache_mode(v1::CACHE_MODE_USE);
    if (options_.cache == CacheUse::kBypass) request.set_cache_mode(v1::CACHE_MODE_BYPASS);
    Add(std::move(request), source);
  }

  template <typename Request>
  void Add(Request request, RequestSource& source) {
    if (options_.shape == CallShape::kUnary) {
      AddBytes(request.SerializeAsString(), source);
      return;
    }
    std::string item;
    if (absl::Status added = items_.Add(std::move(request), item); !added.ok()) {
      // Every further request would say the same.
      if (errors_.empty() || errors_.back() != added.message()) Fault(std::string(added.message()));
      return;
    }
    AddBytes(options_.shape == CallShape::kStream ? StreamItemWithoutId(item) : std::move(item),
             source);
  }

  void AddBytes(std::string request, RequestSource& source) {
    bytes_ += request.size();
    source.requests.push_back(std::move(request));
  }

  const LoadOptions& options_;
  SharedItems items_;
  size_t bytes_ = 0;
  bool full_ = false;
  std::vector<std::string> errors_;
};

// One source of batches in the place of the sources of their items.
RequestSource BatchesOf(const RequestMix& mix, int batch_size, std::string_view shared) {
  size_t items = 0;
  for (const RequestSource& source : mix.sources) items += source.requests.size();
  const auto size = static_cast<size_t>(batch_size);
  const size_t batches = std::max<size_t>(1, items / size);
  RequestSource batch;
  batch.method = "PlanBatch";
  batch.name = absl::StrCat("PlanBatch of ", batch_size);
  std::vector<size_t> next(mix.sources.size(), 0);
  size_t in_order = 0;
  std::vector<std::string_view> chosen;
  for (size_t i = 0; i < batches; ++i) {
    chosen.clear();
    while (chosen.size() < size) {
      const auto source = static_cast<size_t>(mix.order[in_order++ % mix.order.size()]);
      const auto& requests = mix.sources[source].requests;
      chosen.push_back(requests[next[source]++ % requests.size()]);
    }
    batch.requests.push_back(BatchOfItems(chosen, shared));
  }
  return batch;
}

std::pair<std::string, std::string> MethodAndName(const MixPart& part) {
  switch (part.source) {
    case MixPart::Source::kCorridor:
      return {"PlanCorridor", absl::StrCat("PlanCorridor corridor:", part.size)};
    case MixPart::Source::kReference:
      return {"PlanCorridor", absl::StrCat("PlanCorridor reference:", part.size)};
    case MixPart::Source::kWaypoints:
      return {"PlanWaypoints", absl::StrCat("PlanWaypoints waypoints:", part.size)};
    case MixPart::Source::kSpline:
      return {"PlanSpline", absl::StrCat("PlanSpline spline:", part.size)};
    case MixPart::Source::kPing:
      return {"Ping", absl::StrCat("Ping ping:", part.size)};
    case MixPart::Source::kFile:
      break;
  }
  const size_t folder = part.path.rfind('/');
  return {part.method,
          absl::StrCat(part.method, " ",
                       folder == std::string::npos ? part.path : part.path.substr(folder + 1))};
}

}  // namespace

std::vector<int> OrderByWeight(const std::vector<int>& weights) {
  int divisor = 0;
  for (const int weight : weights) divisor = std::gcd(divisor, weight);
  const int period = std::accumulate(weights.begin(), weights.end(), 0) / std::max(1, divisor);
  std::vector<int> credit(weights.size(), 0);
  std::vector<int> order;
  order.reserve(static_cast<size_t>(period));
  for (int i = 0; i < period; ++i) {
    for (size_t s = 0; s < weights.size(); ++s) credit[s] += weights[s] / divisor;
    const auto next = std::max_element(credit.begin(), credit.end());
    *next -= period;
    order.push_back(static_cast<int>(next - credit.begin()));
  }
  return order;
}

absl::StatusOr<RequestMix> BuildRequestMix(const LoadOptions& options,
                                           std::istream& standard_input) {
  RequestMix mix;
  Builder builder(options);
  std::vector<int> weights;
  size_t pings = 0;
  for (const MixPart& part : options.mix) {
    RequestSource source;
    std::tie(source.method, source.name) = MethodAndName(part);
    source.weight = part.weight;
    switch (part.source) {
      case MixPart::Source::kFile:
        builder.Read(part, standard_input, source);
        break;
      case MixPart::Source::kPing:
        builder.AddPing(part.size, source);
        ++pings;
        break;
      case MixPart::Source::kReference:
        mix.meshes.push_back(part.size);
        builder.Generate(part, source);
        break;
      default:
        builder.Generate(part, source);
        break;
    }
    if (options.shape == CallShape::kStream) {
      source.method = part.source == MixPart::Source::kPing ? "PingStream" : "PlanStream";
    }
    weights.push_back(part.weight);
    mix.sources.push_back(std::move(source));
  }
  if (options.shape == CallShape::kBatch && pings > 0) {
    builder.Fault("--mix: a batch has no Pings");
  }
  if (options.shape == CallShape::kStream && pings > 0 && pings < options.mix.size()) {
    builder.Fault("--mix: a stream has either plans or Pings");
  }
  if (absl::Status built = builder.Finish(); !built.ok()) return built;
  mix.order = OrderByWeight(weights);
  if (options.shape == CallShape::kStream) mix.shared = builder.shared();
  if (options.shape == CallShape::kBatch) {
    RequestSource batches = BatchesOf(mix, options.batch_size, builder.shared());
    if (options.mix.size() == 1) {
      absl::StrAppend(&batches.name, " ", mix.sources[0].name);
    }
    mix.sources.clear();
    mix.sources.push_back(std::move(batches));
    mix.order = {0};
  }
  return mix;
}

}  // namespace arclane
