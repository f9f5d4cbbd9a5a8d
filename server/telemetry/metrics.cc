// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/metrics.h"

#include <prometheus/exposer.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <string_view>
#include <utility>

#include "server/telemetry/histogram_bounds.h"
#include "server/telemetry/navmesh_metrics.h"
#include "server/telemetry/process_metrics.h"
#include "server/telemetry/series_catalog.h"
#include "server/telemetry/sourced_gauge.h"

namespace arclane {
namespace {

constexpr std::array<std::string_view, 17> kCodeNames = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};
constexpr size_t kUnknownCode = 2;
// Sums of durations are kept in nanoseconds.
constexpr double kPartsOfASecond = 1e9;
constexpr double kPartsOfACount = 1.0;
// The method of denials outside our own services.
constexpr char kOtherMethod[] = "other";

struct MethodSeries {
  std::array<size_t, kCodeNames.size()> calls{};
  HistogramCells duration;
  size_t in_flight = 0;
};

}  // namespace

struct Metrics::Series {
  Series(const BuildInfo& build, const MetricLabels& labels) {
    AddCalls(labels);
    AddPlans(labels);
    AddQueue(labels);
    AddStore();
    AddSecurity(labels);
    AddProcess(build);
    catalog->Seal();
  }

  void AddCalls(const MetricLabels& labels);
  void AddPlans(const MetricLabels& labels);
  void AddQueue(const MetricLabels& labels);
  void AddStore();
  void AddSecurity(const MetricLabels& labels);
  void AddProcess(const BuildInfo& build);

  std::vector<size_t> AddCounters(const char* label, const std::vector<std::string>& values) {
    std::vector<size_t> cells;
    for (const std::string& value : values) cells.push_back(catalog->AddCounter({{label, value}}));
    return cells;
  }
  std::atomic<double>* AddGauge(const char* name, const char* help) {
    catalog->Family(name, help);
    return catalog->AddGauge();
  }
  HistogramCells AddCounts(const char* name, const char* help) {
    catalog->Family(name, help);
    return catalog->AddHistogram({}, kCountBounds, kPartsOfACount);
  }

  std::vector<std::shared_ptr<prometheus::Collectable>> Collectables() const {
    return {catalog, wait, navmeshes, process};
  }

  void Add(size_t cell, uint64_t amount) { catalog->cells().Add(cell, amount); }
  void ObserveDuration(const HistogramCells& histogram, double duration_s) {
    // A clock that was set back must not make the sum run backwards.
    const double parts = std::max(0.0, duration_s) * kPartsOfASecond;
    Add(histogram.first_cell + BucketOf(histogram.bounds, duration_s), 1);
    Add(histogram.sum_cell(), static_cast<uint64_t>(parts + 0.5));
  }
  void ObserveCount(const HistogramCells& histogram, uint64_t count) {
    Add(histogram.first_cell + BucketOf(histogram.bounds, static_cast<double>(count)), 1);
    Add(histogram.sum_cell(), count);
  }

  const std::shared_ptr<SeriesCatalog> catalog = std::make_shared<SeriesCatalog>();
  const std::shared_ptr<SourcedGauge> wait = std::make_shared<SourcedGauge>(
      "arclane_queue_estimated_wait_seconds",
      "Time that a plan which comes now would wait for a thread, estimated, seconds.");
  const std::shared_ptr<ProcessMetrics> process = std::make_shared<ProcessMetrics>();
  const std::shared_ptr<NavMeshMetrics> navmeshes = std::make_shared<NavMeshMetrics>();
  std::vector<MethodSeries> methods;
  std::vector<size_t> outcomes, shed, corner_kinds, corner_stops, denied;
  std::vector<HistogramCells> stages;
  HistogramCells portals, samples, batch_items, commit_duration;
  size_t queued_plans = 0, admitted_bytes = 0, logs_dropped = 0;
  std::array<size_t, 2> commits{}, reloads{};  // Failed, done.
  std::atomic<double>*queued_plans_limit = nullptr, *admitted_bytes_limit = nullptr,
  *planner_threads = nullptr, *usable_processors = nullptr, *serving = nullptr,
  *certificate_expiry = nullptr;
};

void Metrics::Series::AddCalls(const MetricLabels& labels) {
  methods.resize(labels.methods.size());
  catalog->Family("arclane_calls_total", "Calls answered, by method and status code.");
  for (size_t i = 0; i < methods.size(); ++i) {
    for (size_t code = 0; code < kCodeNames.size(); ++code) {
      methods[i].calls[code] = catalog->AddCounter(
          {{"method", labels.methods[i]}, {"code", std::string(kCodeNames[code])}});
    }
  }
  catalog->Family("arclane_call_duration_seconds",
                  "Time from a call's arrival to its answer, by method, seconds. Streams are not "
                  "counted.");
  for (size_t i = 0; i < methods.size(); ++i) {
    methods[i].duration = catalog->AddHistogram({{"method", labels.methods[i]}},
                                                kCallDurationBounds_s, kPartsOfASecond);
  }
  catalog->Family("arclane_calls_in_flight", "Calls and streams not answered yet, by method.");
  for (size_t i = 0; i < methods.size(); ++i)
    methods[i].in_flight = catalog->AddSummedGauge({{"method", labels.methods[i]}});
}

