// SPDX-License-Identifier: Apache-2.0
// Runs reference records through the planning code: JSON Lines {"kind", "record"} on standard
// input, one JSON answer a line on standard output, in the same order. A record that cannot be
// answered yields {"error": text}.
#include <exception>
#include <iostream>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/conformance/record_answer.h"

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    nlohmann::json answer;
    try {
      answer = arclane::conformance::Answer(nlohmann::json::parse(line));
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << answer.dump() << '\n';
  }
  return std::cout.good() ? 0 : 1;
}
