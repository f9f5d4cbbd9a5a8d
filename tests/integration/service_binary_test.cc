// SPDX-License-Identifier: Apache-2.0
// arclane-server as a process: its files, signals, messages and exit codes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "arclane/v1/navmesh.grpc.pb.h"
#include "arclane/v1/planner.grpc.pb.h"
#include "tests/support/grid_mesh.h"
#include "tests/support/neutral_message.h"

namespace arclane {
namespace {

using ::testing::HasSubstr;

class Process {
 public:
  explicit Process(std::vector<std::string> arguments, const std::string& name = "server")
      : output_path_(::testing::TempDir() + "arclane_binary_test_" + std::to_string(getpid()) +
                     "_" + name) {
    arguments.insert(arguments.begin(), ARCLANE_SERVER_BINARY);
    pid_ = fork();
    if (pid_ == 0) {
      const int output = open(output_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(output, 1);
      dup2(output, 2);
      std::vector<char*> words;
      for (std::string& argument : arguments) words.push_back(argument.data());
      words.push_back(nullptr);
      execv(words[0], words.data());
      _exit(127);
    }
  }
  ~Process() {
    if (running_) {
      kill(pid_, SIGKILL);
      Await();
    }
    std::filesystem::remove(output_path_);
  }

  void Signal(int signal) { kill(pid_, signal); }
  pid_t pid() const { return pid_; }
  // The exit code, or minus the signal that killed it: SIGKILL after half a minute.
  int Await() {
    int status = 0;
    for (int i = 1; waitpid(pid_, &status, WNOHANG) == 0; ++i) {
      if (i == 6000) kill(pid_, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    running_ = false;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  std::string Output() const {
    std::ifstream file(output_path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  const std::string output_path_;
  pid_t pid_ = -1;
  bool running_ = true;
};

class ServiceBinaryTest : public ::testing::Test {
 protected:
  ~ServiceBinaryTest() override { std::filesystem::remove(ready_path_); }

  std::vector<std::string> Arguments(const std::string& listen, const std::string& metrics) const {
    return {"--listen=" + listen, "--metrics-listen=" + metrics, "--ready-file=" + ready_path_};
  }
  nlohmann::json AwaitReady() const {
    for (int i = 0; i < 2000; ++i) {
      std::ifstream file(ready_path_);
      if (file) return nlohmann::json::parse(file);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ADD_FAILURE() << "never ready";
    return {};
  }

  const std::string ready_path_ =
      ::testing::TempDir() + "arclane_binary_test_" + std::to_string(getpid()) + "_ready";
};

TEST_F(ServiceBinaryTest, TellsItsPortsServesAndEndsOnSigterm) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Process server(Arguments("127.0.0.1:0", "127.0.0.1:0"));
    const auto ready = AwaitReady();
    EXPECT_EQ(ready["pid"], server.pid());
    const std::string address = ready["grpc"][0];
    EXPECT_EQ(address, "127.0.0.1:" + std::to_string(ready["grpc_port"].get<int>()));
    const auto stub =
        v1::PathPlanner::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    v1::PingResponse response;
    EXPECT_TRUE(stub->Ping(&context, {}, &response).ok());
    server.Signal(signal);
    EXPECT_EQ(server.Await(), 0);
    EXPECT_THAT(server.Output(), HasSubstr("listening grpc=" + address +
                                           " metrics=" + ready["metrics"].get<std::string>()));
    EXPECT_THAT(server.Output(), HasSubstr("stopped all_calls_ended=true"));
    EXPECT_FALSE(std::filesystem::exists(ready_path_));
  }
}

// As on a full disk: the publication that does not fit fails, and the server lives on.
TEST_F(ServiceBinaryTest, AStoreThatReachesTheLimitOnFilesFailsTheCallAlone) {
  const std::string folder = ready_path_ + "_data";
  std::filesystem::remove_all(folder);
  std::vector<std::string> arguments = Arguments("127.0.0.1:0", "none");
  arguments.push_back("--data-dir=" + folder);
  Process server(arguments);
  const std::string address = AwaitReady()["grpc"][0];
  const auto registry = v1::NavMeshRegistry::NewStub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  const auto publish = [&](uint64_t version) {
    NeutralMesh mesh = testing::GridMesh({.width = 30, .height = 30});
    for (double& x : mesh.x) x += static_cast<double>(version);
    v1::PublishNavMeshResponse response;
    return testing::Publish(*registry, "map", version, mesh, &response);
  };
  ASSERT_TRUE(publish(1).ok());
  rlimit before{};
  ASSERT_EQ(prlimit(server.pid(), RLIMIT_FSIZE, nullptr, &before), 0);
  const rlimit small = {.rlim_cur = 60'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(prlimit(server.pid(), RLIMIT_FSIZE, &small, nullptr), 0);
  grpc::Status status;
  uint64_t version = 2;
  for (; status.ok() && version < 20; ++version) status = publish(version);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  ASSERT_EQ(prlimit(server.pid(), RLIMIT_FSIZE, &before, nullptr), 0);
  EXPECT_TRUE(publish(version).ok());
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Await(), 0);
  std::filesystem::remove_all(folder);
}

TEST_F(ServiceBinaryTest, ASecondServerOnOnePortSaysWhichAndFails) {
  Process first(Arguments("127.0.0.1:0", "127.0.0.1:0"));
  const auto ready = AwaitReady();
  const std::string grpc_address = ready["grpc"][0], metrics_address = ready["metrics"];
  Process second({"--listen=" + grpc_address, "--metrics-listen=none"}, "second");
  EXPECT_EQ(second.Await(), 1);
  EXPECT_THAT(second.Output(), HasSubstr("arclane-server: cannot listen on " + grpc_address +
                                         ": Address already in use"));
  Process third({"--listen=127.0.0.1:0", "--metrics-listen=" + metrics_address}, "third");
  EXPECT_EQ(third.Await(), 1);
  EXPECT_THAT(third.Output(), HasSubstr("cannot serve metrics on " + metrics_address));
  first.Signal(SIGTERM);
  EXPECT_EQ(first.Await(), 0);
}

TEST_F(ServiceBinaryTest, ASecondServerOnOneUnixSocketFailsAndTheFirstServesOn) {
  const std::string path = ready_path_ + ".sock", address = "unix:" + path;
  {  // Of a server that was killed: it is replaced.
    Process killed(Arguments(address, "none"), "killed");
    AwaitReady();
  }
  ASSERT_TRUE(std::filesystem::is_socket(path));
  std::filesystem::remove(ready_path_);
  Process first(Arguments(address, "none"));
  EXPECT_EQ(AwaitReady()["grpc"][0], address);
  Process second({"--listen=" + address, "--metrics-listen=none"}, "second");
  EXPECT_EQ(second.Await(), 1);
  EXPECT_THAT(second.Output(), HasSubstr("arclane-server: cannot listen on " + address +
                                         ": Address already in use\n"));
  const auto ping = [&address] {
    grpc::ClientContext context;
    v1::PingResponse response;
    return v1::PathPlanner::NewStub(
               grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))
        ->Ping(&context, {}, &response)
        .ok();
  };
  EXPECT_TRUE(ping());
  // Whoever removes the file lets another server in; the end of the first does not take its socket.
  std::filesystem::remove(path);
  std::filesystem::remove(ready_path_);
  Process third(Arguments(address, "none"), "third");
  AwaitReady();
  first.Signal(SIGTERM);
  EXPECT_EQ(first.Await(), 0);
  EXPECT_TRUE(ping());
  third.Signal(SIGTERM);
  EXPECT_EQ(third.Await(), 0);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ServiceBinaryTest, APathThatIsNoSocketIsToldAndLeft) {
  const std::string path = ready_path_ + ".file";
  std::ofstream(path) << "text";
  struct Wrong {
    std::string address;
    std::string why;
  };
  for (const Wrong& wrong :
       {Wrong{"unix:" + path, "a file that is no socket stands there; it is left as it is"},
        Wrong{"unix:/tmp", "Is a directory"},
        Wrong{"unix:/nowhere/at/all", "its folder /nowhere/at/ does not exist"},
        Wrong{"unix:/tmp/" + std::string(110, 'x'),
              "the path has 115 bytes, a socket's has at most 107"}}) {
    Process server({"--listen=" + wrong.address, "--metrics-listen=none"});
    EXPECT_EQ(server.Await(), 1);
    EXPECT_THAT(server.Output(), HasSubstr("arclane-server: cannot listen on " + wrong.address +
                                           ": " + wrong.why + "\n"));
  }
  EXPECT_EQ(std::filesystem::file_size(path), 4u);
  std::filesystem::remove(path);
}

TEST_F(ServiceBinaryTest, WrongSettingsAreToldTogether) {
  Process server({"--max-portals=0", "--listen=nowhere", "stray"});
  EXPECT_EQ(server.Await(), 1);
  EXPECT_THAT(server.Output(), HasSubstr("max_portals (flag): must be in"));
  EXPECT_THAT(server.Output(), HasSubstr("listen: must be host:port"));
  EXPECT_THAT(server.Output(), HasSubstr("\"stray\" is no flag"));
}

TEST_F(ServiceBinaryTest, WrongFlagsVariablesAndFilesAreToldTogether) {
  const std::string path = ready_path_ + ".json";
  std::ofstream(path) << R"({"max_portals": -1, "portals": 1, "max_samples": null})";
  setenv("ARCLANE_MAX_VERTICES", "few", 1);
  Process server({"--config=" + path, "--lisen=a:1", "--log-level=loud", "--max-batch-items"});
  unsetenv("ARCLANE_MAX_VERTICES");
  EXPECT_EQ(server.Await(), 1);
  for (const std::string& line :
       {std::string("--lisen: there is no such flag\n"), std::string("--max_batch_items: needs"),
        std::string("log_level (flag): must be one of"),
        std::string("max_vertices (environment): must be a whole number, got \"few\""),
        "config: " + path + ": portals (file): there is no such setting\n",
        "config: " + path + ": max_samples (file): must be a text, a number or a list",
        std::string("max_portals (file): must be a whole number, got \"-1\"")}) {
    EXPECT_THAT(server.Output(), HasSubstr(line));
  }
  std::filesystem::remove(path);
}

TEST_F(ServiceBinaryTest, AnEmptyFlagWinsOverTheFile) {
  const std::string path = ready_path_ + ".json";
  std::ofstream(path) << R"({"capture_dir": "/tmp/x", "tls_certificate": "c", "tls_key": "k"})";
  Process config({"--config=" + path, "--capture-dir=", "--tls-certificate=", "--tls-key", "",
                  "--print-config"});
  EXPECT_EQ(config.Await(), 0);
  const auto printed = nlohmann::json::parse(config.Output());
  for (const char* name : {"capture_dir", "tls_certificate", "tls_key"}) {
    EXPECT_EQ(printed[name], "") << name;
  }
  // No file in place of the one that the environment names.
  setenv("ARCLANE_CONFIG", "/nowhere", 1);
  Process none({"--config=", "--print-config"}, "none");
  unsetenv("ARCLANE_CONFIG");
  EXPECT_EQ(none.Await(), 0);
  Process listen({"--listen=", "--print-config"}, "listen");
  EXPECT_EQ(listen.Await(), 1);
  EXPECT_THAT(listen.Output(), HasSubstr("listen (flag): must name at least one item"));
  std::filesystem::remove(path);
}

TEST_F(ServiceBinaryTest, PrintsConfigurationAndVersion) {
  Process config({"--print-config", "--max-portals=5"});
  EXPECT_EQ(config.Await(), 0);
  EXPECT_EQ(nlohmann::json::parse(config.Output())["max_portals"], 5);
  Process version({"--version"}, "version");
  EXPECT_EQ(version.Await(), 0);
  EXPECT_THAT(version.Output(), HasSubstr("arclane-server "));
}

TEST_F(ServiceBinaryTest, ReadsAFileAndFlagsWinOverIt) {
  const std::string path = ready_path_ + ".json";
  std::ofstream(path) << "{\"max_portals\": 5, \"max_samples\": 6} // end\n";
  Process config({"--config=" + path, "--print-config", "--max-samples=7"});
  EXPECT_EQ(config.Await(), 0);
  const auto printed = nlohmann::json::parse(config.Output());
  EXPECT_EQ(printed["max_portals"], 5);
  EXPECT_EQ(printed["max_samples"], 7);
  std::filesystem::remove(path);
  Process missing({"--config=" + path}, "missing");
  EXPECT_EQ(missing.Await(), 1);
  EXPECT_THAT(missing.Output(), HasSubstr("cannot read " + path));
}

TEST_F(ServiceBinaryTest, ADirectoryInPlaceOfAFileIsAnErrorAtStart) {
  Process config({"--config=/tmp"});
  EXPECT_EQ(config.Await(), 1);
  EXPECT_EQ(config.Output(), "arclane-server: config: cannot read /tmp: Is a directory\n");
  Process certificate({"--listen=127.0.0.1:0", "--metrics-listen=none", "--tls-certificate=/tmp",
                       "--tls-key=/tmp", "--tls-client-ca=/nowhere"});
  EXPECT_EQ(certificate.Await(), 1);
  for (const char* line : {"tls_certificate: cannot read /tmp: Is a directory\n",
                           "tls_key: cannot read /tmp: Is a directory\n",
                           "tls_client_ca: cannot read /nowhere: No such file or directory\n"}) {
    EXPECT_THAT(certificate.Output(), HasSubstr(line));
  }
}

TEST_F(ServiceBinaryTest, KeepsItsSettingsWhileADirectoryStandsForTheFile) {
  const std::string path = ready_path_ + ".json";
  std::ofstream(path) << R"({"log_level": "info"})";
  std::vector<std::string> arguments = Arguments("127.0.0.1:0", "none");
  arguments.push_back("--config=" + path);
  Process server(arguments);
  AwaitReady();
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  server.Signal(SIGHUP);
  for (int i = 0; i < 1000; ++i) {
    if (server.Output().find("those before stay") != std::string::npos) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_THAT(server.Output(), HasSubstr("the settings are wrong; those before stay"));
  EXPECT_THAT(server.Output(), HasSubstr(path + ": Is a directory"));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Await(), 0);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace arclane
