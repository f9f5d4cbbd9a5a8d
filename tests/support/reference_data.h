// SPDX-License-Identifier: Apache-2.0
// Access to reference records: JSON Lines, plain or gzipped. The large reference sets are not part
// of this project; tests that need them read the folder named by ARCLANE_CONFORMANCE_DIR and skip
// with a message when it is unset.
#ifndef ARCLANE_TESTS_SUPPORT_REFERENCE_DATA_H_
#define ARCLANE_TESTS_SUPPORT_REFERENCE_DATA_H_

#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace arclane::testing {

// The folder of the reference data, or nullopt when ARCLANE_CONFORMANCE_DIR is unset or names no
// folder.
std::optional<std::string> ReferenceDir();

// Every record of a .jsonl or .jsonl.gz file. Aborts the test program when the file is unreadable
// or malformed.
std::vector<nlohmann::json> ReadRecords(const std::string& path);

// The whole (decompressed) content of a plain or gzipped file.
std::string ReadFile(const std::string& path);

// A number as the records write it: a JSON number, a decimal string, or "NaN", "Infinity",
// "-Infinity".
double ToDouble(const nlohmann::json& value);

// The path of a file that the project itself ships under tests/data/.
std::string OwnDataPath(const std::string& name);

}  // namespace arclane::testing

// Skips the running test, with a message, when the reference data is absent; otherwise `dir` holds
// its folder.
#define ARCLANE_REFERENCE_DIR_OR_SKIP(dir)                                                  \
  const auto dir##_or_none = ::arclane::testing::ReferenceDir();                            \
  if (!dir##_or_none) GTEST_SKIP() << "reference data absent: set ARCLANE_CONFORMANCE_DIR"; \
  const std::string& dir = *dir##_or_none  // NOLINT(bugprone-macro-parentheses): a name.

#endif  // ARCLANE_TESTS_SUPPORT_REFERENCE_DATA_H_
