// SPDX-License-Identifier: Apache-2.0
// TLS, mTLS, authorization by the client's certificate, and certificates that change while the
// server runs.
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "arclane/v1/navmesh.grpc.pb.h"
#include "client/sdk/client.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "tests/integration/service_harness.h"
#include "tests/integration/test_certificates.h"

namespace arclane {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kServerNames[] = "DNS:localhost,IP:127.0.0.1";
constexpr auto kCallTime = std::chrono::seconds(10);

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + kCallTime);
}

std::shared_ptr<grpc::Channel> Connect(const std::string& address,
                                       const std::shared_ptr<grpc::ChannelCredentials>& how) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, how, arguments);
}

std::shared_ptr<grpc::ChannelCredentials> Trusting(const CertificateFiles& authority,
                                                   const CertificateFiles& own = {}) {
  return grpc::SslCredentials({.pem_root_certs = TextOfFile(authority.certificate),
                               .pem_private_key = TextOfFile(own.key),
                               .pem_cert_chain = TextOfFile(own.certificate)});
}

grpc::Status Ping(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::PingResponse response;
  return v1::PathPlanner::NewStub(channel)->Ping(&context, {}, &response);
}

// NOT_FOUND when the call is let in: there is no such navmesh.
grpc::Status Delete(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::DeleteNavMeshRequest request;
  request.set_navmesh_id("nowhere");
  request.set_version(1);
  v1::DeleteNavMeshResponse response;
  return v1::NavMeshRegistry::NewStub(channel)->DeleteNavMesh(&context, request, &response);
}

grpc::Status CreateWorld(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::CreateWorldRequest request;
  request.set_navmesh_id("nowhere");
  request.set_world_id("w");
  v1::CreateWorldResponse response;
  return v1::NavMeshRegistry::NewStub(channel)->CreateWorld(&context, request, &response);
}

grpc::Status CheckHealth(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  SetDeadline(context);
  grpc::health::v1::HealthCheckResponse response;
  return grpc::health::v1::Health::NewStub(channel)->Check(&context, {}, &response);
}

grpc::Status Reflect(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  SetDeadline(context);
  auto stream =
      grpc::reflection::v1alpha::ServerReflection::NewStub(channel)->ServerReflectionInfo(&context);
  grpc::reflection::v1alpha::ServerReflectionRequest request;
  request.set_list_services("");
  grpc::reflection::v1alpha::ServerReflectionResponse response;
  stream->Write(request);
  stream->WritesDone();
  while (stream->Read(&response)) {
  }
  return stream->Finish();
}

class ServiceTlsTest : public ::testing::Test {
 protected:
  ServerOptions Options(bool mutual) const {
    ServerOptions options;
    options.security.tls = {.certificate = server_.certificate,
                            .key = server_.key,
                            .client_ca = mutual ? authority_.certificate : ""};
    options.security.reload_interval_s = 0.05;
    return options;
  }
  CertificateFiles Client(const std::string& name, const std::string& san, int start_days = 0) {
    return certificates_.MakeCertificate(name, authority_, san, start_days);
  }

  TestCertificates certificates_;
  const CertificateFiles authority_ = certificates_.MakeAuthority("authority");
  const CertificateFiles server_ =
      certificates_.MakeCertificate("server", authority_, kServerNames);
};

