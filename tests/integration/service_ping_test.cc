// SPDX-License-Identifier: Apache-2.0
#include "server/service/ping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/service/message_bytes.h"
#include "tests/integration/service_harness.h"

namespace arclane {
namespace {

constexpr size_t kMost = 4 << 20;

std::optional<Failure> Answer(const std::string& bytes, grpc::ByteBuffer* response) {
  const grpc::Slice slice(bytes);
  return AnswerPing(grpc::ByteBuffer(&slice, 1), kMost, response);
}

TEST(AnswerPingTest, AgreesWithTheGeneratedMessages) {
  for (const uint32_t size : {0u, 1u, 22u, 23u, 127u, 128u, 16383u, 16384u, (1u << 20) - 1,
                              1u << 20, (1u << 20) + 1, 4u << 20}) {
    v1::PingRequest request;
    request.set_payload("some payload");
    request.set_response_size(size);
    grpc::ByteBuffer bytes;
    ASSERT_FALSE(Answer(request.SerializeAsString(), &bytes));
    v1::PingResponse response;
    ASSERT_TRUE(ParseBytes(bytes, response)) << size;
    EXPECT_EQ(response.payload(), std::string(size, '\0')) << size;
    EXPECT_EQ(bytes.Length(), response.ByteSizeLong());
  }
}

TEST(AnswerPingTest, StepsOverFieldsItDoesNotKnow) {
  grpc::ByteBuffer bytes;
  // Field 9: a varint; field 10: fixed64; field 11: bytes; field 12: a group; then response_size
  // = 3.
  const std::string unknown(
      "\x48\x05\x51\x01\x02\x03\x04\x05\x06\x07\x08\x5a\x02xy\x63\x08\x01\x64\x10\x03", 21);
  ASSERT_FALSE(Answer(unknown, &bytes));
  v1::PingResponse response;
  ASSERT_TRUE(ParseBytes(bytes, response));
  EXPECT_EQ(response.payload().size(), 3u);
}

TEST(AnswerPingTest, RefusesWhatTheGeneratedParserRefuses) {
  for (const std::string& bytes :
       {std::string("\xff\xff\xff\xff"), std::string("\x0a\x05zz"), std::string("\x10"),
        std::string("\x00\x01", 2), std::string("\x0c"), std::string("\x0a\xff\xff\xff\xff\x0f"),
        std::string("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")}) {
    grpc::ByteBuffer response;
    const auto failure = Answer(bytes, &response);
    v1::PingRequest parsed;
    EXPECT_FALSE(parsed.ParseFromString(bytes)) << ::testing::PrintToString(bytes);
    ASSERT_TRUE(failure) << ::testing::PrintToString(bytes);
    EXPECT_EQ(failure->reason, FailureReason::kMalformedMessage);
  }
}

TEST(AnswerPingTest, RefusesPayloadsAboveTheLimitEitherWay) {
  grpc::ByteBuffer response;
  v1::PingRequest request;
  request.set_response_size(kMost + 1);
  auto failure = Answer(request.SerializeAsString(), &response);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reason, FailureReason::kTooLarge);
  EXPECT_EQ(failure->metadata.at("requested"), std::to_string(kMost + 1));
  request.set_response_size(0);
  request.set_payload(std::string(kMost, 'x'));
  EXPECT_FALSE(Answer(request.SerializeAsString(), &response));
  request.set_payload(std::string(kMost + 64, 'x'));
  failure = Answer(request.SerializeAsString(), &response);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reason, FailureReason::kTooLarge);
}

TEST(ServicePingTest, CarriesPayloadsThroughTheWire) {
  TestServer server;
  for (const uint32_t size : {0u, 1u, 100'000u, 4u << 20}) {
    grpc::ClientContext context;
    v1::PingRequest request;
    request.set_payload(std::string(size, 'p'));
    request.set_response_size(size);
    v1::PingResponse response;
    ASSERT_TRUE(server.stub().Ping(&context, request, &response).ok()) << size;
    EXPECT_EQ(response.payload(), std::string(size, '\0'));
  }
}

TEST(ServicePingTest, NeverWaitsForPlans) {
  ServerOptions options;
  options.limits.max_queued_plans = 1;
  TestServer server(options, /*gate_open=*/false);
  AsyncPlan held(server.stub(), SmallRequest());
  ASSERT_TRUE(server.AwaitMetric("arclane_queued_plans", 1));
  grpc::ClientContext context;
  v1::PingResponse response;
  EXPECT_TRUE(server.stub().Ping(&context, {}, &response).ok());
  grpc::ClientContext limits_context;
  v1::GetLimitsResponse limits;
  EXPECT_TRUE(server.stub().GetLimits(&limits_context, {}, &limits).ok());
}

TEST(ServicePingTest, StreamAnswersInOrderAndEndsWithTheClient) {
  TestServer server;
  grpc::ClientContext context;
  auto stream = server.stub().PingStream(&context);
  for (uint32_t size = 0; size < 2000; ++size) {
    v1::PingStreamRequest request;
    request.set_response_size(size);
    ASSERT_TRUE(stream->Write(request));
    v1::PingStreamResponse response;
    ASSERT_TRUE(stream->Read(&response));
    ASSERT_EQ(response.payload().size(), size);
  }
  stream->WritesDone();
  v1::PingStreamResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(server.AwaitMetric("arclane_calls_in_flight{method=\"PingStream\"}", 0));
  EXPECT_EQ(server.MetricValue("arclane_calls_total{code=\"OK\",method=\"PingStream\"}"), 1);
}

TEST(ServicePingTest, StreamRefusesTooLargeAnAnswer) {
  TestServer server;
  grpc::ClientContext context;
  auto stream = server.stub().PingStream(&context);
  v1::PingStreamRequest request;
  request.set_response_size(5 << 20);
  ASSERT_TRUE(stream->Write(request));
  v1::PingStreamResponse response;
  EXPECT_FALSE(stream->Read(&response));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailsOf(status).info->reason(), "TOO_LARGE");
}

TEST(ServicePingTest, AClientThatGoesAwayLeavesNoStreamBehind) {
  TestServer server;
  {
    grpc::ClientContext context;
    auto stream = server.stub().PingStream(&context);
    ASSERT_TRUE(stream->Write({}));
    v1::PingStreamResponse response;
    ASSERT_TRUE(stream->Read(&response));
    context.TryCancel();
    stream->Finish();
  }
  EXPECT_TRUE(server.AwaitMetric("arclane_calls_in_flight{method=\"PingStream\"}", 0));
}

}  // namespace
}  // namespace arclane
