// SPDX-License-Identifier: Apache-2.0
#include "server/config/server_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/flags/reflection.h"
#include "server/config/flags.h"
#include "server/config/settings.h"

namespace arclane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

ServerConfig Resolved(const ConfigSources& sources) {
  const auto config = ResolveConfig(sources);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.value_or(ServerConfig{});
}

std::string ErrorOf(const ConfigSources& sources) {
  const auto config = ResolveConfig(sources);
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(config.status().message());
}

TEST(ServerConfigTest, DefaultsAreValidAndListenOnLoopbackOnly) {
  const ServerConfig config = Resolved({});
  EXPECT_THAT(config.listen, ElementsAre("127.0.0.1:50051"));
  EXPECT_EQ(config.metrics_listen, "127.0.0.1:9464");
}

TEST(ServerConfigTest, FlagWinsOverEnvironmentWinsOverFileWinsOverDefault) {
  ConfigSources sources;
  sources.flags = {{"max_portals", "1"}};
  sources.environment = {{"max_portals", "2"}, {"max_samples", "3"}};
  sources.file = {{"max_portals", "4"}, {"max_samples", "5"}, {"max_vertices", "6"}};
  const ServerConfig config = Resolved(sources);
  EXPECT_EQ(config.max_portals, 1u);
  EXPECT_EQ(config.max_samples, 3u);
  EXPECT_EQ(config.max_vertices, 6u);
  EXPECT_EQ(config.max_dependencies, ServerConfig{}.max_dependencies);
}

TEST(ServerConfigTest, AnEmptyTextIsGivenAndMeansNone) {
  ConfigSources sources;
  sources.flags = {{"capture_dir", ""}, {"open_services", ""}, {"authorize", ""}};
  sources.environment = {{"tls_certificate", ""}, {"tls_key", ""}, {"health_listen", ""}};
  sources.file = {{"capture_dir", "/tmp/x"}, {"open_services", "a.B"}, {"authorize", "planner=a"},
                  {"tls_certificate", "c"},  {"tls_key", "k"},         {"health_listen", "a:1"}};
  const ServerConfig config = Resolved(sources);
  EXPECT_EQ(config.capture_dir, "");
  EXPECT_EQ(config.tls_certificate, "");
  EXPECT_EQ(config.tls_key, "");
  EXPECT_THAT(config.open_services, ElementsAre());
  EXPECT_THAT(config.authorize, ElementsAre());
  EXPECT_THAT(config.health_listen, ElementsAre());
}

TEST(ServerConfigTest, AnEmptyTextIsAnErrorOfSettingsThatHaveNoNone) {
  ConfigSources sources;
  sources.flags = {{"listen", ""}, {"max_portals", ""}, {"log_level", ""}};
  sources.environment = {{"cache_bytes", ""}, {"drain_delay_s", ""}, {"metrics_listen", ""}};
  const std::string error = ErrorOf(sources);
  EXPECT_THAT(error, HasSubstr("listen (flag): must name at least one item"));
  EXPECT_THAT(error, HasSubstr("max_portals (flag): must be a whole number, got \"\""));
  EXPECT_THAT(error, HasSubstr("log_level (flag): must be one of trace"));
  EXPECT_THAT(error, HasSubstr("cache_bytes (environment): must be a number of bytes"));
  EXPECT_THAT(error, HasSubstr("drain_delay_s (environment): must be a number, got \"\""));
  EXPECT_THAT(error, HasSubstr("metrics_listen: must be host:port or none, got \"\""));
}

TEST(ServerConfigTest, AValueThatLosesIsNotJudged) {
  ConfigSources sources;
  sources.flags = {{"max_portals", "1"}};
  sources.file = {{"max_portals", "none"}};
  EXPECT_EQ(Resolved(sources).max_portals, 1u);
}

TEST(ServerConfigTest, TellsAllErrorsAtOnceWithTheirSources) {
  ConfigSources sources;
  sources.flags = {{"max_portals", "0"}, {"log_level", "loud"}};
  sources.environment = {{"drain_timeout_s", "nan"}, {"max_samples", "-5"}};
  sources.file = {{"max_ping_bytes", "many"}, {"listen", "here"}};
  const std::string error = ErrorOf(sources);
  EXPECT_THAT(error, HasSubstr("max_portals (flag): must be in [1, 100000000], got 0"));
  EXPECT_THAT(error, HasSubstr("log_level (flag): must be one of trace"));
  EXPECT_THAT(error, HasSubstr("drain_timeout_s (environment): must be a number, got \"nan\""));
  EXPECT_THAT(error, HasSubstr("max_samples (environment): must be a whole number, got \"-5\""));
  EXPECT_THAT(error, HasSubstr("max_ping_bytes (file): must be a number of bytes"));
  EXPECT_THAT(error,
              HasSubstr("listen: must be host:port, [ipv6]:port or unix:/path, got \"here\""));
}

