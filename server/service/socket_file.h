// SPDX-License-Identifier: Apache-2.0
// The file of a Unix socket that is listened on: it is never taken from a server that lives, and
// only the one that was made here is removed.
//
// gRPC removes whatever socket stands at the path when it binds, and again when it ends. So it is
// given a path of its own in the same folder, the draft; what it bound there is renamed to the path
// that clients know.
#ifndef ARCLANE_SERVER_SERVICE_SOCKET_FILE_H_
#define ARCLANE_SERVER_SERVICE_SOCKET_FILE_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace arclane {

// unix:PATH.
bool IsUnixAddress(const std::string& address);

// Not thread-safe.
class SocketFile {
 public:
  // For an address of the form unix:PATH, with %XX as gRPC reads it. UNAVAILABLE, with the reason
  // alone, when the path is too long for a socket, its folder is missing or may not be written to,
  // a socket that is answered stands there ("Address already in use"), or anything that is no
  // socket. Changes nothing yet.
  static absl::StatusOr<std::unique_ptr<SocketFile>> Prepare(const std::string& address);
  // Remove().
  ~SocketFile();
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

  // Where to bind instead.
  const std::string& draft_address() const { return draft_address_; }
  // Puts the socket that was bound to the draft at its path, in place of one that nobody answers.
  // Errors as above: something else may have come there meanwhile.
  absl::Status Publish();
  // Removes the published socket unless another has taken its place, and a draft that was not
  // published. To be called while it is still listened on: until then no other file can get its
  // inode. Once is enough.
  void Remove();

 private:
  SocketFile(int folder, std::string path, std::string name);
  // OK when nothing stands there, or a socket that nobody answers.
  absl::Status Check(bool& stale) const;

  const int folder_;  // An open descriptor.
  const std::string path_;
  const std::string name_;  // In the folder.
  std::string draft_name_;
  std::string draft_address_;
  bool published_ = false;
  dev_t device_ = 0;  // Of the published socket.
  ino_t inode_ = 0;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_SOCKET_FILE_H_
