// SPDX-License-Identifier: Apache-2.0
// How many attempts gRPC has made: retries are invisible to callers.
#ifndef ARCLANE_TESTS_DEPLOYMENT_ATTEMPTS_H_
#define ARCLANE_TESTS_DEPLOYMENT_ATTEMPTS_H_

#include <cstdint>
#include <set>

namespace arclane {

// The connections of the channels that exist now, by channelz (gRFC A14). Channels with other
// arguments, such as another user agent, have connections of their own.
std::set<int64_t> Subchannels();

// Attempts that were sent over these connections. Attempts that found no connection are not among
// them.
int64_t AttemptsOver(const std::set<int64_t>& subchannels);

}  // namespace arclane

#endif  // ARCLANE_TESTS_DEPLOYMENT_ATTEMPTS_H_
