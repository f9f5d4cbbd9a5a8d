// SPDX-License-Identifier: Apache-2.0
// How a fuzz target says what does not hold.
#ifndef ARCLANE_TESTS_FUZZ_FUZZ_CHECK_H_
#define ARCLANE_TESTS_FUZZ_FUZZ_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace arclane::fuzz {

inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

}  // namespace arclane::fuzz

#endif  // ARCLANE_TESTS_FUZZ_FUZZ_CHECK_H_
