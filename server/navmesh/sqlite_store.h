// SPDX-License-Identifier: Apache-2.0
// A store in one SQLite file, in WAL mode with every commit synced. Each value lies beside its
// digest.
#ifndef ARCLANE_SERVER_NAVMESH_SQLITE_STORE_H_
#define ARCLANE_SERVER_NAVMESH_SQLITE_STORE_H_

#include <condition_variable>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/navmesh/navmesh_store.h"

struct sqlite3;
struct sqlite3_stmt;

namespace arclane {

// Commits that overlap share one transaction and one sync: while one is written, those that come
// wait and then go together.
class SqliteStore : public NavMeshStore {
 public:
  // Makes the file in `directory` (which must exist) where there is none. Fails when another
  // process has it open, when it is of another format, or when it cannot be read or written.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& directory);
  ~SqliteStore() override;

  absl::Status Commit(const StoreBatch& batch) override;
  absl::Status ForEach(
      const std::function<void(std::string_view, std::string_view, bool)>& visit) override;
  // Of the file and of the log beside it.
  uint64_t SizeBytes() const override;

 private:
  struct Waiting {
    const StoreBatch* batch = nullptr;
    absl::Status status;
    bool done = false;
  };

  SqliteStore(sqlite3* database, std::string path) : path_(std::move(path)), database_(database) {}
  absl::Status Prepare();
  absl::Status Write(const std::vector<Waiting*>& group);
  absl::Status Apply(const StoreBatch& batch);
  absl::Status Execute(const char* sql);
  absl::Status Error(const char* what) const;

  const std::string path_;
  sqlite3* database_;
  sqlite3_stmt* put_ = nullptr;
  sqlite3_stmt* remove_ = nullptr;

  std::mutex mutex_;
  std::condition_variable written_;
  std::vector<Waiting*> queue_;  // Under mutex_.
  bool writing_ = false;         // Under mutex_: one thread uses the database.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_SQLITE_STORE_H_
