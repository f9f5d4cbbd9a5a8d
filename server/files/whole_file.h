// SPDX-License-Identifier: Apache-2.0
// The bytes of a file. Whatever stands at the path, the answer is a status: streams of the standard
// library throw when they are read from a directory.
#ifndef ARCLANE_SERVER_FILES_WHOLE_FILE_H_
#define ARCLANE_SERVER_FILES_WHOLE_FILE_H_

#include <cstddef>
#include <limits>
#include <string>

#include "absl/status/statusor.h"

namespace arclane {

// Reads to the end; pipes too, for as long as their writers live. INVALID_ARGUMENT names the path
// and why: "cannot read /a: No such file or directory", "cannot read /tmp: Is a directory", or
// that it has more than `most_bytes`, of which no more is read.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path,
                                          size_t most_bytes = std::numeric_limits<size_t>::max());

}  // namespace arclane

#endif  // ARCLANE_SERVER_FILES_WHOLE_FILE_H_
