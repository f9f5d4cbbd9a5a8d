// SPDX-License-Identifier: Apache-2.0
// A value, or the ClientError that stands in its place.
#ifndef ARCLANE_CLIENT_SDK_RESULT_H_
#define ARCLANE_CLIENT_SDK_RESULT_H_

#include <utility>
#include <variant>

#include "absl/base/attributes.h"
#include "client/sdk/client_error.h"

namespace arclane {

// Exactly one of value and error. Reading the one that is absent is a defect of the caller and
// undefined.
template <typename T>
class ABSL_MUST_USE_RESULT Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: as StatusOr
  Result(ClientError error) : held_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return held_.index() == 0; }
  explicit operator bool() const { return ok(); }

  const T& value() const& { return *std::get_if<0>(&held_); }
  T& value() & { return *std::get_if<0>(&held_); }
  T&& value() && { return std::move(*std::get_if<0>(&held_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const ClientError& error() const& { return *std::get_if<1>(&held_); }
  ClientError&& error() && { return std::move(*std::get_if<1>(&held_)); }

 private:
  std::variant<T, ClientError> held_;
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_SDK_RESULT_H_
