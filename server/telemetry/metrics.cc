// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>
#include <utility>

#include "server/telemetry/navmesh_metrics.h"
#include "server/telemetry/process_metrics.h"

namespace arclane {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;

constexpr std::array<std::string_view, 17> kCodeNames = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};
constexpr size_t kUnknownCode = 2;

// From a hit's few microseconds to a plan that should long have been refused.
const Histogram::BucketBoundaries& DurationBounds() {
  static const auto* const bounds =
      new Histogram::BucketBoundaries{10e-6,  25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3,
                                      2.5e-3, 5e-3,  10e-3, 25e-3,  50e-3,  100e-3, 1.0};
  return *bounds;
}

struct MethodSeries {
  std::array<Counter*, kCodeNames.size()> calls{};
  Histogram* duration = nullptr;
  Gauge* in_flight = nullptr;
};

}  // namespace

struct Metrics::Series {
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  std::shared_ptr<ProcessMetrics> process = std::make_shared<ProcessMetrics>();
  std::shared_ptr<NavMeshMetrics> navmeshes = std::make_shared<NavMeshMetrics>();
  std::vector<MethodSeries> methods;
  std::vector<Counter*> outcomes;
  std::vector<Counter*> shed;
  std::vector<Counter*> denied;  // One more than methods.
  std::array<Counter*, 2> certificate_reloads{};
  Counter* logs_dropped = nullptr;
  Gauge* certificate_expiry = nullptr;
  std::vector<Histogram*> stages;
  Gauge* queued_plans = nullptr;
  Gauge* queued_plans_limit = nullptr;
  Gauge* admitted_bytes = nullptr;
  Gauge* admitted_bytes_limit = nullptr;
  Gauge* planner_threads = nullptr;
  Gauge* serving = nullptr;

  Gauge* SingleGauge(const char* name, const char* help) {
    return &prometheus::BuildGauge().Name(name).Help(help).Register(*registry).Add({});
  }
};

Metrics::Metrics(const BuildInfo& build, const MetricLabels& labels)
    : series_(std::make_unique<Series>()) {
  Series& s = *series_;
  auto& calls = prometheus::BuildCounter()
                    .Name("arclane_calls_total")
                    .Help("Calls answered, by method and status code.")
                    .Register(*s.registry);
  auto& durations = prometheus::BuildHistogram()
                        .Name("arclane_call_duration_seconds")
                        .Help(
                            "Time from a call's arrival to its answer, by method, seconds. Streams "
                            "are not counted.")
                        .Register(*s.registry);
  auto& in_flight = prometheus::BuildGauge()
                        .Name("arclane_calls_in_flight")
                        .Help("Calls and streams not answered yet, by method.")
                        .Register(*s.registry);
  for (const std::string& method : labels.methods) {
    MethodSeries& series = s.methods.emplace_back();
    for (size_t code = 0; code < kCodeNames.size(); ++code) {
      series.calls[code] =
          &calls.Add({{"method", method}, {"code", std::string(kCodeNames[code])}});
    }
    series.duration = &durations.Add({{"method", method}}, DurationBounds());
    series.in_flight = &in_flight.Add({{"method", method}});
  }
  auto& outcomes = prometheus::BuildCounter()
                       .Name("arclane_plan_outcomes_total")
                       .Help("Plans answered with status OK, by outcome.")
                       .Register(*s.registry);
  for (const std::string& outcome : labels.outcomes)
    s.outcomes.push_back(&outcomes.Add({{"outcome", outcome}}));
  auto& shed = prometheus::BuildCounter()
                   .Name("arclane_shed_total")
                   .Help("Plans refused or dropped before planning began, by reason.")
                   .Register(*s.registry);
  for (const std::string& reason : labels.shed_reasons)
    s.shed.push_back(&shed.Add({{"reason", reason}}));
  auto& stages = prometheus::BuildHistogram()
                     .Name("arclane_stage_duration_seconds")
                     .Help("Time spent in each stage of a plan, seconds.")
                     .Register(*s.registry);
  for (const std::string& stage : labels.stages) {
    s.stages.push_back(&stages.Add({{"stage", stage}}, DurationBounds()));
  }
  auto& denied = prometheus::BuildCounter()
                     .Name("arclane_authorization_denied_total")
                     .Help("Calls refused because their caller may not use the method.")
                     .Register(*s.registry);
  for (const std::string& method : labels.methods)
    s.denied.push_back(&denied.Add({{"method", method}}));
  s.denied.push_back(&denied.Add({{"method", "other"}}));
  auto& reloads = prometheus::BuildCounter()
                      .Name("arclane_tls_reloads_total")
                      .Help("Times that the certificate's files were read again, by how it ended.")
                      .Register(*s.registry);
  s.certificate_reloads = {&reloads.Add({{"result", "failed"}}), &reloads.Add({{"result", "ok"}})};
  s.logs_dropped = &prometheus::BuildCounter()
                        .Name("arclane_log_dropped_total")
                        .Help("Messages not logged, to bound their rate.")
                        .Register(*s.registry)
                        .Add({});
  s.certificate_expiry =
      s.SingleGauge("arclane_tls_certificate_expiry_timestamp_seconds",
                    "When the certificate in use expires, seconds since 1970; 0 without TLS.");
  s.queued_plans = s.SingleGauge("arclane_queued_plans", "Plans that wait for a thread.");
  s.queued_plans_limit =
      s.SingleGauge("arclane_queued_plans_limit", "Most plans that may wait for a thread.");
  s.admitted_bytes =
      s.SingleGauge("arclane_admitted_bytes", "Bytes of planning requests in the server.");
  s.admitted_bytes_limit = s.SingleGauge("arclane_admitted_bytes_limit",
                                         "Most bytes of planning requests in the server.");
  s.planner_threads = s.SingleGauge("arclane_planner_threads", "Threads that plan.");
  s.serving =
      s.SingleGauge("arclane_serving", "1 while ready for calls, 0 before and while draining.");
  prometheus::BuildGauge()
      .Name("arclane_build_info")
      .Help("Always 1; the labels tell the build.")
      .Register(*s.registry)
      .Add({{"version", build.version}, {"commit", build.commit}, {"compiler", build.compiler}})
      .Set(1);
}

