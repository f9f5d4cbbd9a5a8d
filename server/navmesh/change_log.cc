// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/change_log.h"

#include <algorithm>

#include "server/navmesh/byte_stream.h"

namespace arclane {

size_t ChangeRecord::ByteSize() const {
  return sizeof(ChangeRecord) + changes.capacity() * sizeof(StateChange) +
         replaced_tiles.capacity() * sizeof(TileCoordinates);
}

std::string ChangeRecord::Encode() const {
  ByteWriter writer;
  writer.Write(epoch.value);
  writer.Write(type);
  writer.Write(version.value);
  writer.Write(base_version.value);
  writer.Bytes(request.view());
  writer.Bytes(content.view());
  writer.LengthPrefixed(EncodeChanges(changes));
  writer.Write<uint64_t>(replaced_tiles.size());
  for (const TileCoordinates& at : replaced_tiles) writer.Write(at);
  return std::move(writer).Take();
}

std::shared_ptr<const ChangeRecord> ChangeRecord::Decode(std::string_view bytes) {
  ByteReader reader(bytes);
  auto record = std::make_shared<ChangeRecord>();
  record->epoch.value = reader.Read<uint64_t>();
  record->type = static_cast<ChangeType>(reader.Read<uint8_t>());
  record->version.value = reader.Read<uint64_t>();
  record->base_version.value = reader.Read<uint64_t>();
  for (ContentDigest* digest : {&record->request, &record->content}) {
    const std::string_view digest_bytes = reader.Bytes(32);
    if (digest_bytes.size() == 32)
      std::copy(digest_bytes.begin(), digest_bytes.end(), digest->bytes.begin());
  }
  auto changes = DecodeChanges(reader.LengthPrefixed());
  const auto tiles = reader.Read<uint64_t>();
  if (!changes || !reader.Holds(tiles, sizeof(TileCoordinates))) return nullptr;
  record->changes = std::move(*changes);
  for (uint64_t i = 0; i < tiles; ++i)
    record->replaced_tiles.push_back(reader.Read<TileCoordinates>());
  return reader.finished() ? record : nullptr;
}

void ChangeLog::Append(std::shared_ptr<const ChangeRecord> record) {
  {
    MutexLock lock(mutex_);
    last_ = record->epoch;
    records_.push_back(std::move(record));
    if (records_.size() > max_records_) records_.pop_front();
  }
  Notify();
}

void ChangeLog::Close() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  Notify();
}

Epoch ChangeLog::last() const {
  MutexLock lock(mutex_);
  return last_;
}

std::shared_ptr<const ChangeRecord> ChangeLog::FindRequest(const ContentDigest& request) const {
  MutexLock lock(mutex_);
  for (auto it = records_.rbegin(); it != records_.rend(); ++it) {
    if ((*it)->request == request) return *it;
  }
  return nullptr;
}

ChangeLog::Changes ChangeLog::ReadAfter(Epoch known, size_t max_count) const {
  MutexLock lock(mutex_);
  Changes changes;
  changes.last = last_;
  if (known >= last_) {
    changes.closed = closed_;
    return changes;
  }
  const uint64_t missing = last_.value - known.value;
  if (missing > records_.size()) {
    changes.too_far_behind = true;
    return changes;
  }
  const size_t first = records_.size() - missing;
  const size_t count = std::min<size_t>(missing, max_count);
  changes.records.assign(records_.begin() + static_cast<ptrdiff_t>(first),
                         records_.begin() + static_cast<ptrdiff_t>(first + count));
  return changes;
}

uint64_t ChangeLog::AddListener(std::function<void()> listener) {
  MutexLock lock(listeners_mutex_);
  listeners_.emplace_back(next_listener_, std::move(listener));
  return next_listener_++;
}

void ChangeLog::RemoveListener(uint64_t id) {
  MutexLock lock(listeners_mutex_);
  std::erase_if(listeners_, [&](const auto& entry) { return entry.first == id; });
}

void ChangeLog::Notify() {
  MutexLock lock(listeners_mutex_);
  for (const auto& [id, listener] : listeners_) listener();
}

}  // namespace arclane
