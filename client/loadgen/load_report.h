// SPDX-License-Identifier: Apache-2.0
// The report of a load run: for people, as JSON and as CSV.
#ifndef ARCLANE_CLIENT_LOADGEN_LOAD_REPORT_H_
#define ARCLANE_CLIENT_LOADGEN_LOAD_REPORT_H_

#include <string>
#include <vector>

#include "client/loadgen/load_options.h"
#include "client/loadgen/load_run.h"

namespace arclane {

// Percentiles of every report.
inline constexpr double kReportedPercents[] = {50, 75, 90, 95, 99, 99.9, 99.99};

// "closed loop, 8 in flight, unary, 1 connection, 1 thread".
std::string DescribeLoad(const LoadOptions& options);

// A table of the series with their ratios to Ping, errors by code, and the warnings.
std::string ReportAsText(const LoadOptions& options, const LoadReport& report);

// One object: "load" (the options), "series" (an array; each plan series is followed by the Pings
// of the same bytes), "ratios" (plans over Pings, all parts together), "timeline", "warnings".
// Latencies are microseconds.
std::string ReportAsJson(const LoadOptions& options, const LoadReport& report);

// A header and one line a series.
std::string ReportAsCsv(const LoadReport& report);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_LOAD_REPORT_H_