TEST(ServerConfigTest, SecuritySettingsThatNeedOneAnotherAreToldTogether) {
  ConfigSources sources;
  sources.flags = {{"tls_key", "k"},
                   {"tls_client_ca", "c"},
                   {"authorize", "planner=a,king=b"},
                   {"metrics_password_file", "p"},
                   {"listen", "127.0.0.1:1"},
                   {"health_listen", "127.0.0.1:1"}};
  const std::string error = ErrorOf(sources);
  EXPECT_THAT(error, HasSubstr("tls_key: needs tls_certificate beside it"));
  EXPECT_THAT(error, HasSubstr("tls_client_ca: needs tls_certificate beside it"));
  EXPECT_THAT(error, HasSubstr("authorize: must be ROLE=PATTERN"));
  EXPECT_THAT(error, HasSubstr("got \"king=b\""));
  EXPECT_THAT(error, HasSubstr("metrics_password_file: needs metrics_user beside it"));
  EXPECT_THAT(error, HasSubstr("health_listen: \"127.0.0.1:1\" is named twice"));
  sources.flags = {{"tls_certificate", "c"},
                   {"tls_key", "k"},
                   {"tls_client_ca", "a"},
                   {"authorize", "planner=spiffe://game/*, admin=ops.example"}};
  EXPECT_THAT(Resolved(sources).authorize,
              ElementsAre("planner=spiffe://game/*", "admin=ops.example"));
}

TEST(ServerConfigTest, ReadsByteSuffixes) {
  ConfigSources sources;
  sources.flags = {
      {"max_receive_bytes", "128MiB"}, {"max_ping_bytes", "3KiB"}, {"max_admitted_bytes", "1GiB"}};
  const ServerConfig config = Resolved(sources);
  EXPECT_EQ(config.max_receive_bytes, 128u << 20);
  EXPECT_EQ(config.max_ping_bytes, 3u << 10);
  EXPECT_EQ(config.max_admitted_bytes, 1u << 30);
  sources.flags = {{"max_receive_bytes", "99999999999999999999GiB"}};
  EXPECT_THAT(ErrorOf(sources), HasSubstr("max_receive_bytes (flag): must be a number of bytes"));
  sources.flags = {{"max_receive_bytes", "18446744073709551615KiB"}};
  EXPECT_THAT(ErrorOf(sources), HasSubstr("max_receive_bytes (flag): must be a number of bytes"));
}

TEST(ServerConfigTest, ChecksLimitsAgainstEachOther) {
  ConfigSources sources;
  sources.flags = {{"max_receive_bytes", "2MiB"}, {"max_admitted_bytes", "1MiB"}};
  const std::string error = ErrorOf(sources);
  EXPECT_THAT(
      error,
      HasSubstr(
          "max_plan_corridor_bytes: must be at most max_receive_bytes (2097152), got 50331648"));
  EXPECT_THAT(error, HasSubstr("max_ping_bytes: must be at most max_receive_bytes"));
  EXPECT_THAT(error, HasSubstr("max_plan_corridor_bytes: must be at most max_admitted_bytes"));
}

TEST(ServerConfigTest, AcceptsAddressesOfEveryKind) {
  ConfigSources sources;
  sources.flags = {{"listen", "127.0.0.1:1, [::1]:2,unix:/run/a.sock,host:0,host:0"},
                   {"metrics_listen", "none"}};
  EXPECT_THAT(Resolved(sources).listen,
              ElementsAre("127.0.0.1:1", "[::1]:2", "unix:/run/a.sock", "host:0", "host:0"));
}

TEST(ServerConfigTest, RefusesAddressesThatCannotBeMeant) {
  for (const char* address :
       {"50051", ":50051", "host:", "host:65536", "host:-1", "::1:50051", "host:http", "unix:"}) {
    ConfigSources sources;
    sources.flags = {{"listen", address}};
    EXPECT_THAT(ErrorOf(sources), HasSubstr("listen: ")) << address;
  }
  ConfigSources sources;
  sources.flags = {{"listen", "a:1,a:1"}, {"metrics_listen", "unix:/x"}};
  EXPECT_THAT(ErrorOf(sources), HasSubstr("listen: \"a:1\" is named twice"));
  EXPECT_THAT(ErrorOf(sources),
              HasSubstr("metrics_listen: must be host:port or none, got \"unix:/x\""));
}

