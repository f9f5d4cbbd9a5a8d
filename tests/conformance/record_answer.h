// SPDX-License-Identifier: Apache-2.0
// Answers of the planning code to reference records that no RPC serves: one function a kind, one
// row in the table.
#ifndef ARCLANE_TESTS_CONFORMANCE_RECORD_ANSWER_H_
#define ARCLANE_TESTS_CONFORMANCE_RECORD_ANSWER_H_

#include "nlohmann/json.hpp"

namespace arclane::conformance {

// All throw nlohmann::json::exception when the record lacks a field; the program answers with the
// text.

// `request` is {"kind": name, "record": record}. An unknown kind is answered with {"error": text}.
nlohmann::json Answer(const nlohmann::json& request);

// discrete: {v_limit}.
nlohmann::json AnswerDiscrete(const nlohmann::json& record);
// discrete_fp, in the precision that the record names: {v_limit, passes}; `passes` says whether the
// rounded step is longer than the distance.
nlohmann::json AnswerDiscreteFp(const nlohmann::json& record);
// discrete_loop, hold from rest to the tolerance: {steps, d_final, v_peak, max_decel}.
nlohmann::json AnswerDiscreteLoop(const nlohmann::json& record);
// discrete_semantics, with the integrator that the record names, until the agent rests for good:
// {overshoot, stop_short, max_decel, steps}.
nlohmann::json AnswerDiscreteSemantics(const nlohmann::json& record);

}  // namespace arclane::conformance

#endif  // ARCLANE_TESTS_CONFORMANCE_RECORD_ANSWER_H_
