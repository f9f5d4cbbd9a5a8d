// SPDX-License-Identifier: Apache-2.0
// What the messages of a stream look like.
#ifndef ARCLANE_CLIENT_LOADGEN_STREAM_FORMAT_H_
#define ARCLANE_CLIENT_LOADGEN_STREAM_FORMAT_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/loadgen/plan_item_wire.h"

namespace arclane {

class StreamFormat {
 public:
  virtual ~StreamFormat() = default;
  // The stream's method.
  virtual const std::string& method() const = 0;
  // A message that opens the stream; nullopt: none.
  virtual std::optional<grpc::ByteBuffer> Opening() const = 0;
  // The message of a request, with an id that no other unanswered one has.
  virtual grpc::ByteBuffer Message(const grpc::ByteBuffer& request, uint32_t id) const = 0;
  // True: answers come in the order of the requests and carry no id.
  virtual bool answers_in_order() const = 0;
  // The answers of one message. `going_away` becomes true when the server reads no more. False for
  // what is no answer.
  virtual bool Read(const grpc::ByteBuffer& message, std::vector<AnsweredItem>& answers,
                    bool& going_away) const = 0;
};

// PingStream: a message an answer.
std::unique_ptr<StreamFormat> MakePingStreamFormat();
// PlanStream: requests as StreamItemWithoutId makes them; `shared` is a serialised PlanShared.
std::unique_ptr<StreamFormat> MakePlanStreamFormat(const std::string& shared);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_STREAM_FORMAT_H_
