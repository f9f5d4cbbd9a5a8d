// SPDX-License-Identifier: Apache-2.0
#include "client/cli/output_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace arclane {

OutputFile::OutputFile(std::string path, std::ostream& standard_output)
    : path_(std::move(path)), standard_output_(&standard_output) {}

absl::StatusOr<OutputFile> OutputFile::Open(const std::string& path,
                                            std::ostream& standard_output) {
  OutputFile output(path, standard_output);
  if (path.empty() || path == "-") return output;
  std::error_code error;
  output.made_ = !std::filesystem::exists(path, error);
  errno = 0;
  output.file_ = std::make_unique<std::ofstream>(path, std::ios::binary | std::ios::app);
  if (!*output.file_) {
    return absl::PermissionDeniedError(absl::StrCat("cannot write ", path, errno == 0 ? "" : ": ",
                                                    errno == 0 ? "" : std::strerror(errno)));
  }
  return output;
}

OutputFile::~OutputFile() {
  if (file_ == nullptr || !made_) return;
  file_->flush();
  std::error_code error;
  if (std::filesystem::is_regular_file(path_, error) &&
      std::filesystem::file_size(path_, error) == 0 && !error) {
    std::filesystem::remove(path_, error);
  }
}

std::ostream& OutputFile::stream() {
  if (file_ == nullptr) return *standard_output_;
  if (!std::exchange(begun_, true)) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path_, error))
      std::filesystem::resize_file(path_, 0, error);
    if (error) file_->setstate(std::ios::badbit);
  }
  return *file_;
}

absl::Status OutputFile::Close() {
  stream().flush();
  made_ = false;
  if (stream()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("cannot write all of ", file_ ? path_ : std::string("the standard output")));
}

}  // namespace arclane
