// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/stream_format.h"

namespace arclane {
namespace {

class PingStreamFormat final : public StreamFormat {
 public:
  const std::string& method() const override { return method_; }
  std::optional<grpc::ByteBuffer> Opening() const override { return std::nullopt; }
  grpc::ByteBuffer Message(const grpc::ByteBuffer& request, uint32_t) const override {
    return request;
  }
  bool answers_in_order() const override { return true; }
  bool Read(const grpc::ByteBuffer& message, std::vector<AnsweredItem>& answers,
            bool&) const override {
    answers.push_back({.bytes = message.Length()});
    return true;
  }

 private:
  const std::string method_ = "/arclane.v1.PathPlanner/PingStream";
};

class PlanStreamFormat final : public StreamFormat {
 public:
  explicit PlanStreamFormat(const std::string& shared) : shared_(StreamShared(shared)) {}

  const std::string& method() const override { return method_; }
  std::optional<grpc::ByteBuffer> Opening() const override {
    const grpc::Slice slice(shared_);
    return grpc::ByteBuffer(&slice, 1);
  }
  grpc::ByteBuffer Message(const grpc::ByteBuffer& request, uint32_t id) const override {
    std::vector<grpc::Slice> slices;
    if (!request.Dump(&slices).ok()) return request;
    slices.emplace_back(StreamItemId(id));
    return grpc::ByteBuffer(slices.data(), slices.size());
  }
  bool answers_in_order() const override { return false; }
  bool Read(const grpc::ByteBuffer& message, std::vector<AnsweredItem>& answers,
            bool& going_away) const override {
    grpc::Slice bytes;
    return message.DumpToSingleSlice(&bytes).ok() &&
           ReadStreamResponse({reinterpret_cast<const char*>(bytes.begin()), bytes.size()}, answers,
                              going_away);
  }

 private:
  const std::string method_ = "/arclane.v1.PathPlanner/PlanStream";
  const std::string shared_;
};

}  // namespace

std::unique_ptr<StreamFormat> MakePingStreamFormat() {
  return std::make_unique<PingStreamFormat>();
}
std::unique_ptr<StreamFormat> MakePlanStreamFormat(const std::string& shared) {
  return std::make_unique<PlanStreamFormat>(shared);
}

}  // namespace arclane
