// SPDX-License-Identifier: Apache-2.0
// arclane-load: load for a path-planning service, and what it costs. See --help.
#include <atomic>
#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "client/cli/output_file.h"
#include "client/loadgen/latency_plot.h"
#include "client/loadgen/load_flags.h"
#include "client/loadgen/load_report.h"
#include "client/loadgen/load_run.h"
#include "client/loadgen/request_mix.h"

namespace {

constexpr int kMeasured = 0, kNothingMeasured = 1, kWrongFlags = 2;

std::atomic<bool> stop_asked = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void AskToStop(int) { stop_asked = true; }

std::string Picture(const arclane::LoadOptions& options, const arclane::LoadReport& report) {
  std::vector<arclane::LatencyCurve> curves;
  for (size_t part = 0; part < report.names.size(); ++part) {
    curves.push_back({report.names[part], &report.plans[part].latency, false});
    curves.push_back({"Ping of the same bytes", &report.pings[part].latency, true});
  }
  return arclane::PlotLatencies("Latency by percentile", arclane::DescribeLoad(options), curves);
}

// False, with the reason told, when it could not be written.
bool WriteTo(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  auto file = arclane::OutputFile::Open(path, std::cout);
  absl::Status status = file.status();
  if (file.ok()) {
    file->stream() << text;
    status = file->Close();
  }
  if (!status.ok()) std::cerr << "arclane-load: " << status.message() << '\n';
  return status.ok();
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = arclane::ReadLoadFlags(argc, argv);
  if (!options.ok()) {
    std::cerr << options.status().message() << "\nSee arclane-load --help.\n";
    return kWrongFlags;
  }
  auto mix = arclane::BuildRequestMix(*options, std::cin);
  if (!mix.ok()) {
    std::cerr << mix.status().message() << '\n';
    return kWrongFlags;
  }
  std::signal(SIGINT, AskToStop);
  std::signal(SIGTERM, AskToStop);
  const auto report = arclane::RunLoad(*options, *std::move(mix), stop_asked, std::cerr);
  if (!report.ok()) {
    std::cerr << "arclane-load: " << report.status().message() << '\n';
    return kNothingMeasured;
  }
  const bool to_standard_output =
      options->json_file == "-" || options->csv_file == "-" || options->svg_file == "-";
  (to_standard_output ? std::cerr : std::cout) << arclane::ReportAsText(*options, *report);
  bool written = WriteTo(options->json_file, arclane::ReportAsJson(*options, *report));
  written = WriteTo(options->csv_file, arclane::ReportAsCsv(*report)) && written;
  written = WriteTo(options->svg_file, Picture(*options, *report)) && written;
  return report->all_plans.ok() > 0 && written ? kMeasured : kNothingMeasured;
}