Metrics::~Metrics() = default;

void Metrics::CallStarted(size_t method) { series_->methods[method].in_flight->Increment(); }

void Metrics::CallEnded(size_t method, int code, double duration_s) {
  StreamEnded(method, code);
  series_->methods[method].duration->Observe(duration_s);
}

void Metrics::StreamStarted(size_t method) { CallStarted(method); }

void Metrics::StreamEnded(size_t method, int code) {
  MethodSeries& series = series_->methods[method];
  const auto index = static_cast<size_t>(code);
  series.calls[index < kCodeNames.size() ? index : kUnknownCode]->Increment();
  series.in_flight->Decrement();
}

void Metrics::Shed(size_t reason) { series_->shed[reason]->Increment(); }
void Metrics::Outcome(size_t outcome) { series_->outcomes[outcome]->Increment(); }
void Metrics::Stage(size_t stage, double duration_s) {
  series_->stages[stage]->Observe(duration_s);
}
void Metrics::QueueChanged(int plans) { series_->queued_plans->Increment(plans); }
void Metrics::AdmittedChanged(double bytes) { series_->admitted_bytes->Increment(bytes); }

void Metrics::SetCertificateExpiry(double unix_s) { series_->certificate_expiry->Set(unix_s); }
void Metrics::CertificateReloaded(bool ok) {
  series_->certificate_reloads[ok ? 1 : 0]->Increment();
}
void Metrics::AuthorizationDenied(size_t method) {
  series_->denied[std::min(method, series_->denied.size() - 1)]->Increment();
}
void Metrics::LogsDropped(uint64_t messages) {
  series_->logs_dropped->Increment(static_cast<double>(messages));
}

void Metrics::SetCapacity(int planner_threads, size_t queued_plans_limit,
                          double admitted_bytes_limit) {
  series_->planner_threads->Set(planner_threads);
  series_->queued_plans_limit->Set(static_cast<double>(queued_plans_limit));
  series_->admitted_bytes_limit->Set(admitted_bytes_limit);
}

void Metrics::SetServing(bool serving) { series_->serving->Set(serving ? 1 : 0); }

void Metrics::SetNavMeshSource(std::function<NavMeshNumbers()> source) {
  series_->navmeshes->SetSource(std::move(source));
}

std::string Metrics::Text() const {
  std::vector<prometheus::MetricFamily> families = series_->registry->Collect();
  for (prometheus::MetricFamily& family : series_->navmeshes->Collect())
    families.push_back(std::move(family));
  for (prometheus::MetricFamily& family : series_->process->Collect())
    families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

struct MetricsEndpoint::State {
  std::unique_ptr<prometheus::Exposer> exposer;
  std::shared_ptr<prometheus::Registry> registry;
  std::shared_ptr<NavMeshMetrics> navmeshes;
  std::shared_ptr<ProcessMetrics> process;
};

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Start(const std::string& address,
                                                                        const Metrics& metrics,
                                                                        MetricsAccess access) {
  auto state = std::make_unique<State>();
  state->registry = metrics.series_->registry;
  state->navmeshes = metrics.series_->navmeshes;
  state->process = metrics.series_->process;
  try {
    state->exposer = std::make_unique<prometheus::Exposer>(address);
    if (access != nullptr) state->exposer->RegisterAuth(std::move(access), "arclane");
    state->exposer->RegisterCollectable(state->registry);
    state->exposer->RegisterCollectable(state->navmeshes);
    state->exposer->RegisterCollectable(state->process);
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
