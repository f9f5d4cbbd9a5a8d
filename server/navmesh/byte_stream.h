// SPDX-License-Identifier: Apache-2.0
// Little-endian numbers from and to bytes. The reader never reads past its end: a read that would
// fails, and every later one fails too, so that a caller may check once after a group of reads.
#ifndef ARCLANE_SERVER_NAVMESH_BYTE_STREAM_H_
#define ARCLANE_SERVER_NAVMESH_BYTE_STREAM_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace arclane {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie");

class ByteReader {
 public:
  explicit ByteReader(std::string_view data) : data_(data) {}

  // Zero once the data has run out.
  template <typename T>
  T Read() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (failed_ || data_.size() - offset_ < sizeof(T)) {
      failed_ = true;
      return value;
    }
    std::memcpy(&value, data_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }
  // Empty once the data has run out.
  std::string_view Bytes(size_t count) {
    if (failed_ || data_.size() - offset_ < count) {
      failed_ = true;
      return {};
    }
    offset_ += count;
    return data_.substr(offset_ - count, count);
  }
  // A 64-bit length and as many bytes.
  std::string_view LengthPrefixed() {
    const uint64_t length = Read<uint64_t>();
    if (length > remaining()) failed_ = true;
    return failed_ ? std::string_view() : Bytes(length);
  }
  // True when `count` items of `item_bytes` each can still follow; guards reservations against wild
  // counts.
  bool Holds(uint64_t count, size_t item_bytes) {
    if (failed_ || count > remaining() / item_bytes) failed_ = true;
    return !failed_;
  }
  size_t remaining() const { return data_.size() - offset_; }
  size_t offset() const { return offset_; }
  bool failed() const { return failed_; }
  // All was read and nothing failed.
  bool finished() const { return !failed_ && remaining() == 0; }

 private:
  std::string_view data_;
  size_t offset_ = 0;
  bool failed_ = false;
};

class ByteWriter {
 public:
  template <typename T>
  void Write(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    data_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void Bytes(std::string_view bytes) { data_.append(bytes); }
  void LengthPrefixed(std::string_view bytes) {
    Write<uint64_t>(bytes.size());
    Bytes(bytes);
  }
  const std::string& data() const { return data_; }
  std::string Take() && { return std::move(data_); }

 private:
  std::string data_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_BYTE_STREAM_H_
