// SPDX-License-Identifier: Apache-2.0
#include "tests/support/reference_data.h"

#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>

namespace arclane::testing {
namespace {

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "reference data: %s\n", message.c_str());
  std::abort();
}

}  // namespace

std::optional<std::string> ReferenceDir() {
  const char* dir = std::getenv("ARCLANE_CONFORMANCE_DIR");
  if (dir == nullptr || *dir == '\0' || !std::filesystem::is_directory(dir)) return std::nullopt;
  return std::string(dir);
}

std::string ReadFile(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");  // Reads plain files as they are.
  if (file == nullptr) Fail("cannot open " + path);
  std::string content;
  char buffer[1 << 16];
  int count = 0;
  while ((count = gzread(file, buffer, sizeof(buffer))) > 0) content.append(buffer, count);
  gzclose(file);
  if (count < 0) Fail("cannot read " + path);
  return content;
}

std::vector<nlohmann::json> ReadRecords(const std::string& path) {
  std::vector<nlohmann::json> records;
  std::istringstream lines(ReadFile(path));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    nlohmann::json record = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (record.is_discarded()) Fail("malformed JSON in " + path);
    records.push_back(std::move(record));
  }
  return records;
}

double ToDouble(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value.get<std::string>();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::strtod(text.c_str(), nullptr);
}

std::string OwnDataPath(const std::string& name) {
  return std::string(ARCLANE_SOURCE_DIR) + "/tests/data/" + name;
}

}  // namespace arclane::testing