void Metrics::Series::AddPlans(const MetricLabels& labels) {
  catalog->Family("arclane_plan_outcomes_total",
                  "Plans answered with status OK, by outcome; answers from the cache too.");
  outcomes = AddCounters("outcome", labels.outcomes);
  catalog->Family("arclane_stage_duration_seconds", "Time spent in each stage of a plan, seconds.");
  for (const std::string& stage : labels.stages) {
    stages.push_back(
        catalog->AddHistogram({{"stage", stage}}, kStageDurationBounds_s, kPartsOfASecond));
  }
  portals = AddCounts("arclane_plan_portals", "Portals of the corridors planned in.");
  samples = AddCounts("arclane_plan_samples", "Samples of the plans made.");
  batch_items = AddCounts("arclane_batch_items", "Items of the batches received.");
  catalog->Family("arclane_corners_total",
                  "Corners of the routes planned, by what became of them.");
  corner_kinds = AddCounters("kind", labels.corner_kinds);
  catalog->Family("arclane_corner_stops_total", "Corners that are stops, by why.");
  corner_stops = AddCounters("reason", labels.corner_stop_reasons);
}

void Metrics::Series::AddQueue(const MetricLabels& labels) {
  catalog->Family("arclane_shed_total",
                  "Plans refused or dropped before planning began, by reason.");
  shed = AddCounters("reason", labels.shed_reasons);
  catalog->Family("arclane_queued_plans", "Plans that wait for a thread.");
  queued_plans = catalog->AddSummedGauge();
  queued_plans_limit =
      AddGauge("arclane_queued_plans_limit", "Most plans that may wait for a thread.");
  catalog->Family("arclane_admitted_bytes", "Bytes of planning requests in the server.");
  admitted_bytes = catalog->AddSummedGauge();
  admitted_bytes_limit =
      AddGauge("arclane_admitted_bytes_limit", "Most bytes of planning requests in the server.");
  planner_threads = AddGauge("arclane_planner_threads", "Threads that plan.");
  usable_processors = AddGauge("arclane_usable_processors", "Processors that the process may use.");
  serving = AddGauge("arclane_serving", "1 while ready for calls, 0 before and while draining.");
}

void Metrics::Series::AddStore() {
  catalog->Family("arclane_store_commits_total",
                  "Commits to the store of navmeshes, by how they ended.");
  commits = {catalog->AddCounter({{"result", "failed"}}), catalog->AddCounter({{"result", "ok"}})};
  catalog->Family("arclane_store_commit_duration_seconds",
                  "Time of a commit to the store of navmeshes, seconds.");
  commit_duration = catalog->AddHistogram({}, kCommitDurationBounds_s, kPartsOfASecond);
}

void Metrics::Series::AddSecurity(const MetricLabels& labels) {
  certificate_expiry =
      AddGauge("arclane_tls_certificate_expiry_timestamp_seconds",
               "When the certificate in use expires, seconds since 1970; 0 without TLS.");
  catalog->Family("arclane_tls_reloads_total",
                  "Times that the certificate's files were read again, by how it ended.");
  reloads = {catalog->AddCounter({{"result", "failed"}}), catalog->AddCounter({{"result", "ok"}})};
  catalog->Family("arclane_authorization_denied_total",
                  "Calls refused because their caller may not make them, by method.");
  std::vector<std::string> denied_methods = labels.methods;
  denied_methods.emplace_back(kOtherMethod);
  denied = AddCounters("method", denied_methods);
}

void Metrics::Series::AddProcess(const BuildInfo& build) {
  catalog->Family("arclane_log_dropped_total", "Messages not logged, to bound their rate.");
  logs_dropped = catalog->AddCounter();
  catalog->Family("arclane_build_info", "Always 1; the labels tell the build.");
  catalog->AddGauge(
      {{"version", build.version}, {"commit", build.commit}, {"compiler", build.compiler}}, 1.0);
}

Metrics::Metrics(const BuildInfo& build, const MetricLabels& labels)
    : series_(std::make_unique<Series>(build, labels)) {}

Metrics::~Metrics() = default;

void Metrics::CallStarted(size_t method) { series_->Add(series_->methods[method].in_flight, 1); }

void Metrics::CallEnded(size_t method, int code, double duration_s) {
  StreamEnded(method, code);
  series_->ObserveDuration(series_->methods[method].duration, duration_s);
}

