// SPDX-License-Identifier: Apache-2.0
#include "server/service/reflection_service.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <set>
#include <utility>

#include "server/service/sequential_stream.h"

namespace arclane {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using grpc::reflection::v1alpha::ServerReflectionRequest;
using grpc::reflection::v1alpha::ServerReflectionResponse;

void NotFound(const std::string& what, ServerReflectionResponse& response) {
  response.mutable_error_response()->set_error_code(grpc::StatusCode::NOT_FOUND);
  response.mutable_error_response()->set_error_message(what + " is not known");
}

// The file, then all that it imports, each once.
void AddFile(const FileDescriptor& file, std::set<const FileDescriptor*>& added,
             ServerReflectionResponse& response) {
  if (!added.insert(&file).second) return;
  google::protobuf::FileDescriptorProto proto;
  file.CopyTo(&proto);
  response.mutable_file_descriptor_response()->add_file_descriptor_proto(proto.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) AddFile(*file.dependency(i), added, response);
}

void AnswerFile(const FileDescriptor* file, const std::string& what,
                ServerReflectionResponse& response) {
  if (file == nullptr) {
    NotFound(what, response);
    return;
  }
  std::set<const FileDescriptor*> added;
  AddFile(*file, added, response);
}

void AnswerExtension(const ServerReflectionRequest& request, ServerReflectionResponse& response) {
  const auto& wanted = request.file_containing_extension();
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  const Descriptor* type = pool.FindMessageTypeByName(wanted.containing_type());
  const FieldDescriptor* extension =
      type == nullptr ? nullptr : pool.FindExtensionByNumber(type, wanted.extension_number());
  AnswerFile(
      extension == nullptr ? nullptr : extension->file(),
      "extension " + std::to_string(wanted.extension_number()) + " of " + wanted.containing_type(),
      response);
}

void AnswerExtensionNumbers(const std::string& type_name, ServerReflectionResponse& response) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  const Descriptor* type = pool.FindMessageTypeByName(type_name);
  if (type == nullptr) {
    NotFound(type_name, response);
    return;
  }
  auto* numbers = response.mutable_all_extension_numbers_response();
  numbers->set_base_type_name(type_name);
  std::vector<const FieldDescriptor*> extensions;
  pool.FindAllExtensions(type, &extensions);
  for (const FieldDescriptor* extension : extensions)
    numbers->add_extension_number(extension->number());
}

void AnswerRequest(const ServerReflectionRequest& request, const std::vector<std::string>& services,
                   ServerReflectionResponse& response) {
  response.Clear();
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kFileByFilename:
      AnswerFile(pool.FindFileByName(request.file_by_filename()), request.file_by_filename(),
                 response);
      return;
    case ServerReflectionRequest::kFileContainingSymbol:
      AnswerFile(pool.FindFileContainingSymbol(request.file_containing_symbol()),
                 request.file_containing_symbol(), response);
      return;
    case ServerReflectionRequest::kFileContainingExtension:
      AnswerExtension(request, response);
      return;
    case ServerReflectionRequest::kAllExtensionNumbersOfType:
      AnswerExtensionNumbers(request.all_extension_numbers_of_type(), response);
      return;
    case ServerReflectionRequest::kListServices:
      for (const std::string& name : services)
        response.mutable_list_services_response()->add_service()->set_name(name);
      return;
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      response.mutable_error_response()->set_error_code(grpc::StatusCode::INVALID_ARGUMENT);
      response.mutable_error_response()->set_error_message("the request asks for nothing");
      return;
  }
}

class ReflectionStream final
    : public SequentialStream<ServerReflectionRequest, ServerReflectionResponse> {
 public:
  ReflectionStream(const std::vector<std::string>& services, OpenStreams& streams)
      : SequentialStream(streams), services_(services) {}

 private:
  std::optional<grpc::Status> Answer(const ServerReflectionRequest& request,
                                     ServerReflectionResponse& response) override {
    AnswerRequest(request, services_, response);
    return std::nullopt;
  }
  void Ended(const grpc::Status&) override {}

  const std::vector<std::string>& services_;
};

}  // namespace

ReflectionService::ReflectionService(std::vector<std::string> services, OpenStreams& streams)
    : services_(std::move(services)), streams_(streams) {}

grpc::ServerBidiReactor<ServerReflectionRequest, ServerReflectionResponse>*
ReflectionService::ServerReflectionInfo(grpc::CallbackServerContext*) {
  auto* stream = new ReflectionStream(services_, streams_);
  stream->Begin();
  return stream;
}

}  // namespace arclane
