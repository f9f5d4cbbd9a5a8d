// SPDX-License-Identifier: Apache-2.0
#include "client/cli/output_file.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace arclane {

OutputFile::OutputFile(std::string path, std::ostream& standard_output)
    : path_(std::move(path)), standard_output_(&standard_output) {}

absl::StatusOr<OutputFile> OutputFile::Open(const std::string& path,
                                            std::ostream& standard_output) {
  OutputFile output(path, standard_output);
  if (path.empty() || path == "-") return output;
  output.file_ = std::make_unique<std::ofstream>(path, std::ios::binary);
  if (!*output.file_) return absl::PermissionDeniedError(absl::StrCat("cannot write ", path));
  return output;
}

absl::Status OutputFile::Close() {
  stream().flush();
  if (stream()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("cannot write all of ", file_ ? path_ : std::string("the standard output")));
}

}  // namespace arclane
