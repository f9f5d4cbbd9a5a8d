// SPDX-License-Identifier: Apache-2.0
// Messages from protobuf text, and pipelines run on them.
#ifndef ARCLANE_TESTS_UNIT_PIPELINE_MESSAGE_TEXT_H_
#define ARCLANE_TESTS_UNIT_PIPELINE_MESSAGE_TEXT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/codec/failure.h"
#include "server/codec/request_limits.h"
#include "server/pipeline/plan_failure.h"

namespace arclane::testing {

template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

inline std::optional<FailureReason> NeverStop() { return std::nullopt; }

// Without a trace, and without what was prepared before where a pipeline can use it.
template <typename Pipeline, typename Request, typename Response>
std::optional<Failure> Run(Pipeline pipeline, const Request& request, Response& response) {
  if constexpr (requires { pipeline(request, RequestLimits(), NeverStop, response, nullptr); }) {
    return pipeline(request, RequestLimits(), NeverStop, response, nullptr);
  } else {
    return pipeline(request, RequestLimits(), NeverStop, response, nullptr, nullptr);
  }
}

// The answer of a pipeline that must succeed.
template <typename Response, typename Request, typename Pipeline>
Response Succeed(Pipeline pipeline, const Request& request) {
  Response response;
  const std::optional<Failure> failure = Run(pipeline, request, response);
  EXPECT_FALSE(failure.has_value()) << failure->message;
  return response;
}

// The violated fields of a pipeline that must fail.
template <typename Response, typename Request, typename Pipeline>
std::vector<std::string> FailingFields(Pipeline pipeline, const Request& request) {
  Response response;
  const std::optional<Failure> failure = Run(pipeline, request, response);
  EXPECT_TRUE(failure.has_value());
  std::vector<std::string> fields;
  if (failure) {
    for (const FieldViolation& violation : failure->violations) fields.push_back(violation.field);
  }
  return fields;
}

}  // namespace arclane::testing

#endif  // ARCLANE_TESTS_UNIT_PIPELINE_MESSAGE_TEXT_H_
