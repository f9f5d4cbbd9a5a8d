// SPDX-License-Identifier: Apache-2.0
// The standard reflection service (grpc.reflection.v1alpha). Own, because gRPC's plugin uses the
// synchronous API: one such service starts that API's threads, which then poll for every other call
// too; and because its streams, unlike the plugin's, can be ended before a shutdown, which they
// would hold up.
#ifndef ARCLANE_SERVER_SERVICE_REFLECTION_SERVICE_H_
#define ARCLANE_SERVER_SERVICE_REFLECTION_SERVICE_H_

#include <string>
#include <vector>

#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "server/service/open_streams.h"

namespace arclane {

class ReflectionService final
    : public grpc::reflection::v1alpha::ServerReflection::CallbackService {
 public:
  // `services` are full names; their descriptors, and all others, are those linked into the
  // program.
  ReflectionService(std::vector<std::string> services, OpenStreams& streams);

  grpc::ServerBidiReactor<grpc::reflection::v1alpha::ServerReflectionRequest,
                          grpc::reflection::v1alpha::ServerReflectionResponse>*
  ServerReflectionInfo(grpc::CallbackServerContext* context) override;

 private:
  const std::vector<std::string> services_;
  OpenStreams& streams_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_REFLECTION_SERVICE_H_
