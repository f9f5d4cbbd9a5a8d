// SPDX-License-Identifier: Apache-2.0
// The fields of registry calls that can be checked by themselves: names, versions, pages.
#ifndef ARCLANE_SERVER_SERVICE_REGISTRY_FIELDS_H_
#define ARCLANE_SERVER_SERVICE_REGISTRY_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/codec/failure.h"

namespace arclane {

// Gathers what is wrong with a request, field by field.
class RegistryFields {
 public:
  // A name of 1 to 128 bytes without NUL.
  RegistryFields& Name(const char* field, std::string_view name);
  // The same, or none.
  RegistryFields& OptionalName(const char* field, std::string_view name);
  // >= 1.
  RegistryFields& Version(const char* field, uint64_t version);
  // At most 1000; 0 is the default.
  RegistryFields& PageSize(uint32_t page_size);
  // Empty, or a token of PageTokenAfter for the same list; *after is then the name in it.
  RegistryFields& PageToken(std::string_view list, std::string_view token, std::string* after);

  // kInvalidField with all that is wrong, or nullopt.
  std::optional<Failure> ToFailure();

 private:
  std::vector<FieldViolation> violations_;
};

// Page sizes as asked for, the default where nothing was.
size_t PageSizeOf(uint32_t asked);
// The token by which the page behind `name` is asked for. `list` tells lists apart: a token of one
// is refused by the others. Empty for an empty name.
std::string PageTokenAfter(std::string_view list, std::string_view name);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_REGISTRY_FIELDS_H_
