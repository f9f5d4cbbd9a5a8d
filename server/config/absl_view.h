// SPDX-License-Identifier: Apache-2.0
// Text for Abseil, whose string_view is a type of its own where it was built for C++14.
#ifndef ARCLANE_SERVER_CONFIG_ABSL_VIEW_H_
#define ARCLANE_SERVER_CONFIG_ABSL_VIEW_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace arclane {

inline absl::string_view AbslView(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace arclane

#endif  // ARCLANE_SERVER_CONFIG_ABSL_VIEW_H_
