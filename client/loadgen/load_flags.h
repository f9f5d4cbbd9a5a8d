// SPDX-License-Identifier: Apache-2.0
// The command line of arclane-load.
#ifndef ARCLANE_CLIENT_LOADGEN_LOAD_FLAGS_H_
#define ARCLANE_CLIENT_LOADGEN_LOAD_FLAGS_H_

#include "absl/status/statusor.h"
#include "client/loadgen/load_options.h"

namespace arclane {

// Reads the flags; dashes and underscores in their names are the same. Prints and exits for --help
// and --version; returns INVALID_ARGUMENT with every error, unknown flags included, one a line.
// Call it once, at the start of main.
absl::StatusOr<LoadOptions> ReadLoadFlags(int argc, char** argv);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_LOAD_FLAGS_H_
