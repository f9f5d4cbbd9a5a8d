// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/sqlite_store.h"

#include <sqlite3.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "server/digest/digest.h"

namespace arclane {
namespace {

constexpr char kFileName[] = "/navmesh.sqlite";
constexpr int kFormat = 1;  // In the file's user_version.

// A key stands for a value here; the digest covers both, so that a value under a wrong key is found
// out too.
ContentDigest RowDigest(std::string_view key, std::string_view value) {
  Sha256 sha;
  const uint64_t length = key.size();
  sha.Update({reinterpret_cast<const char*>(&length), sizeof(length)});
  sha.Update(key);
  sha.Update(value);
  return sha.Finish();
}

void Bind(sqlite3_stmt* statement, int index, std::string_view bytes) {
  // An empty blob must not become NULL.
  sqlite3_bind_blob64(statement, index, bytes.empty() ? "" : bytes.data(), bytes.size(),
                      SQLITE_STATIC);
}

std::string_view Column(sqlite3_stmt* statement, int index) {
  const void* data = sqlite3_column_blob(statement, index);
  const int size = sqlite3_column_bytes(statement, index);
  return {static_cast<const char*>(data), data == nullptr ? 0 : static_cast<size_t>(size)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(const std::string& directory) {
  const std::string path = directory + kFileName;
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &database,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<SqliteStore> store(new SqliteStore(database, path));
  if (code != SQLITE_OK) {
    return absl::UnavailableError(absl::StrCat("cannot open ", path, ": ", sqlite3_errstr(code)));
  }
  if (const absl::Status status = store->Prepare(); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(path, ": ", std::string(status.message())));
  }
  return store;
}

SqliteStore::~SqliteStore() {
  sqlite3_finalize(put_);
  sqlite3_finalize(remove_);
  sqlite3_close(database_);
}

absl::Status SqliteStore::Error(const char* what) const {
  const std::string text = absl::StrCat(what, ": ", sqlite3_errmsg(database_));
  return sqlite3_errcode(database_) == SQLITE_BUSY
             ? absl::FailedPreconditionError(absl::StrCat(text, " (is another server using it?)"))
             : absl::UnavailableError(text);
}

absl::Status SqliteStore::Execute(const char* sql) {
  return sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK ? absl::OkStatus()
                                                                              : Error(sql);
}

absl::Status SqliteStore::Prepare() {
  // Exclusive locking keeps a second server out and needs no shared memory. FULL syncs the log at
  // every commit.
  for (const char* sql : {"PRAGMA locking_mode=EXCLUSIVE", "PRAGMA journal_mode=WAL",
                          "PRAGMA synchronous=FULL", "BEGIN EXCLUSIVE"}) {
    if (const absl::Status status = Execute(sql); !status.ok()) return status;
  }
  sqlite3_stmt* version = nullptr;
  if (sqlite3_prepare_v2(database_, "PRAGMA user_version", -1, &version, nullptr) != SQLITE_OK ||
      sqlite3_step(version) != SQLITE_ROW) {
    sqlite3_finalize(version);
    return Error("reading the format");
  }
  const int format = sqlite3_column_int(version, 0);
  sqlite3_finalize(version);
  if (format != 0 && format != kFormat) {
    return absl::FailedPreconditionError(
        absl::StrCat("is of format ", format, "; this server knows ", kFormat));
  }
  if (format == 0) {
    for (const char* sql : {"CREATE TABLE entry (key BLOB PRIMARY KEY NOT NULL, value BLOB NOT "
                            "NULL, digest BLOB NOT NULL)",
                            "PRAGMA user_version=1"}) {
      if (const absl::Status status = Execute(sql); !status.ok()) return status;
    }
  }
  if (const absl::Status status = Execute("COMMIT"); !status.ok()) return status;
  if (sqlite3_prepare_v3(database_,
                         "INSERT INTO entry VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE SET "
                         "value = ?2, digest = ?3",
                         -1, SQLITE_PREPARE_PERSISTENT, &put_, nullptr) != SQLITE_OK ||
      sqlite3_prepare_v3(database_, "DELETE FROM entry WHERE key = ?1", -1,
                         SQLITE_PREPARE_PERSISTENT, &remove_, nullptr) != SQLITE_OK) {
    return Error("preparing");
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::Apply(const StoreBatch& batch) {
  for (const auto& [key, value] : batch.operations) {
    sqlite3_stmt* statement = value ? put_ : remove_;
    ContentDigest digest;
    Bind(statement, 1, key);
    if (value) {
      digest = RowDigest(key, *value);
      Bind(statement, 2, *value);
      Bind(statement, 3, digest.view());
    }
    const int code = sqlite3_step(statement);
    const absl::Status status = code == SQLITE_DONE ? absl::OkStatus() : Error("writing");
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::Write(const std::vector<Waiting*>& group) {
  if (const absl::Status status = Execute("BEGIN IMMEDIATE"); !status.ok()) return status;
  for (const Waiting* waiting : group) {
    if (const absl::Status status = Apply(*waiting->batch); !status.ok()) {
      (void)Execute("ROLLBACK");
      return status;
    }
  }
  const absl::Status status = Execute("COMMIT");
  if (!status.ok()) (void)Execute("ROLLBACK");
  return status;
}

absl::Status SqliteStore::Commit(const StoreBatch& batch) {
  Waiting self;
  self.batch = &batch;
  std::unique_lock lock(mutex_);
  queue_.push_back(&self);
  written_.wait(lock, [&] { return self.done || !writing_; });
  if (self.done) return self.status;
  // First in a group that has gathered while the last one was written: write it.
  writing_ = true;
  std::vector<Waiting*> group = std::move(queue_);
  queue_.clear();
  lock.unlock();
  const absl::Status status = Write(group);
  lock.lock();
  for (Waiting* waiting : group) {
    waiting->status = status;
    waiting->done = true;
  }
  writing_ = false;
  written_.notify_all();
  return self.status;
}

uint64_t SqliteStore::SizeBytes() const {
  uint64_t bytes = 0;
  for (const char* ending : {"", "-wal"}) {
    std::error_code error;
    const uintmax_t size = std::filesystem::file_size(path_ + ending, error);
    if (!error) bytes += size;
  }
  return bytes;
}

absl::Status SqliteStore::ForEach(
    const std::function<void(std::string_view, std::string_view, bool)>& visit) {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] { return !writing_; });
  writing_ = true;
  lock.unlock();
  const auto release = [&] {
    lock.lock();
    writing_ = false;
    written_.notify_all();
  };
  // Keys come from their index alone; a page of values that cannot be read then costs only its own
  // values.
  sqlite3_stmt *keys = nullptr, *values = nullptr;
  std::vector<std::string> found;
  bool complete = sqlite3_prepare_v2(database_, "SELECT key FROM entry ORDER BY key", -1, &keys,
                                     nullptr) == SQLITE_OK &&
                  sqlite3_prepare_v2(database_, "SELECT value, digest FROM entry WHERE key = ?1",
                                     -1, &values, nullptr) == SQLITE_OK;
  int code = SQLITE_OK;
  while (complete && (code = sqlite3_step(keys)) == SQLITE_ROW) found.emplace_back(Column(keys, 0));
  complete = complete && code == SQLITE_DONE;
  const absl::Status status = complete ? absl::OkStatus() : Error("reading");
  sqlite3_finalize(keys);
  for (const std::string& key : complete ? found : std::vector<std::string>()) {
    Bind(values, 1, key);
    const bool read = sqlite3_step(values) == SQLITE_ROW;
    const std::string_view value = read ? Column(values, 0) : std::string_view();
    const bool intact = read && RowDigest(key, value).view() == Column(values, 1);
    visit(key, value, intact);
    sqlite3_reset(values);
  }
  sqlite3_finalize(values);
  release();
  return status;
}

}  // namespace arclane
