// SPDX-License-Identifier: Apache-2.0
// arclane-load: load for a path-planning service, and what it costs. See --help.
#include <atomic>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
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

void Complain(const absl::Status& status) {
  std::cerr << "arclane-load: " << status.message() << '\n';
}

// A file of the report, opened before the load: nobody is to wait for a report that cannot be
// written.
class ReportFile {
 public:
  // An empty path: no file. False, with the reason told, when it cannot be opened.
  bool Open(const std::string& path) {
    if (path.empty()) return true;
    auto opened = arclane::OutputFile::Open(path, std::cout);
    if (!opened.ok()) {
      Complain(opened.status());
      return false;
    }
    file_ = *std::move(opened);
    return true;
  }
  // `make` makes the text, if it is asked for. False, with the reason told, when it could not be
  // written.
  template <typename Make>
  bool Write(Make make) {
    if (!file_) return true;
    file_->stream() << make();
    const absl::Status status = file_->Close();
    if (!status.ok()) Complain(status);
    return status.ok();
  }

 private:
  std::optional<arclane::OutputFile> file_;
};

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
  ReportFile json, csv, svg;
  const bool json_opens = json.Open(options->json_file), csv_opens = csv.Open(options->csv_file),
             svg_opens = svg.Open(options->svg_file);
  if (!json_opens || !csv_opens || !svg_opens) return kWrongFlags;
  std::signal(SIGINT, AskToStop);
  std::signal(SIGTERM, AskToStop);
  const auto report = arclane::RunLoad(*options, *std::move(mix), stop_asked, std::cerr);
  if (!report.ok()) {
    Complain(report.status());
    return kNothingMeasured;
  }
  const bool to_standard_output =
      options->json_file == "-" || options->csv_file == "-" || options->svg_file == "-";
  (to_standard_output ? std::cerr : std::cout) << arclane::ReportAsText(*options, *report);
  bool written = json.Write([&] { return arclane::ReportAsJson(*options, *report); });
  written = csv.Write([&] { return arclane::ReportAsCsv(*report); }) && written;
  written = svg.Write([&] { return Picture(*options, *report); }) && written;
  return report->all_plans.ok() > 0 && written ? kMeasured : kNothingMeasured;
}