void Metrics::StreamStarted(size_t method) { CallStarted(method); }

void Metrics::StreamEnded(size_t method, int code) {
  const MethodSeries& series = series_->methods[method];
  const auto index = static_cast<size_t>(code);
  series_->Add(series.calls[index < kCodeNames.size() ? index : kUnknownCode], 1);
  series_->Add(series.in_flight, ~uint64_t{0});
}

void Metrics::Shed(size_t reason) { series_->Add(series_->shed[reason], 1); }
void Metrics::Outcome(size_t outcome, uint64_t plans) {
  series_->Add(series_->outcomes[outcome], plans);
}
void Metrics::Stage(size_t stage, double duration_s) {
  series_->ObserveDuration(series_->stages[stage], duration_s);
}
void Metrics::Portals(uint64_t count) { series_->ObserveCount(series_->portals, count); }
void Metrics::Samples(uint64_t count) { series_->ObserveCount(series_->samples, count); }
void Metrics::Corners(size_t kind, uint64_t count) {
  series_->Add(series_->corner_kinds[kind], count);
}
void Metrics::CornerStops(size_t reason, uint64_t count) {
  series_->Add(series_->corner_stops[reason], count);
}
void Metrics::Batch(uint64_t items) { series_->ObserveCount(series_->batch_items, items); }
void Metrics::QueueChanged(int plans) {
  series_->Add(series_->queued_plans, static_cast<uint64_t>(int64_t{plans}));
}
void Metrics::AdmittedChanged(int64_t bytes) {
  series_->Add(series_->admitted_bytes, static_cast<uint64_t>(bytes));
}

void Metrics::StoreCommitted(bool ok, double duration_s) {
  series_->Add(series_->commits[ok ? 1 : 0], 1);
  series_->ObserveDuration(series_->commit_duration, duration_s);
}

void Metrics::SetCertificateExpiry(double unix_s) { series_->certificate_expiry->store(unix_s); }
void Metrics::CertificateReloaded(bool ok) { series_->Add(series_->reloads[ok ? 1 : 0], 1); }
void Metrics::AuthorizationDenied(size_t method) {
  constexpr size_t kPermissionDenied = 7;
  if (method < series_->methods.size())
    series_->Add(series_->methods[method].calls[kPermissionDenied], 1);
  series_->Add(series_->denied[std::min(method, series_->denied.size() - 1)], 1);
}
void Metrics::LogsDropped(uint64_t messages) { series_->Add(series_->logs_dropped, messages); }

void Metrics::SetCapacity(int planner_threads, size_t queued_plans_limit,
                          double admitted_bytes_limit) {
  series_->planner_threads->store(planner_threads);
  series_->queued_plans_limit->store(static_cast<double>(queued_plans_limit));
  series_->admitted_bytes_limit->store(admitted_bytes_limit);
}

void Metrics::SetUsableProcessors(double processors) {
  series_->usable_processors->store(processors);
}
void Metrics::SetServing(bool serving) { series_->serving->store(serving ? 1 : 0); }

void Metrics::SetNavMeshSource(std::function<NavMeshNumbers()> source) {
  series_->navmeshes->SetSource(std::move(source));
}
void Metrics::SetWaitSource(std::function<double()> source) {
  series_->wait->SetSource(std::move(source));
}

std::string Metrics::Text() const {
  std::vector<prometheus::MetricFamily> families;
  for (const auto& collectable : series_->Collectables()) {
    for (prometheus::MetricFamily& family : collectable->Collect())
      families.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(families);
}

struct MetricsEndpoint::State {
  std::unique_ptr<prometheus::Exposer> exposer;
  std::vector<std::shared_ptr<prometheus::Collectable>> collectables;  // Borrowed by the exposer.
};

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Start(const std::string& address,
                                                                        const Metrics& metrics,
                                                                        MetricsAccess access) {
  auto state = std::make_unique<State>();
  state->collectables = metrics.series_->Collectables();
  try {
    state->exposer = std::make_unique<prometheus::Exposer>(address);
    if (access != nullptr) state->exposer->RegisterAuth(std::move(access), "arclane");
    for (const auto& collectable : state->collectables)
      state->exposer->RegisterCollectable(collectable);
  } catch (const std::exception&) {
    return absl::UnavailableError("cannot serve metrics on " + address +
                                  ": the address is in use, not allowed or not this machine's");
  }
  return std::unique_ptr<MetricsEndpoint>(new MetricsEndpoint(std::move(state)));
}

MetricsEndpoint::MetricsEndpoint(std::unique_ptr<State> state) : state_(std::move(state)) {}
MetricsEndpoint::~MetricsEndpoint() = default;
int MetricsEndpoint::port() const { return state_->exposer->GetListeningPorts().at(0); }

}  // namespace arclane
