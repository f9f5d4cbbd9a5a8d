// SPDX-License-Identifier: Apache-2.0
#include "server/service/registry_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/digest/digest.h"
#include "server/navmesh/registry_types.h"

namespace arclane {
namespace {

constexpr uint32_t kDefaultPageSize = 100;
constexpr uint32_t kMaxPageSize = 1000;
// Bytes of the digest in a token: enough to tell a token from any other text.
constexpr size_t kCheckBytes = 6;

std::string CheckOf(std::string_view list, std::string_view name) {
  std::string both(list);
  both += '\0';
  both += name;
  const ContentDigest digest = DigestOf(both);
  return absl::BytesToHexString(std::string(digest.view().substr(0, kCheckBytes)));
}

}  // namespace

RegistryFields& RegistryFields::Name(const char* field, std::string_view name) {
  if (auto violation = CheckName(field, name))
    violations_.push_back({std::move(violation->place), std::move(violation->description)});
  return *this;
}

RegistryFields& RegistryFields::OptionalName(const char* field, std::string_view name) {
  return name.empty() ? *this : Name(field, name);
}

RegistryFields& RegistryFields::Version(const char* field, uint64_t version) {
  if (version == 0) violations_.push_back({field, "required: a version >= 1"});
  return *this;
}

RegistryFields& RegistryFields::PageSize(uint32_t page_size) {
  if (page_size > kMaxPageSize) {
    violations_.push_back(
        {"page_size", absl::StrCat("must be at most ", kMaxPageSize, ", got ", page_size)});
  }
  return *this;
}

RegistryFields& RegistryFields::PageToken(std::string_view list, std::string_view token,
                                          std::string* after) {
  if (token.empty()) return *this;
  const size_t split = 2 * kCheckBytes;
  const std::string_view name = token.substr(std::min(split, token.size()));
  if (name.empty() || token.substr(0, split) != CheckOf(list, name)) {
    violations_.push_back({"page_token", "must be next_page_token of a page of the same list"});
  } else {
    *after = std::string(name);
  }
  return *this;
}

std::optional<Failure> RegistryFields::ToFailure() {
  if (violations_.empty()) return std::nullopt;
  return InvalidFields(std::move(violations_));
}

size_t PageSizeOf(uint32_t asked) { return asked == 0 ? kDefaultPageSize : asked; }

std::string PageTokenAfter(std::string_view list, std::string_view name) {
  return name.empty() ? std::string() : CheckOf(list, name) + std::string(name);
}

}  // namespace arclane
