// SPDX-License-Identifier: Apache-2.0
#include "server/service/socket_file.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace arclane {
namespace {

constexpr absl::string_view kScheme = "unix:";
// The kernel's room for a path, without the zero behind it.
constexpr size_t kMostPathBytes = sizeof(sockaddr_un::sun_path) - 1;

absl::Status Refused(absl::string_view why) { return absl::UnavailableError(why); }

// gRPC reads addresses as parts of URIs.
std::string PercentDecoded(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && absl::ascii_isxdigit(text[i + 1]) &&
        absl::ascii_isxdigit(text[i + 2])) {
      decoded += absl::HexStringToBytes(text.substr(i + 1, 2));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

// The error number of connecting to the socket; 0 when somebody listens.
int TryToConnect(const std::string& path) {
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (probe < 0) return errno;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int error =
      connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ? 0 : errno;
  close(probe);
  // A listener whose queue is full does listen.
  return error == EAGAIN || error == EINPROGRESS ? 0 : error;
}

}  // namespace

bool IsUnixAddress(const std::string& address) { return absl::StartsWith(address, kScheme); }

absl::StatusOr<std::unique_ptr<SocketFile>> SocketFile::Prepare(const std::string& address) {
  const std::string path = PercentDecoded(absl::string_view(address).substr(kScheme.size()));
  if (path.size() > kMostPathBytes) {
    return Refused(absl::StrCat("the path has ", path.size(), " bytes, a socket's has at most ",
                                kMostPathBytes));
  }
  const size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const int folder = open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    if (errno == ENOENT) return Refused(absl::StrCat("its folder ", parent, " does not exist"));
    return Refused(absl::StrCat("its folder ", parent, ": ", std::strerror(errno)));
  }
  std::unique_ptr<SocketFile> file(new SocketFile(folder, path, name));
  bool stale = false;
  if (absl::Status status = file->Check(stale); !status.ok()) return status;
  if (faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) != 0) {
    return Refused(
        absl::StrCat("no file can be made in its folder ", parent, ": ", std::strerror(errno)));
  }
  return file;
}

SocketFile::SocketFile(int folder, std::string path, std::string name)
    : folder_(folder), path_(std::move(path)), name_(std::move(name)) {
  // Named so that no two servers choose the same, in containers with equal process ids neither; by
  // the folder's descriptor, because it may not be longer than the path.
  std::random_device random;
  draft_name_ = absl::StrFormat(".arclane-%08x%08x", random(), random());
  draft_address_ = absl::StrCat(kScheme, "/proc/self/fd/", folder_, "/", draft_name_);
}

SocketFile::~SocketFile() {
  Remove();
  close(folder_);
}

absl::Status SocketFile::Check(bool& stale) const {
  stale = false;
  struct stat found {};
  if (name_.empty() || name_ == "." || name_ == "..") return Refused("Is a directory");
  if (fstatat(folder_, name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? absl::OkStatus() : Refused(std::strerror(errno));
  }
  if (S_ISDIR(found.st_mode)) return Refused("Is a directory");
  if (!S_ISSOCK(found.st_mode)) {
    return Refused("a file that is no socket stands there; it is left as it is");
  }
  switch (const int error = TryToConnect(path_)) {
    case 0:
      return Refused("Address already in use");
    case ECONNREFUSED:
      stale = true;
      return absl::OkStatus();
    case ENOENT:
      return absl::OkStatus();
    default:
      return Refused(
          absl::StrCat("a socket stands there, and whether it is in use cannot be told: ",
                       std::strerror(error)));
  }
}

absl::Status SocketFile::Publish() {
  struct stat draft {};
  if (fstatat(folder_, draft_name_.c_str(), &draft, AT_SYMLINK_NOFOLLOW) != 0) {
    return Refused(std::strerror(errno));
  }
  bool stale = false;
  if (absl::Status status = Check(stale); !status.ok()) return status;
  if (stale && unlinkat(folder_, name_.c_str(), 0) != 0 && errno != ENOENT) {
    return Refused(absl::StrCat("the socket of a server that is gone cannot be removed: ",
                                std::strerror(errno)));
  }
  // Of two servers that start at the same time one comes second here.
  int renamed = renameat2(folder_, draft_name_.c_str(), folder_, name_.c_str(), RENAME_NOREPLACE);
  if (renamed != 0 && (errno == EINVAL || errno == ENOSYS)) {
    renamed = renameat(folder_, draft_name_.c_str(), folder_, name_.c_str());
  }
  if (renamed != 0) {
    return Refused(errno == EEXIST ? "Address already in use" : std::strerror(errno));
  }
  published_ = true;
  device_ = draft.st_dev;
  inode_ = draft.st_ino;
  return absl::OkStatus();
}

void SocketFile::Remove() {
  if (!published_) {
    unlinkat(folder_, draft_name_.c_str(), 0);
    return;
  }
  if (inode_ == 0) return;
  struct stat found {};
  if (fstatat(folder_, name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
      found.st_dev == device_ && found.st_ino == inode_) {
    unlinkat(folder_, name_.c_str(), 0);
  }
  inode_ = 0;
}

}  // namespace arclane
