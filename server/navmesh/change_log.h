// SPDX-License-Identifier: Apache-2.0
// The latest changes of one scope (a navmesh or a world) under contiguous epochs, for those who
// watch it and for requests that are sent again.
#ifndef ARCLANE_SERVER_NAVMESH_CHANGE_LOG_H_
#define ARCLANE_SERVER_NAVMESH_CHANGE_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/digest/digest.h"
#include "server/navmesh/ids.h"
#include "server/navmesh/mutex.h"
#include "server/navmesh/state_overlay.h"

namespace arclane {

enum class ChangeType : uint8_t {
  kPublished = 1,
  kTilesUpdated = 2,  // A version made from `base_version` by replacing tiles.
  kActivated = 3,
  kRetired = 4,
  kDeleted = 5,       // By request or because newer versions needed its place.
  kStateChanged = 6,  // Gates, links or area costs.
  kMoved = 7,         // A world now stands on `version`.
};

struct ChangeRecord {
  Epoch epoch;
  ChangeType type = ChangeType::kStateChanged;
  NavMeshVersion version;
  NavMeshVersion base_version;                  // kTilesUpdated: the version that it was made from.
  std::vector<StateChange> changes;             // kStateChanged.
  std::vector<TileCoordinates> replaced_tiles;  // kTilesUpdated: replaced, added and removed.
  ContentDigest
      request;  // Digest of the request id and, apart, of what was asked: kStateChanged only.
  ContentDigest content;

  size_t ByteSize() const;
  std::string Encode() const;
  static std::shared_ptr<const ChangeRecord> Decode(std::string_view bytes);
};

// Thread-safe. Bounded: the oldest records go when there are more than `max_records`.
class ChangeLog {
 public:
  ChangeLog(Epoch last, size_t max_records) : max_records_(max_records), last_(last) {}

  // `record.epoch` must be last + 1. Then tells every listener.
  void Append(std::shared_ptr<const ChangeRecord> record);
  // The scope is gone: listeners are told, readers see it.
  void Close();

  Epoch last() const;
  // The change that a request with this digest made, while it is remembered.
  std::shared_ptr<const ChangeRecord> FindRequest(const ContentDigest& request) const;

  struct Changes {
    bool too_far_behind = false;  // Records after `known` are no longer all here.
    bool closed = false;          // And nothing is left to read.
    std::vector<std::shared_ptr<const ChangeRecord>> records;
    Epoch last;
  };
  // Up to `max_count` records after `known`.
  Changes ReadAfter(Epoch known, size_t max_count) const;

  // Called after every Append and Close, from the thread that makes the change: must be quick and
  // must not call the log. After RemoveListener has returned it is not called any more.
  uint64_t AddListener(std::function<void()> listener);
  void RemoveListener(uint64_t id);

 private:
  void Notify();

  const size_t max_records_;
  mutable Mutex mutex_;
  Epoch last_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<std::shared_ptr<const ChangeRecord>> records_ ABSL_GUARDED_BY(mutex_);
  Mutex listeners_mutex_;
  uint64_t next_listener_ ABSL_GUARDED_BY(listeners_mutex_) = 1;
  std::vector<std::pair<uint64_t, std::function<void()>>> listeners_
      ABSL_GUARDED_BY(listeners_mutex_);
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_CHANGE_LOG_H_
