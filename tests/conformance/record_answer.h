// SPDX-License-Identifier: Apache-2.0
// Answers of the planning code to reference records that no RPC serves yet: one function a kind,
// one row in the table.
#ifndef ARCLANE_TESTS_CONFORMANCE_RECORD_ANSWER_H_
#define ARCLANE_TESTS_CONFORMANCE_RECORD_ANSWER_H_

#include "nlohmann/json.hpp"

namespace arclane::conformance {

// Both throw nlohmann::json::exception when the record lacks a field; the program answers with the
// text.

// `request` is {"kind": name, "record": record}. An unknown kind is answered with {"error": text}.
nlohmann::json Answer(const nlohmann::json& request);

// stop_turn: {status, time, turn_angle[], turn_time[], drive_time[]}.
nlohmann::json AnswerStopTurn(const nlohmann::json& record);

}  // namespace arclane::conformance

#endif  // ARCLANE_TESTS_CONFORMANCE_RECORD_ANSWER_H_