TEST(ConfigFileTest, ReadsTextsNumbersListsAndComments) {
  std::vector<std::string> errors;
  const auto texts = ParseConfigFile(R"({
    // where
    "listen": ["a:1", "b:2"],
    "max_portals": 12, /* few */
    "drain_timeout_s": 0.5,
    "log_format": "json"
  })",
                                     errors);
  EXPECT_THAT(errors, ElementsAre());
  EXPECT_THAT(texts,
              UnorderedElementsAre(Pair("listen", "a:1,b:2"), Pair("max_portals", "12"),
                                   Pair("drain_timeout_s", "0.5"), Pair("log_format", "json")));
}

TEST(ConfigFileTest, NamesUnknownDoubleAndUnfitKeysAndKeepsTheOthers) {
  std::vector<std::string> errors;
  const auto texts = ParseConfigFile(
      R"({"max_portal": 1, "max_samples": 2, "max_samples": 3, "listen": {"a": 1},
          "max_vertices": null, "max_portals": -1})",
      errors);
  EXPECT_THAT(errors, UnorderedElementsAre(
                          "max_portal (file): there is no such setting",
                          "max_samples (file): is given twice",
                          "listen (file): must be a text, a number or a list of texts",
                          "max_vertices (file): must be a text, a number or a list of texts"));
  EXPECT_THAT(texts, UnorderedElementsAre(Pair("max_samples", "3"), Pair("max_portals", "-1")));
}

TEST(ConfigFileTest, RefusesWhatIsNoObject) {
  std::vector<std::string> errors;
  for (const char* text : {"[1]", "{", ""}) {
    EXPECT_THAT(ParseConfigFile(text, errors), ElementsAre()) << text;
  }
  EXPECT_THAT(errors, ElementsAre(HasSubstr("one JSON object"), HasSubstr("not JSON"),
                                  HasSubstr("not JSON")));
}

TEST(EnvironmentTest, TakesSettingsAndTellsTheRest) {
  std::vector<std::string> ignored;
  const auto texts = SettingsOfEnvironment(
      {"ARCLANE_MAX_PORTALS=7", "ARCLANE_PORT_50051_TCP=tcp://10.0.0.1:50051", "HOME=/",
       "ARCLANE_CONFIG=/x", "ARCLANE_max_samples=1", "ARCLANE_LISTEN=a=b"},
      &ignored);
  EXPECT_THAT(texts, UnorderedElementsAre(Pair("max_portals", "7"), Pair("listen", "a=b")));
  EXPECT_THAT(ignored, ElementsAre("ARCLANE_PORT_50051_TCP", "ARCLANE_max_samples"));
}

TEST(PrintConfigTest, IsReadBackToTheSameValues) {
  ConfigSources sources;
  sources.flags = {{"listen", "a:1,b:2"},
                   {"drain_timeout_s", "12.345678901234567"},
                   {"ready_file", "/a \"b\""},
                   {"open_services", ""}};
  const std::string printed = PrintConfig(Resolved(sources));
  EXPECT_TRUE(nlohmann::json::accept(printed)) << printed;
  std::vector<std::string> errors;
  ConfigSources again;
  again.file = ParseConfigFile(printed, errors);
  EXPECT_THAT(errors, ElementsAre());
  EXPECT_EQ(PrintConfig(Resolved(again)), printed);
}

TEST(SettingsTest, EverySettingIsAFlagWithHelp) {
  // Keeps the flags linked.
  char name[] = "program";
  char* words[] = {name, nullptr};
  ASSERT_TRUE(ReadCommandLine(1, words, "version").ok());
  for (const Setting& setting : Settings()) {
    const auto* flag = absl::FindCommandLineFlag({setting.name.data(), setting.name.size()});
    ASSERT_NE(flag, nullptr) << setting.name;
    EXPECT_EQ(flag->Help(), std::string(SettingHelp(setting.name))) << setting.name;
    EXPECT_THAT(flag->Help(), HasSubstr("Default: ")) << setting.name;
  }
}

}  // namespace
}  // namespace arclane
