// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "client/cli/cli.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  return static_cast<int>(arclane::RunCli(argc, argv, {std::cin, std::cout, std::cerr}));
}
