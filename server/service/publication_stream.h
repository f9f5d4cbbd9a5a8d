// SPDX-License-Identifier: Apache-2.0
// A client stream that brings a navmesh's content in pieces behind a header: PublishNavMesh and
// UpdateTiles.
#ifndef ARCLANE_SERVER_SERVICE_PUBLICATION_STREAM_H_
#define ARCLANE_SERVER_SERVICE_PUBLICATION_STREAM_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/codec/failure.h"
#include "server/service/message_bytes.h"
#include "server/service/open_streams.h"
#include "server/service/registry_job.h"
#include "server/service/registry_methods.h"
#include "server/service/service_environment.h"

namespace arclane {

// The part that does not depend on the method. What a header announces counts against the bytes of
// all publications until the call ends; a byte more than announced is refused at once.
class PublicationStream : public grpc::ServerReadReactor<grpc::ByteBuffer>,
                          protected RegistryJob,
                          private OpenStreams::Stream {
 protected:
  PublicationStream(ServiceEnvironment& environment, MethodId method,
                    grpc::CallbackServerContext& context, grpc::ByteBuffer& response)
      : RegistryJob(environment, method, CallKind::kStream, context), response_(response) {}
  ~PublicationStream() override;

  // Reads the first piece; to be called once, by the handler, as its last step.
  void Begin();

  // The next piece. Reads the header, or appends to the content.
  virtual std::optional<Failure> Take(const grpc::ByteBuffer& piece) = 0;
  // On a thread of the registry, once the content is complete.
  virtual std::optional<Failure> Answer(NavMeshBackend& backend, const std::string& content,
                                        grpc::ByteBuffer& response) = 0;

  std::optional<Failure> Announce(uint64_t content_bytes);
  std::optional<Failure> Append(const std::string& bytes);
  bool announced() const { return announced_.has_value(); }

 private:
  void OnReadDone(bool ok) override;
  void OnCancel() override { CallerLeft(); }
  void OnDone() override;
  std::optional<Failure> Work(bool&) override { return Answer(backend(), content_, response_); }
  void FinishCall(const grpc::Status& status) override { Finish(status); }
  // A publication that is still coming in when the server drains is refused: it may never end.
  void End() override;
  std::optional<Failure> Complete();
  // Whether this thread is the one that goes on from reading, to work or to the end.
  bool LeaveReading();

  grpc::ByteBuffer& response_;
  grpc::ByteBuffer piece_;
  std::optional<uint64_t> announced_;
  uint64_t reserved_ = 0;
  std::string content_;
  bool registered_ = false;
  absl::Mutex mutex_;
  bool left_reading_ ABSL_GUARDED_BY(mutex_) = false;
};

template <typename Request, typename Header, typename Response>
class PublicationStreamOf final : public PublicationStream {
 public:
  static grpc::ServerReadReactor<grpc::ByteBuffer>* Start(ServiceEnvironment& environment,
                                                          MethodId method,
                                                          grpc::CallbackServerContext& context,
                                                          grpc::ByteBuffer& response) {
    auto* stream = new PublicationStreamOf(environment, method, context, response);
    stream->Begin();
    return stream;
  }

 private:
  using PublicationStream::PublicationStream;

  std::optional<Failure> Take(const grpc::ByteBuffer& bytes) override {
    if (!ParseBytes(bytes, piece_)) return MalformedMessage(piece_);
    switch (piece_.part_case()) {
      case Request::kHeader:
        if (announced()) return Misplaced("the header came twice");
        header_ = std::move(*piece_.mutable_header());
        return Announce(header_.content_bytes());
      case Request::kContent:
        if (!announced()) return Misplaced("content came before the header");
        return Append(piece_.content());
      case Request::PART_NOT_SET:
        break;
    }
    return Misplaced("a message has neither header nor content");
  }

  std::optional<Failure> Answer(NavMeshBackend& backend, const std::string& content,
                                grpc::ByteBuffer& response_bytes) override {
    Response response;
    if (auto failure = AnswerPublication(backend, header_, content, response)) return failure;
    grpc::Slice slice;
    if (!ToSlice(response, &slice)) return AnswerTooLarge();
    response_bytes = grpc::ByteBuffer(&slice, 1);
    return std::nullopt;
  }

  static Failure Misplaced(const char* what) { return InvalidFields({{"part", what}}); }

  Request piece_;
  Header header_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PUBLICATION_STREAM_H_
