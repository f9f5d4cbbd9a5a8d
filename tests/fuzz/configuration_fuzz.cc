// SPDX-License-Identifier: Apache-2.0
// Any bytes as the server's configuration file and as a grant of a role: refused with a reason, or
// what was read is written and read again to the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server/config/role_grant.h"
#include "server/config/server_config.h"
#include "tests/fuzz/fuzz_check.h"

using arclane::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto grant = arclane::ParseRoleGrant(text);
  Require(grant.ok() || !grant.status().message().empty(), "a reason against a grant");
  std::vector<std::string> errors;
  arclane::ConfigSources sources;
  sources.file = arclane::ParseConfigFile(text, errors);
  for (const std::string& error : errors) Require(!error.empty(), "a reason against the file");
  const auto config = arclane::ResolveConfig(sources);
  if (!config.ok()) {
    Require(!config.status().message().empty(), "a reason against a value");
    return 0;
  }
  const std::string written = arclane::PrintConfig(*config);
  errors.clear();
  arclane::ConfigSources written_sources;
  written_sources.file = arclane::ParseConfigFile(written, errors);
  Require(errors.empty(), "a configuration that is read again");
  const auto same = arclane::ResolveConfig(written_sources);
  Require(same.ok() && arclane::PrintConfig(*same) == written, "the same configuration again");
  return 0;
}
