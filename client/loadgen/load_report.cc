// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/load_report.h"

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace arclane {
namespace {

using Json = nlohmann::ordered_json;

struct ReportedSeries {
  std::string name;
  const SeriesStatistics* statistics;
  const TimeSpent* time;
  bool alone;  // Its calls are all that its time was spent on.
};

// Each part and its Pings; all parts together when there are several.
std::vector<ReportedSeries> SeriesOf(const LoadReport& report) {
  std::vector<ReportedSeries> series;
  const bool alone = report.names.size() == 1;
  for (size_t part = 0; part < report.names.size(); ++part) {
    series.push_back({report.names[part], &report.plans[part], &report.plan_time, alone});
    series.push_back(
        {"Ping beside " + report.names[part], &report.pings[part], &report.ping_time, alone});
  }
  if (!alone) {
    series.push_back({"all plans", &report.all_plans, &report.plan_time, true});
    series.push_back({"all pings", &report.all_pings, &report.ping_time, true});
  }
  return series;
}

double PerCall(double seconds, const SeriesStatistics& statistics) {
  return statistics.ended() == 0 ? 0.0 : 1e6 * seconds / static_cast<double>(statistics.ended());
}

double Mean(uint64_t sum, uint64_t count) {
  return count == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(count);
}

std::string PercentName(double percent) { return absl::StrFormat("p%g", percent); }

Json LatenciesOf(const LatencyHistogram& histogram) {
  Json latencies;
  latencies["min"] = static_cast<double>(histogram.min()) * 1e-3;
  latencies["mean"] = histogram.mean() * 1e-3;
  for (const double percent : kReportedPercents) {
    latencies[PercentName(percent)] = histogram.Percentile(percent) * 1e-3;
  }
  latencies["max"] = static_cast<double>(histogram.max()) * 1e-3;
  return latencies;
}

Json CodesOf(const SeriesStatistics& statistics) {
  Json codes = Json::object();
  for (const auto& [code, count] : statistics.codes) codes[CodeName(code)] = count;
  return codes;
}

double Rate(const SeriesStatistics& statistics, const TimeSpent& time) {
  return time.active_s > 0.0 ? static_cast<double>(statistics.ok()) / time.active_s : 0.0;
}

Json JsonOf(const ReportedSeries& series) {
  const SeriesStatistics& statistics = *series.statistics;
  Json json;
  json["name"] = series.name;
  json["calls"] = statistics.ended();
  json["ok"] = statistics.ok();
  json["failed"] = statistics.failed();
  json["codes"] = CodesOf(statistics);
  json["attempts"] = statistics.attempts;
  json["not_started"] = statistics.not_started;
  json["ok_per_s"] = Rate(statistics, *series.time);
  json["request_bytes"] = Mean(statistics.request_bytes, statistics.ended());
  json["response_bytes"] = Mean(statistics.response_bytes, statistics.ok());
  if (statistics.items_ok + statistics.items_failed > 0) {
    json["items_ok"] = statistics.items_ok;
    json["items_failed"] = statistics.items_failed;
    json["items_ok_per_s"] = static_cast<double>(statistics.items_ok) / series.time->active_s;
  }
  json["latency_us"] = LatenciesOf(statistics.latency);
  if (statistics.failed() > 0) json["failed_latency_us"] = LatenciesOf(statistics.failed_latency);
  if (statistics.start_lag.count() > 0) json["start_lag_us"] = LatenciesOf(statistics.start_lag);
  if (series.alone) {
    json["client_cpu_us_per_call"] = PerCall(series.time->client_cpu_s, statistics);
    if (series.time->server_cpu_s >= 0.0) {
      json["server_cpu_us_per_call"] = PerCall(series.time->server_cpu_s, statistics);
      if (statistics.items_ok > 0) {
        json["server_cpu_us_per_item"] =
            1e6 * series.time->server_cpu_s / static_cast<double>(statistics.items_ok);
      }
    }
  }
  return json;
}

double Ratio(double value, double baseline) { return baseline > 0.0 ? value / baseline : 0.0; }

Json RatiosOf(const LoadOptions& options, const LoadReport& report) {
  Json ratios;
  for (const double percent : kReportedPercents) {
    ratios[PercentName(percent)] = Ratio(report.all_plans.latency.Percentile(percent),
                                         report.all_pings.latency.Percentile(percent));
  }
  // Beside each other both kinds of calls share the processes' time.
  if (options.ping == PingTurns::kAlternate) {
    ratios["client_cpu_per_call"] = Ratio(PerCall(report.plan_time.client_cpu_s, report.all_plans),
                                          PerCall(report.ping_time.client_cpu_s, report.all_pings));
    if (report.plan_time.server_cpu_s >= 0.0) {
      ratios["server_cpu_per_call"] =
          Ratio(PerCall(report.plan_time.server_cpu_s, report.all_plans),
                PerCall(report.ping_time.server_cpu_s, report.all_pings));
    }
  }
  return ratios;
}

Json LoadAsJson(const LoadOptions& options, const LoadReport& report) {
  Json load;
  load["description"] = DescribeLoad(options);
  load["server"] = options.target;
  load["measured_s"] = report.measured_s;
  load["warm_up_s"] = absl::ToDoubleSeconds(options.warm_up);
  load["deadline_s"] = absl::ToDoubleSeconds(options.deadline);
  load["ping_share"] = options.ping_share;
  load["max_attempts"] = options.max_attempts;
  load["histogram_relative_error"] = LatencyHistogram::kRelativeError;
  return load;
}

std::string Counted(int count, const std::string& thing) {
  return absl::StrCat(count, " ", thing, count == 1 ? "" : "s");
}

// Milliseconds with three digits.
std::string Milliseconds(double nanoseconds) {
  const double ms = nanoseconds * 1e-6;
  return absl::StrFormat("%.*f", ms < 10 ? 3 : ms < 100 ? 2 : ms < 1000 ? 1 : 0, ms);
}

void AppendRow(const ReportedSeries& series, std::string& text) {
  const SeriesStatistics& statistics = *series.statistics;
  absl::StrAppendFormat(&text, "%-48s %9d %7d %10.0f", series.name.substr(0, 48),
                        statistics.ended(), statistics.failed(), Rate(statistics, *series.time));
  for (const double percent : {50.0, 90.0, 99.0, 99.9}) {
    absl::StrAppendFormat(&text, " %9s", Milliseconds(statistics.latency.Percentile(percent)));
  }
  absl::StrAppendFormat(&text, " %9s %9.0f %9.0f\n",
                        Milliseconds(static_cast<double>(statistics.latency.max())),
                        Mean(statistics.request_bytes, statistics.ended()),
                        Mean(statistics.response_bytes, statistics.ok()));
}

}  // namespace

std::string DescribeLoad(const LoadOptions& options) {
  std::string text;
  if (options.loop == LoadLoop::kOpen) {
    absl::StrAppendFormat(&text, "open loop, %g calls/s %s", options.rate,
                          options.arrivals == Arrivals::kPoisson ? "poisson" : "uniform");
  } else {
    absl::StrAppend(&text, "closed loop, ", options.concurrency, " in flight");
  }
  switch (options.shape) {
    case CallShape::kUnary:
      absl::StrAppend(&text, ", unary");
      break;
    case CallShape::kStream:
      absl::StrAppend(&text, ", stream");
      break;
    case CallShape::kBatch:
      absl::StrAppend(&text, ", batches of ", options.batch_size);
      break;
  }
  absl::StrAppend(&text, ", ", Counted(options.connections, "connection"), ", ",
                  Counted(options.threads, "thread"), ", pings ",
                  options.ping == PingTurns::kBeside ? "beside" : "in turn");
  return text;
}

std::string ReportAsText(const LoadOptions& options, const LoadReport& report) {
  std::string text =
      absl::StrFormat("%s; %.1f s measured\n\n", DescribeLoad(options), report.measured_s);
  absl::StrAppendFormat(&text, "%-48s %9s %7s %10s %9s %9s %9s %9s %9s %9s %9s\n", "", "calls",
                        "failed", "ok/s", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms",
                        "req B", "resp B");
  for (const ReportedSeries& series : SeriesOf(report)) AppendRow(series, text);
  absl::StrAppendFormat(&text, "%-77s", "ratio to Ping");
  for (const double percent : {50.0, 90.0, 99.0, 99.9}) {
    absl::StrAppendFormat(&text, " %9.3f",
                          Ratio(report.all_plans.latency.Percentile(percent),
                                report.all_pings.latency.Percentile(percent)));
  }
  absl::StrAppend(&text, "\n");
  const SeriesStatistics& plans = report.all_plans;
  if (plans.items_ok + plans.items_failed > 0) {
    absl::StrAppendFormat(&text, "items: %d OK, %d failed, %.0f OK/s\n", plans.items_ok,
                          plans.items_failed,
                          static_cast<double>(plans.items_ok) / report.plan_time.active_s);
  }
  if (plans.attempts > plans.ended()) {
    absl::StrAppendFormat(&text, "attempts: %d for %d calls\n", plans.attempts, plans.ended());
  }
  if (plans.start_lag.count() > 0) {
    absl::StrAppendFormat(&text, "start behind its time: p50 %s ms, p99 %s ms\n",
                          Milliseconds(plans.start_lag.Percentile(50)),
                          Milliseconds(plans.start_lag.Percentile(99)));
  }
  if (options.ping == PingTurns::kAlternate) {
    absl::StrAppendFormat(&text, "CPU us a call: client %.1f (Ping %.1f)",
                          PerCall(report.plan_time.client_cpu_s, plans),
                          PerCall(report.ping_time.client_cpu_s, report.all_pings));
    if (report.plan_time.server_cpu_s >= 0.0) {
      absl::StrAppendFormat(&text, ", server %.1f (Ping %.1f)",
                            PerCall(report.plan_time.server_cpu_s, plans),
                            PerCall(report.ping_time.server_cpu_s, report.all_pings));
    }
    absl::StrAppend(&text, "\n");
  }
  for (const auto& [code, count] : plans.codes) {
    if (code != 0) absl::StrAppend(&text, "  ", CodeName(code), ": ", count, "\n");
  }
  for (const std::string& warning : report.warnings) {
    absl::StrAppend(&text, "warning: ", warning, "\n");
  }
  return text;
}

std::string ReportAsJson(const LoadOptions& options, const LoadReport& report) {
  Json json;
  json["load"] = LoadAsJson(options, report);
  for (const ReportedSeries& series : SeriesOf(report)) json["series"].push_back(JsonOf(series));
  json["ratios"] = RatiosOf(options, report);
  for (const TimelineEntry& entry : report.timeline) {
    const IntervalStatistics& second = entry.statistics;
    json["timeline"].push_back({{"time_s", entry.time_s},
                                {"seconds", entry.seconds},
                                {"plans_ok", second.plan_latency.count()},
                                {"plans_p50_us", second.plan_latency.Percentile(50) * 1e-3},
                                {"plans_p99_us", second.plan_latency.Percentile(99) * 1e-3},
                                {"pings_ok", second.ping_latency.count()},
                                {"pings_p50_us", second.ping_latency.Percentile(50) * 1e-3},
                                {"pings_p99_us", second.ping_latency.Percentile(99) * 1e-3},
                                {"failed", second.failed},
                                {"in_flight", second.in_flight}});
  }
  json["warnings"] = report.warnings;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ReportAsCsv(const LoadReport& report) {
  std::string text =
      "series,calls,ok,failed,attempts,not_started,ok_per_s,request_bytes,response_bytes,min_us,"
      "mean_us";
  for (const double percent : kReportedPercents) {
    absl::StrAppend(&text, ",", PercentName(percent), "_us");
  }
  absl::StrAppend(&text, ",max_us\n");
  for (const ReportedSeries& series : SeriesOf(report)) {
    const SeriesStatistics& statistics = *series.statistics;
    absl::StrAppendFormat(
        &text, "\"%s\",%d,%d,%d,%d,%d,%.3f,%.1f,%.1f,%.3f,%.3f",
        absl::StrReplaceAll(series.name, {{"\"", "\"\""}}), statistics.ended(), statistics.ok(),
        statistics.failed(), statistics.attempts, statistics.not_started,
        Rate(statistics, *series.time), Mean(statistics.request_bytes, statistics.ended()),
        Mean(statistics.response_bytes, statistics.ok()),
        static_cast<double>(statistics.latency.min()) * 1e-3, statistics.latency.mean() * 1e-3);
    for (const double percent : kReportedPercents) {
      absl::StrAppendFormat(&text, ",%.3f", statistics.latency.Percentile(percent) * 1e-3);
    }
    absl::StrAppendFormat(&text, ",%.3f\n", static_cast<double>(statistics.latency.max()) * 1e-3);
  }
  return text;
}

}  // namespace arclane
