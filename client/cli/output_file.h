// SPDX-License-Identifier: Apache-2.0
// Where answers go: the standard output, or a file.
#ifndef ARCLANE_CLIENT_CLI_OUTPUT_FILE_H_
#define ARCLANE_CLIENT_CLI_OUTPUT_FILE_H_

#include <fstream>
#include <memory>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace arclane {

class OutputFile {
 public:
  // "" and "-" write to `standard_output`, which must outlive the result. kPermissionDenied, with
  // the reason, when the file cannot be made or written to. To be called before work that takes
  // long: what the file holds stays until stream() is called.
  static absl::StatusOr<OutputFile> Open(const std::string& path, std::ostream& standard_output);

  OutputFile(OutputFile&&) = default;
  OutputFile& operator=(OutputFile&&) = default;
  // Removes a file that was made here and is still empty, unless it was closed.
  ~OutputFile();

  // The file is empty from the first call on.
  std::ostream& stream();
  // Writes out what is buffered; kDataLoss when not everything could be written. The last call.
  absl::Status Close();

 private:
  OutputFile(std::string path, std::ostream& standard_output);

  std::string path_;
  std::ostream* standard_output_;
  std::unique_ptr<std::ofstream> file_;
  bool made_ = false;   // There was no such file.
  bool begun_ = false;  // What it held is gone.
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_OUTPUT_FILE_H_
