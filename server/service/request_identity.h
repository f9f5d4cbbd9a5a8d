// SPDX-License-Identifier: Apache-2.0
// What callers name a call by: x-request-id, and traceparent of W3C Trace Context. Both come from
// outside, so both are checked before they are logged or sent back.
#ifndef ARCLANE_SERVER_SERVICE_REQUEST_IDENTITY_H_
#define ARCLANE_SERVER_SERVICE_REQUEST_IDENTITY_H_

#include <string>
#include <string_view>

namespace arclane {

inline constexpr char kRequestIdKey[] = "x-request-id";
inline constexpr char kTraceParentKey[] = "traceparent";

// 1 to 128 visible ASCII characters.
bool IsRequestId(std::string_view text);
// Version 00, or the part of a later version that this one defines: trace and parent id in lower
// case, neither all zero, and flags.
bool IsTraceParent(std::string_view text);

// 32 hexadecimal digits, never all zero; unlikely to be made twice. Any thread.
std::string MakeRequestId();
// A traceparent of its own, not sampled, whose trace id is `request_id` as made by MakeRequestId.
std::string MakeTraceParent(std::string_view request_id);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_REQUEST_IDENTITY_H_
