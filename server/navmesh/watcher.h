// SPDX-License-Identifier: Apache-2.0
// Follows the changes of a navmesh or a world. A watcher holds a position in the log and no queue
// of its own: however slowly it is polled, it costs no memory, and when it falls out of the log it
// is cut off and told so.
#ifndef ARCLANE_SERVER_NAVMESH_WATCHER_H_
#define ARCLANE_SERVER_NAVMESH_WATCHER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/navmesh/change_log.h"
#include "server/navmesh/registry_types.h"

namespace arclane {

struct WatchRequest {
  std::string_view navmesh_id;
  std::string_view world_id;  // Empty: the navmesh itself.
  std::optional<Epoch>
      known_epoch;            // The last one that the client has seen. Unset: it knows nothing.
  LifeToken known_life = {};  // In which it saw that epoch. 0: it does not say.
};

struct WatchEvent {
  enum class Type {
    kSnapshot,  // Everything as of `epoch`: what was known before is void.
    kChange,    // One change; epochs follow one another without a gap.
    kSynced,    // All changes so far have been told.
    kCutOff,    // The reader was too slow; watching again gives a snapshot. The last event.
    kGone,      // The world was deleted. The last event.
  };
  Type type = Type::kChange;
  LifeToken life;  // Of what is watched.
  Epoch epoch;
  bool resync = false;  // kSnapshot: although the client named an epoch, which is too old, still to
                        // come or of another life.
  std::optional<NavMeshDescription> navmesh;
  std::optional<WorldDescription> world;
  std::shared_ptr<const ChangeRecord> change;
  std::string reason;
};

struct NavMeshEntry;
struct World;
class NavMeshRegistry;

// One thread at a time. Must not outlive the registry.
class NavMeshWatcher {
 public:
  ~NavMeshWatcher();
  // Up to `max_events` events; empty when there is nothing new. After kCutOff or kGone always
  // empty.
  std::vector<WatchEvent> Poll(size_t max_events);
  bool ended() const { return ended_; }

 private:
  friend class NavMeshRegistry;
  NavMeshWatcher(std::shared_ptr<NavMeshEntry> entry, std::shared_ptr<World> world,
                 std::shared_ptr<ChangeLog> log, const WatchRequest& request,
                 std::function<void()> on_ready);
  WatchEvent EventOf(WatchEvent::Type type) const;
  WatchEvent Snapshot(bool resync);
  WatchEvent End(WatchEvent::Type type, std::string reason);

  std::shared_ptr<NavMeshEntry> entry_;
  std::shared_ptr<World> world_;  // Null when the navmesh is watched.
  std::shared_ptr<ChangeLog> log_;
  const LifeToken life_;
  std::optional<Epoch> known_;
  const bool of_another_life_;  // What the client knows is.
  uint64_t listener_ = 0;
  bool started_ = false;
  bool synced_ = false;
  bool ended_ = false;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_WATCHER_H_