TEST_F(ServiceTlsTest, WhoIsLetInAndWhoMayWhat) {
  ServerOptions options = Options(true);
  options.security.grants = {{Role::kPlanner, "spiffe://game/*"},
                             {Role::kChanger, "spiffe://game/worlds"},
                             {Role::kPublisher, "ops.example"}};
  const TestServer server(options);
  const std::string address = const_cast<TestServer&>(server).server().addresses()[0];
  const CertificateFiles other_authority = certificates_.MakeAuthority("other_authority");

  struct Refused {
    const char* what;
    std::shared_ptr<grpc::ChannelCredentials> how;
  };
  const CertificateFiles wrong =
      certificates_.MakeCertificate("wrong", other_authority, "URI:spiffe://game/a");
  const CertificateFiles planner = Client("planner", "URI:spiffe://game/a");
  for (const Refused& refused :
       {Refused{"clear text", grpc::InsecureChannelCredentials()},
        Refused{"no certificate", Trusting(authority_)},
        Refused{"wrong authority", Trusting(authority_, wrong)},
        Refused{"expired", Trusting(authority_, Client("expired", "URI:spiffe://game/a", -2))},
        Refused{"not yet", Trusting(authority_, Client("early", "URI:spiffe://game/a", 2))},
        Refused{"server not trusted", Trusting(other_authority, planner)}}) {
    SCOPED_TRACE(refused.what);
    const auto channel = Connect(address, refused.how);
    EXPECT_EQ(Ping(channel).error_code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_EQ(CheckHealth(channel).error_code(), grpc::StatusCode::UNAVAILABLE);
  }

  const auto planning = Connect(address, Trusting(authority_, planner));
  EXPECT_TRUE(Ping(planning).ok());
  EXPECT_TRUE(CheckHealth(planning).ok());
  EXPECT_TRUE(Reflect(planning).ok());
  const grpc::Status denied = Delete(planning);
  EXPECT_EQ(denied.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(denied.error_message(),
              AllOf(HasSubstr("\"spiffe://game/a\""), HasSubstr("publisher"),
                    HasSubstr("/arclane.v1.NavMeshRegistry/DeleteNavMesh")));
  EXPECT_EQ(CreateWorld(planning).error_code(), grpc::StatusCode::PERMISSION_DENIED);

  const auto changing =
      Connect(address, Trusting(authority_, Client("w", "URI:spiffe://game/worlds")));
  EXPECT_EQ(CreateWorld(changing).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Delete(changing).error_code(), grpc::StatusCode::PERMISSION_DENIED);

  const auto publishing = Connect(address, Trusting(authority_, Client("ops", "DNS:OPS.example")));
  EXPECT_TRUE(Ping(publishing).ok());
  EXPECT_EQ(Delete(publishing).error_code(), grpc::StatusCode::NOT_FOUND);

  // A DNS name that looks like the URI of a planner.
  const auto nobody = Connect(address, Trusting(authority_, Client("nobody", "DNS:game.example")));
  EXPECT_TRUE(CheckHealth(nobody).ok());
  EXPECT_EQ(Ping(nobody).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(Reflect(nobody).error_code(), grpc::StatusCode::PERMISSION_DENIED);

  EXPECT_EQ(server.MetricValue("arclane_authorization_denied_total{method=\"DeleteNavMesh\"}"), 2);
  EXPECT_EQ(server.MetricValue("arclane_authorization_denied_total{method=\"Ping\"}"), 1);
  EXPECT_EQ(server.MetricValue("arclane_calls_total{code=\"PERMISSION_DENIED\",method=\"Ping\"}"),
            1);
  EXPECT_EQ(server.MetricValue("arclane_authorization_denied_total{method=\"other\"}"), 1);
  EXPECT_GT(server.MetricValue("arclane_tls_certificate_expiry_timestamp_seconds"),
            static_cast<double>(time(nullptr)));
}

TEST_F(ServiceTlsTest, WithoutGrantsClientsMayPlanAndChangeNothing) {
  TestServer server(Options(true));
  const auto channel = Connect(server.server().addresses()[0],
                               Trusting(authority_, Client("any", "DNS:any.example")));
  EXPECT_TRUE(Ping(channel).ok());
  EXPECT_EQ(Delete(channel).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(CreateWorld(channel).error_code(), grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(ServiceTlsTest, WithoutClientCertificatesNobodyIsAskedForARole) {
  TestServer server(Options(false));
  const auto channel = Connect(server.server().addresses()[0], Trusting(authority_));
  EXPECT_TRUE(Ping(channel).ok());
  EXPECT_EQ(Delete(channel).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServiceTlsTest, HealthCanBeClosed) {
  ServerOptions options = Options(true);
  options.security.grants = {{Role::kPlanner, "planner.example"}};
  options.security.open_services = {};
  TestServer server(options);
  const std::string address = server.server().addresses()[0];
  EXPECT_TRUE(
      CheckHealth(Connect(address, Trusting(authority_, Client("p", "DNS:planner.example")))).ok());
  EXPECT_EQ(CheckHealth(Connect(address, Trusting(authority_, Client("o", "DNS:other.example"))))
                .error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(ServiceTlsTest, SocketsAndTheHealthAddressAreClearText) {
  ServerOptions options = Options(true);
  const std::string socket = "unix:" + certificates_.Path("socket");
  options.addresses.push_back(socket);
  options.health_addresses = {"127.0.0.1:0"};
  options.security.grants = {{Role::kPlanner, "unix"}};
  TestServer server(options);
  const auto local = Connect(socket, grpc::InsecureChannelCredentials());
  EXPECT_TRUE(Ping(local).ok());
  EXPECT_EQ(Delete(local).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  const auto probe =
      Connect(server.server().health_addresses().at(0), grpc::InsecureChannelCredentials());
  EXPECT_TRUE(CheckHealth(probe).ok());
  EXPECT_EQ(Ping(probe).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(Reflect(probe).error_code(), grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(ServiceTlsTest, TheClientLibraryReadsTheSameFiles) {
  TestServer server(Options(true));
  const CertificateFiles own = Client("sdk", "DNS:sdk.example");
  ClientOptions options;
  options.target = server.server().addresses()[0];
  options.tls = {
      .ca_file = authority_.certificate, .certificate_file = own.certificate, .key_file = own.key};
  auto client = Client::Create(options);
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE((*client)->Ping("", 0).ok());
  options.tls->server_name = "elsewhere.example";
  client = Client::Create(options);
  ASSERT_TRUE(client.ok());
  EXPECT_EQ((*client)->CheckHealth().error().code, absl::StatusCode::kUnavailable);
  options.tls->server_name = "localhost";
  client = Client::Create(options);
  EXPECT_TRUE((*client)->CheckHealth().ok());
  options.tls->key_file = "";
  EXPECT_THAT(std::string(Client::Create(options).status().message()),
              HasSubstr("belong together"));
  options.tls->key_file = "/nowhere";
  EXPECT_THAT(std::string(Client::Create(options).status().message()), HasSubstr("/nowhere"));
}

class RotationTest : public ServiceTlsTest {
 protected:
  // Until new connections that trust `authority` are let in.
  bool AwaitTrust(const std::string& address, const CertificateFiles& authority) {
    for (int i = 0; i < 400; ++i) {
      if (Ping(Connect(address, Trusting(authority))).ok()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    return false;
  }
  bool AwaitAbove(const TestServer& server, const std::string& series, double value) {
    for (int i = 0; i < 400; ++i) {
      if (server.MetricValue(series) > value) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    return false;
  }

  static constexpr char kFailed[] = "arclane_tls_reloads_total{result=\"failed\"}";
  static constexpr char kOk[] = "arclane_tls_reloads_total{result=\"ok\"}";
  const CertificateFiles new_authority_ = certificates_.MakeAuthority("new_authority");
  const CertificateFiles new_server_ =
      certificates_.MakeCertificate("new_server", new_authority_, kServerNames);
};

TEST_F(RotationTest, NewConnectionsGetTheNewCertificateAndOpenStreamsLiveOn) {
  TestServer server(Options(false));
  const std::string address = server.server().addresses()[0];
  const auto old_channel = Connect(address, Trusting(authority_));
  grpc::ClientContext context;
  auto stream = v1::PathPlanner::NewStub(old_channel)->PingStream(&context);
  v1::PingStreamResponse response;
  ASSERT_TRUE(stream->Write({}) && stream->Read(&response));
  ASSERT_FALSE(Ping(Connect(address, Trusting(new_authority_))).ok());

  ReplaceFile(new_server_.key, server_.key);
  ReplaceFile(new_server_.certificate, server_.certificate);
  ASSERT_TRUE(AwaitTrust(address, new_authority_));
  EXPECT_EQ(server.MetricValue(kOk), 1);
  EXPECT_EQ(Ping(Connect(address, Trusting(authority_))).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  // The stream and its connection are those of before.
  EXPECT_TRUE(stream->Write({}) && stream->Read(&response));
  EXPECT_TRUE(Ping(old_channel).ok());
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(RotationTest, APairThatDoesNotMatchKeepsTheOneBefore) {
  TestServer server(Options(false));
  const std::string address = server.server().addresses()[0];
  const std::string old_certificate = TextOfFile(server_.certificate);
  ReplaceFile(new_server_.certificate, server_.certificate);
  ASSERT_TRUE(AwaitAbove(server, kFailed, 1));  // Counted as long as it lasts.
  EXPECT_TRUE(Ping(Connect(address, Trusting(authority_))).ok());
  EXPECT_FALSE(Ping(Connect(address, Trusting(new_authority_))).ok());
  EXPECT_EQ(server.MetricValue(kOk), 0);
  // The other half comes: now it belongs together.
  ReplaceFile(new_server_.key, server_.key);
  EXPECT_TRUE(AwaitTrust(address, new_authority_));
}

TEST_F(RotationTest, FilesThatHoldNothingOrAnExpiredCertificateKeepTheOneBefore) {
  TestServer server(Options(false));
  const std::string address = server.server().addresses()[0];
  const CertificateFiles expired =
      certificates_.MakeCertificate("expired_server", authority_, kServerNames, -2);
  ReplaceFile(expired.key, server_.key);
  ReplaceFile(expired.certificate, server_.certificate);
  ASSERT_TRUE(AwaitAbove(server, kFailed, 3));
  EXPECT_TRUE(Ping(Connect(address, Trusting(authority_))).ok());
  ReplaceFile(certificates_.Path("nowhere"), server_.certificate);  // Now it is empty.
  const double failed = server.MetricValue(kFailed);
  ASSERT_TRUE(AwaitAbove(server, kFailed, failed + 1));
  EXPECT_TRUE(Ping(Connect(address, Trusting(authority_))).ok());
}

TEST_F(RotationTest, ADirectoryInPlaceOfAFileKeepsThePairBefore) {
  TestServer server(Options(false));
  const std::string address = server.server().addresses()[0];
  for (const std::string& path : {server_.certificate, server_.key}) {
    const double failed = server.MetricValue(kFailed);
    std::filesystem::rename(path, path + ".away");
    std::filesystem::create_directory(path);
    ASSERT_TRUE(AwaitAbove(server, kFailed, failed + 1));
    EXPECT_TRUE(Ping(Connect(address, Trusting(authority_))).ok());
    std::filesystem::remove(path);
    std::filesystem::rename(path + ".away", path);
  }
}

TEST_F(RotationTest, AuthoritiesOfClientsAreReplacedToo) {
  TestServer server(Options(true));
  const std::string address = server.server().addresses()[0];
  const CertificateFiles theirs =
      certificates_.MakeCertificate("theirs", new_authority_, "DNS:theirs.example");
  ASSERT_FALSE(Ping(Connect(address, Trusting(authority_, theirs))).ok());
  const std::string trusted = certificates_.Path("authority.pem");
  const std::string copy = certificates_.Path("copy.pem");
  ReplaceFile(authority_.certificate, copy);
  ReplaceFile(new_authority_.certificate, trusted);
  bool let_in = false;
  for (int i = 0; i < 400 && !let_in; ++i) {
    let_in = Ping(Connect(address, Trusting({copy, ""}, theirs))).ok();
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  EXPECT_TRUE(let_in);
}

TEST_F(RotationTest, AServerDoesNotStartWithFilesItCannotServe) {
  Metrics metrics(CurrentBuild(), ServiceLabels());
  struct Wrong {
    TlsFiles files;
    std::string why;
  };
  const CertificateFiles expired =
      certificates_.MakeCertificate("expired_server", authority_, kServerNames, -2);
  for (const Wrong& wrong :
       {Wrong{{server_.certificate, new_server_.key, ""}, "does not belong"},
        Wrong{{expired.certificate, expired.key, ""}, "has expired"},
        Wrong{{server_.key, server_.key, ""}, "holds no certificate"},
        Wrong{{server_.certificate, server_.certificate, ""}, "holds no private key"},
        Wrong{{server_.certificate, "/nowhere", ""}, "cannot read /nowhere"},
        Wrong{{"/tmp", "/nowhere", "/"}, "tls_certificate: cannot read /tmp: Is a directory\n"},
        Wrong{{"/tmp", "/nowhere", "/"}, "tls_key: cannot read /nowhere: No such file"},
        Wrong{{"/tmp", "/nowhere", "/"}, "tls_client_ca: cannot read /: Is a directory"},
        Wrong{{server_.certificate, server_.key, server_.key}, "tls_client_ca"},
        // All of it at once.
        Wrong{{expired.certificate, expired.certificate, server_.key},
              "has expired\ntls_key: " + expired.certificate +
                  " holds no private key in PEM form, or needs a passphrase\ntls_client_ca: "}}) {
    ServerOptions options;
    options.security.tls = wrong.files;
    const auto server = Server::Start(options, metrics);
    EXPECT_EQ(server.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(server.status().message()), HasSubstr(wrong.why));
  }
}

}  // namespace
}  // namespace arclane
