// SPDX-License-Identifier: Apache-2.0
#include "server/service/request_identity.h"

#include <algorithm>
#include <cstdint>
#include <random>

namespace arclane {
namespace {

constexpr size_t kMostRequestIdBytes = 128;
constexpr size_t kTraceParentBytes = 55;  // 00-<32>-<16>-<2>
constexpr std::string_view kHexDigits = "0123456789abcdef";

bool IsHex(std::string_view text) {
  return text.find_first_not_of(kHexDigits) == std::string_view::npos;
}
bool IsZero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

// Seeded once a thread from the system's randomness.
uint64_t Random() {
  thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return generator();
}

void AppendHex(uint64_t number, std::string& text) {
  for (int shift = 60; shift >= 0; shift -= 4) text += kHexDigits[(number >> shift) & 15];
}

uint64_t RandomNonZero() { return Random() | 1; }

}  // namespace

bool IsRequestId(std::string_view text) {
  return !text.empty() && text.size() <= kMostRequestIdBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

bool IsTraceParent(std::string_view text) {
  if (text.size() < kTraceParentBytes) return false;
  const std::string_view version = text.substr(0, 2);
  if (!IsHex(version) || version == "ff") return false;
  // Later versions may have more behind another dash.
  if (text.size() > kTraceParentBytes &&
      (version == "00" || text[kTraceParentBytes] != '-' || text.size() > 4 * kTraceParentBytes)) {
    return false;
  }
  const std::string_view trace = text.substr(3, 32), parent = text.substr(36, 16);
  return text[2] == '-' && text[35] == '-' && text[52] == '-' && IsHex(trace) && !IsZero(trace) &&
         IsHex(parent) && !IsZero(parent) && IsHex(text.substr(53, 2)) &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

std::string MakeRequestId() {
  std::string text;
  text.reserve(32);
  AppendHex(Random(), text);
  AppendHex(RandomNonZero(), text);
  return text;
}

std::string MakeTraceParent(std::string_view request_id) {
  std::string text = "00-";
  text.append(request_id).append("-");
  AppendHex(RandomNonZero(), text);
  return text + "-00";
}

}  // namespace arclane
