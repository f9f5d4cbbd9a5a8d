// SPDX-License-Identifier: Apache-2.0
// Columns of a message: borrowed as they are, or written in one go.
#ifndef ARCLANE_SERVER_CODEC_COLUMNS_H_
#define ARCLANE_SERVER_CODEC_COLUMNS_H_

#include <google/protobuf/repeated_field.h>

#include <cstddef>
#include <span>

namespace arclane {

// The values of a column, which must outlive the span.
template <typename T>
std::span<const T> Borrow(const google::protobuf::RepeatedField<T>& field) {
  return {field.data(), static_cast<size_t>(field.size())};
}

// Makes an empty column `size` long; its values are for the caller to write, each of them.
template <typename T>
std::span<T> NewColumn(google::protobuf::RepeatedField<T>* field, size_t size) {
  if (size == 0) return {};
  field->Clear();
  field->Reserve(static_cast<int>(size));
  return {field->AddNAlreadyReserved(static_cast<int>(size)), size};
}

// Writes get(item) of each item into an empty column.
template <typename T, typename Container, typename Get>
void FillColumn(const Container& items, google::protobuf::RepeatedField<T>* field, Get get) {
  T* out = NewColumn(field, items.size()).data();
  for (const auto& item : items) *out++ = static_cast<T>(get(item));
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_COLUMNS_H_
