// SPDX-License-Identifier: Apache-2.0
#include "server/files/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

constexpr size_t kBlockBytes = 64 << 10;

absl::Status CannotRead(const std::string& path, int error) {
  return absl::InvalidArgumentError(absl::StrCat("cannot read ", path, ": ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path, size_t most_bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return CannotRead(path, errno);
  const absl::Cleanup close_file = [file] { close(file); };
  struct stat about {};
  std::string bytes;
  // Of a pipe or a file of /proc the size is 0.
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
    bytes.reserve(std::min(static_cast<size_t>(about.st_size), most_bytes));
  }
  char block[kBlockBytes];
  while (true) {
    const ssize_t count = read(file, block, sizeof(block));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return CannotRead(path, errno);
    if (count == 0) return bytes;
    if (static_cast<size_t>(count) > most_bytes - bytes.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot read ", path, ": it has more than ", most_bytes, " bytes"));
    }
    bytes.append(block, static_cast<size_t>(count));
  }
}

}  // namespace arclane
