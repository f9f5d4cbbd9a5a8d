// SPDX-License-Identifier: Apache-2.0
#include "client/cli/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "client/cli/request_input.h"
#include "google/protobuf/util/message_differencer.h"
#include "tests/support/reference_data.h"
#include "tests/unit/client/fake_planner.h"
#include "tests/unit/client/plan_examples.h"

namespace arclane {
namespace {

using testing::FakePlanner;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::PlanExample;
using ::testing::StartsWith;
using testing::StatusBuilder;

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

Outcome RunArclane(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), "arclane");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  const ExitCode code = RunCli(static_cast<int>(argv.size()), argv.data(), {in, out, err});
  return {code, out.str(), err.str()};
}

std::string WriteTempFile(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

// Answers every request with the rounded example, but refuses a start with x < 0.
class CliTest : public ::testing::Test {
 protected:
  CliTest() {
    unsetenv("ARCLANE_SERVER");
    planner_.OnPlan([](grpc::ServerContext&, const v1::PlanCorridorRequest& request,
                       v1::PlanCorridorResponse& response) {
      if (request.start().x() < 0) {
        return StatusBuilder(grpc::StatusCode::INVALID_ARGUMENT, "2 invalid fields")
            .Reason("INVALID_FIELD")
            .Violation("start.x", "must be >= 0, got -1")
            .Violation("goal", "is required")
            .Build();
      }
      response = testing::RoundedPlan().response;
      return grpc::Status::OK;
    });
  }

  Outcome RunOnServer(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), {"--server", planner_.target()});
    return RunArclane(std::move(arguments), input);
  }

  FakePlanner planner_;
};

TEST_F(CliTest, PlanCorridorTellsTheRouteAsTables) {
  const Outcome outcome = RunOnServer({"plan-corridor", "-"}, "{\"start\": {\"x\": 1}}");
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, testing::ReadFile(std::string(ARCLANE_SOURCE_DIR) +
                                           "/tests/unit/client/plan_corridor_table.txt"));
}

TEST_F(CliTest, PlanCorridorWritesProtobufJson) {
  const Outcome outcome = RunOnServer({"plan-corridor", "-", "--json"}, "{}");
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  v1::PlanCorridorResponse response;
  ASSERT_TRUE(ParseJson(outcome.out, "out", 1, response).ok());
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(response,
                                                                 testing::RoundedPlan().response));
}

TEST_F(CliTest, OneBadLineKeepsNoOtherFromItsAnswer) {
  const std::string lines =
      "{\"start\": {\"x\": 1}}\n"
      "{\"start\": {\"x\": [1]}}\n"
      "\n"
      "{\"start\": {\"x\": -1}}\n"
      "{\"start\": {\"x\": 2}\n"
      "{\"start\": {\"x\": 3}}\n";
  const Outcome outcome = RunOnServer({"plan-corridor", "-"}, lines);
  EXPECT_EQ(outcome.code, ExitCode::kBadInput) << "the first failure is a line that is no request";
  EXPECT_THAT(outcome.out, HasSubstr("     1  COMPLETE"));
  EXPECT_THAT(outcome.out, HasSubstr("     2  INVALID_ARGUMENT"));
  EXPECT_THAT(outcome.out, HasSubstr("     4  start.x: must be >= 0, got -1"));
  EXPECT_THAT(outcome.out, HasSubstr("     5  INVALID_ARGUMENT"));
  EXPECT_THAT(outcome.out, HasSubstr("     6  COMPLETE"));
  EXPECT_THAT(outcome.err, HasSubstr("standard input:2:17: start.x: "));
  EXPECT_THAT(outcome.err, HasSubstr("standard input:4: INVALID_ARGUMENT INVALID_FIELD: 2 fields"));
  EXPECT_THAT(outcome.err, HasSubstr("  goal: is required"));
  EXPECT_THAT(outcome.err, HasSubstr("standard input:5:19: expected ',' or '}'"));
}

TEST_F(CliTest, JsonLinesKeepTheOrderOfRequestsWithErrorsInPlace) {
  std::string lines;
  for (int i = 0; i < 100; ++i) {
    lines += i % 10 == 3 ? "{\"start\": {\"x\": -1}}\n" : "{\"start\": {\"x\": 1}}\n";
  }
  const Outcome outcome =
      RunOnServer({"plan-corridor", "-", "--json", "--with-request", "--parallel", "7"}, lines);
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  std::istringstream out(outcome.out);
  std::string line;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(std::getline(out, line)) << i;
    if (i % 10 == 3) {
      EXPECT_THAT(line, HasSubstr("{\"error\":{\"code\":\"INVALID_ARGUMENT\","
                                  "\"reason\":\"INVALID_FIELD\""));
      EXPECT_THAT(line, HasSubstr("{\"field\":\"goal\",\"description\":\"is required\"}"));
    } else {
      EXPECT_THAT(line, StartsWith("{\"request\":{\"start\":{\"x\":1}"));
    }
  }
  EXPECT_FALSE(std::getline(out, line));
}

TEST_F(CliTest, LinesFlagTakesASingleLineAsOneOfMany) {
  const Outcome outcome = RunOnServer({"plan-corridor", "-", "--lines"}, "{}\n");
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_THAT(outcome.out, HasSubstr("     1  COMPLETE"));
}

TEST_F(CliTest, RefusedRequestListsItsFields) {
  const Outcome outcome = RunOnServer({"plan-corridor", "-"}, "{\"start\": {\"x\": -1}}");
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, StartsWith("INVALID_ARGUMENT INVALID_FIELD: 2 fields are wrong\n"
                                      "  start.x: must be >= 0, got -1\n"
                                      "  goal: is required\n"));
}

TEST_F(CliTest, SamplingFlagsReachTheServer) {
  planner_.OnPlan([](grpc::ServerContext&, const v1::PlanCorridorRequest& request,
                     v1::PlanCorridorResponse& response) {
    response.mutable_route()->set_outcome(v1::OUTCOME_COMPLETE);
    response.mutable_route()->set_length(request.sampling().spacing());
    return grpc::Status::OK;
  });
  const Outcome outcome = RunOnServer({"plan-corridor", "-", "--json", "--spacing", "0.25"}, "{}");
  EXPECT_THAT(outcome.out, HasSubstr("\"length\": 0.25"));
}

TEST_F(CliTest, MissingFileAndEmptyInputAreBadInput) {
  Outcome outcome = RunOnServer({"plan-corridor", "no/such/file.json"});
  EXPECT_EQ(outcome.code, ExitCode::kBadInput);
  EXPECT_EQ(
      outcome.err,
      "cannot read no/such/file.json: No such file or directory; check the name, or give - for "
      "standard input\n");
  outcome = RunOnServer({"plan-corridor", "-"}, " \n");
  EXPECT_EQ(outcome.code, ExitCode::kBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("standard input is empty"));
  outcome = RunOnServer({"plan-corridor", "--lines", "no/such/file.json"});
  EXPECT_EQ(outcome.code, ExitCode::kBadInput);
}

TEST_F(CliTest, AFolderInPlaceOfAFileIsBadInputOfEveryCommand) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"plan-corridor", "/tmp"},
                                                  {"plan-batch", "/tmp"},
                                                  {"plot", "/tmp"},
                                                  {"follow", "/tmp"},
                                                  {"navmesh", "publish", "town", "/tmp"}}) {
    const Outcome outcome = RunOnServer(command);
    EXPECT_EQ(outcome.code, ExitCode::kBadInput) << command[0];
    EXPECT_THAT(outcome.err, StartsWith("cannot read /tmp: Is a directory")) << command[0];
  }
  const Outcome lines = RunOnServer({"plan-corridor", "--lines", "/tmp"});
  EXPECT_EQ(lines.code, ExitCode::kBadInput);
  const Outcome tls = RunOnServer({"ping", "--tls-ca", "/tmp"});
  EXPECT_EQ(tls.code, ExitCode::kUsage);
  EXPECT_THAT(tls.err, HasSubstr("cannot read /tmp: Is a directory"));
}

TEST_F(CliTest, WrongJsonIsToldWithLineAndField) {
  const std::string path =
      WriteTempFile("wrong.json", "{\n  \"agent\": {\n    \"limits\": {\"max_sped\": 3}\n  }\n}\n");
  Outcome outcome = RunOnServer({"plan-corridor", path});
  EXPECT_EQ(outcome.code, ExitCode::kBadInput);
  EXPECT_EQ(outcome.err, path + ":3:28: agent.limits.max_sped: no such field\n");
  outcome = RunOnServer({"plan-corridor", "-"}, "{\n \"start\": {\"x\": 1}\n \"goal\": {}}");
  EXPECT_EQ(outcome.err, "standard input:3:2: expected ',' or '}'\n");
}

TEST(CliWithoutServerTest, SaysHowToStartOne) {
  FakePlanner planner;
  const std::string target = planner.target();
  planner.Stop();
  for (const std::vector<std::string>& command : {std::vector<std::string>{"plan-corridor", "-"},
                                                  {"ping"},
                                                  {"limits"},
                                                  {"health"},
                                                  {"plot", "-"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--server", target});
    const Outcome outcome = RunArclane(arguments, "{}");
    EXPECT_EQ(outcome.code, ExitCode::kUnavailable) << command[0];
    EXPECT_THAT(outcome.err, StartsWith("no server answers at " + target));
    EXPECT_THAT(outcome.err, HasSubstr("arclane-server"));
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(CliTest, DeadlineHasItsOwnExitCode) {
  planner_.OnPlan([](grpc::ServerContext& context, auto&&...) {
    while (!context.IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return grpc::Status::CANCELLED;
  });
  const Outcome outcome = RunOnServer({"plan-corridor", "-", "--deadline", "50ms"}, "{}");
  EXPECT_EQ(outcome.code, ExitCode::kDeadline);
  EXPECT_THAT(outcome.err, HasSubstr("The limit was 50ms; allow more with --deadline."));
}

TEST_F(CliTest, EnvironmentNamesTheServer) {
  setenv("ARCLANE_SERVER", planner_.target().c_str(), 1);
  EXPECT_EQ(RunArclane({"health"}).code, ExitCode::kOk);
  unsetenv("ARCLANE_SERVER");
}

TEST_F(CliTest, HealthAnswersByExitCode) {
  Outcome outcome = RunOnServer({"health"});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_EQ(outcome.out, "SERVING\n");
  planner_.server().GetHealthCheckService()->SetServingStatus("", false);
  outcome = RunOnServer({"health"});
  EXPECT_EQ(outcome.code, ExitCode::kUnavailable);
  EXPECT_EQ(outcome.out, "NOT_SERVING\n");
  outcome = RunOnServer({"health", "--service", "nobody"});
  EXPECT_EQ(outcome.code, ExitCode::kUnavailable);
  EXPECT_THAT(outcome.err, HasSubstr("knows no service \"nobody\""));
}

TEST_F(CliTest, PingAndLimitsPrintWhatTheyFind) {
  Outcome outcome = RunOnServer({"ping", "--count", "3"});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_THAT(outcome.out, HasSubstr("3 pings: fastest "));
  outcome = RunOnServer({"ping", "--count", "20", "--stream", "--response-size", "100"});
  EXPECT_THAT(outcome.out, StartsWith("20 pings: fastest "));
  outcome = RunOnServer({"limits"});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_THAT(outcome.out, HasSubstr("max_samples"));
  EXPECT_THAT(outcome.out, HasSubstr("1000000"));
  EXPECT_THAT(RunOnServer({"limits", "--json"}).out, HasSubstr("\"max_samples\": 1000000"));
}

TEST_F(CliTest, PlotDrawsARequestAndAnAnswerThatWasKept) {
  const PlanExample plan = testing::RoundedPlan();
  const std::string request = ToJson(plan.request, JsonLayout::kIndented);
  const Outcome asked = RunOnServer({"plot", "-"}, request);
  EXPECT_EQ(asked.code, ExitCode::kOk) << asked.err;
  EXPECT_THAT(asked.out, StartsWith("<svg "));
  const Outcome kept = RunOnServer({"plan-corridor", "-", "--json", "--with-request"}, request);
  planner_.Stop();
  const Outcome drawn = RunOnServer({"plot", "-"}, kept.out);
  EXPECT_EQ(drawn.code, ExitCode::kOk) << drawn.err;
  EXPECT_EQ(drawn.out, asked.out);
}

TEST_F(CliTest, PlotSaysWhatAnAnswerAloneLacks) {
  const Outcome outcome = RunOnServer({"plot", "-"}, "{\"route\": {\"length\": 1}}");
  EXPECT_EQ(outcome.code, ExitCode::kBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("--with-request"));
}

TEST_F(CliTest, SvgFlagWritesOnePictureARequest) {
  const std::string request = ToJson(testing::RoundedPlan().request, JsonLayout::kOneLine);
  const std::string base = ::testing::TempDir() + "/picture";
  EXPECT_EQ(RunOnServer({"plan-corridor", "-", "--svg", base + ".svg"}, request).code,
            ExitCode::kOk);
  EXPECT_THAT(testing::ReadFile(base + ".svg"), StartsWith("<svg "));
  EXPECT_EQ(
      RunOnServer({"plan-corridor", "-", "--svg", base + ".svg"}, request + "\n" + request + "\n")
          .code,
      ExitCode::kOk);
  EXPECT_EQ(testing::ReadFile(base + "-2.svg"), testing::ReadFile(base + ".svg"));
}

TEST_F(CliTest, EveryPlanCommandTellsItsAnswer) {
  planner_.waypoints_answer = testing::RoundedWaypoints().response;
  planner_.spline_answer = testing::CurveWithStop(4).response;
  planner_.speed_answer.mutable_plan()->set_outcome(v1::SPEED_OUTCOME_INFEASIBLE_START);
  planner_.speed_answer.mutable_plan()->set_max_start_speed(2.5);
  const Outcome waypoints = RunOnServer({"plan-waypoints", "-"}, "{}");
  EXPECT_EQ(waypoints.code, ExitCode::kOk) << waypoints.err;
  EXPECT_THAT(waypoints.out, StartsWith("COMPLETE: "));
  EXPECT_THAT(waypoints.out, HasSubstr("  waypoint  kind"));
  const Outcome spline = RunOnServer({"plan-spline", "-"}, "{}");
  EXPECT_EQ(spline.code, ExitCode::kOk) << spline.err;
  EXPECT_THAT(spline.out, StartsWith("OK: the plan holds every limit\n"
                                     "length 5.1416 (off by at most 1e-09), duration 6.373 s, "
                                     "1 stops where the direction jumps\n"));
  EXPECT_THAT(spline.out, HasSubstr("  0    3.1416    -90.00\n"));
  EXPECT_THAT(spline.out, HasSubstr("speed phases (4)"));
  EXPECT_THAT(spline.out, HasSubstr("samples (9)"));
  const Outcome speed = RunOnServer({"plan-speed", "-"}, "{}");
  EXPECT_EQ(speed.code, ExitCode::kOk) << speed.err;
  EXPECT_THAT(speed.out, StartsWith("INFEASIBLE_START: "));
  EXPECT_THAT(speed.out, HasSubstr("highest feasible start speed 2.5"));
}

TEST_F(CliTest, EveryPlanCommandTakesManyLines) {
  planner_.spline_answer = testing::CurveWithStop(4).response;
  planner_.speed_answer.mutable_plan()->set_outcome(v1::SPEED_OUTCOME_OK);
  const Outcome spline = RunOnServer({"plan-spline", "-"}, "{}\n{\"spline\": 1}\n{}\n");
  EXPECT_EQ(spline.code, ExitCode::kBadInput);
  EXPECT_THAT(spline.out,
              HasSubstr("     1  OK                          5.14159      6.37333        1"
                        "        1\n"));
  EXPECT_THAT(spline.out, HasSubstr("     2  INVALID_ARGUMENT"));
  EXPECT_THAT(spline.out, HasSubstr("     3  OK"));
  const Outcome speed = RunOnServer({"plan-speed", "-", "--json", "--with-request"}, "{}\n{}\n");
  EXPECT_EQ(speed.code, ExitCode::kOk);
  EXPECT_EQ(speed.out,
            "{\"request\":{},\"response\":{\"plan\":{\"outcome\":\"SPEED_OUTCOME_OK\"}}}\n"
            "{\"request\":{},\"response\":{\"plan\":{\"outcome\":\"SPEED_OUTCOME_OK\"}}}\n");
}

TEST_F(CliTest, MalformedCurveAnswerIsAFailureOfTheServer) {
  planner_.spline_answer = testing::CurveWithStop(4).response;
  planner_.spline_answer.mutable_plan()->mutable_stops()->add_distance(1);
  const Outcome outcome = RunOnServer({"plan-spline", "-"}, "{}");
  EXPECT_EQ(outcome.code, ExitCode::kRefused);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("stops: turn_angle_rad has 1 elements, distance has 2"));
}

TEST_F(CliTest, PlotFindsOutWhatKindOfPlanAFileHolds) {
  const testing::CurveExample curve = testing::CurveWithStop(4);
  planner_.spline_answer = curve.response;
  const testing::WaypointsExample waypoints = testing::RoundedWaypoints();
  planner_.waypoints_answer = waypoints.response;
  const std::string request = ToJson(curve.request, JsonLayout::kIndented);
  const Outcome asked = RunOnServer({"plot", "-"}, request);
  EXPECT_EQ(asked.code, ExitCode::kOk) << asked.err;
  EXPECT_THAT(asked.out, HasSubstr("control points"));
  EXPECT_GT(planner_.spline_request.sampling().count(), 100u) << "a curve is drawn from samples";
  const Outcome kept = RunOnServer({"plan-spline", "-", "--json", "--with-request"}, request);
  EXPECT_EQ(RunOnServer({"plot", "-"}, kept.out).out, asked.out);
  const Outcome route =
      RunOnServer({"plot", "-"}, ToJson(waypoints.request, JsonLayout::kIndented));
  EXPECT_EQ(route.code, ExitCode::kOk) << route.err;
  EXPECT_THAT(route.out, HasSubstr(">waypoints<"));
  const Outcome speed = RunOnServer({"plot", "-"}, "{\"pieces\": {\"length\": [1]}}");
  EXPECT_EQ(speed.code, ExitCode::kBadInput);
  EXPECT_THAT(speed.err, HasSubstr("has no map"));
}

TEST_F(CliTest, OutFlagWritesAFile) {
  const std::string path = ::testing::TempDir() + "/answer.json";
  const Outcome outcome = RunOnServer({"plan-corridor", "-", "--json", "--out", path}, "{}");
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(testing::ReadFile(path), HasSubstr("OUTCOME_COMPLETE"));
  EXPECT_EQ(RunOnServer({"plan-corridor", "-", "--out", "/no/such/folder/x"}, "{}").code,
            ExitCode::kBadInput);
}

TEST_F(CliTest, AFileThatCannotBeWrittenIsToldBeforeTheServerIsAsked) {
  bool asked = false;
  planner_.OnPlan(
      [&asked](grpc::ServerContext&, const v1::PlanCorridorRequest&, v1::PlanCorridorResponse&) {
        asked = true;
        return grpc::Status::OK;
      });
  const std::string request = ToJson(testing::RoundedPlan().request, JsonLayout::kOneLine);
  const std::string new_file = ::testing::TempDir() + "/not_made.txt";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"plan-corridor", "-", "--out", "/tmp"},
        {"plan-corridor", "-", "--svg", "/tmp"},
        {"plan-batch", "-", "--out", "/tmp"},
        {"plot", "-", "--out", "/tmp"},
        {"follow", "-", "--out", "/tmp"},
        {"follow", "-", "--out", new_file, "--svg", "/tmp"},
        {"navmesh", "draw", "town", "--out", "/tmp"}}) {
    const Outcome outcome = RunOnServer(command, request);
    EXPECT_EQ(outcome.code, ExitCode::kBadInput) << command[0];
    EXPECT_EQ(outcome.err, "cannot write /tmp: Is a directory\n") << command[0];
  }
  EXPECT_FALSE(asked);
  EXPECT_FALSE(std::ifstream(new_file).is_open());
}

TEST_F(CliTest, AFileStaysAsItIsWhenThereIsNothingToWrite) {
  const std::string path = WriteTempFile("kept.svg", "before");
  EXPECT_EQ(RunOnServer({"plot", "-", "--out", path}, "{\"start\": {\"x\": -1}}").code,
            ExitCode::kRefused);
  EXPECT_EQ(testing::ReadFile(path), "before");
  const std::string request = ToJson(testing::RoundedPlan().request, JsonLayout::kOneLine);
  EXPECT_EQ(RunOnServer({"plot", "-", "--out", path}, request).code, ExitCode::kOk);
  EXPECT_THAT(testing::ReadFile(path), StartsWith("<svg "));
}

TEST(CliUsageTest, WrongCommandLinesAreUsageErrors) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{},
        {"no-such-command"},
        {"plan-corridor"},
        {"health", "--deadline", "3"},
        {"health", "--deadline", "-1s"},
        {"plan-corridor", "-", "--with-request"},
        {"plan-speed", "-", "--svg", "x.svg"},
        {"plan-speed", "-", "--spacing", "1"},
        {"plan-spline", "-", "--count", "3", "--spacing", "1"},
        {"plan-corridor", "-", "--parallel", "0"},
        {"plan-corridor", "-", "--count", "3", "--spacing", "1"},
        {"health", "--server", ""}}) {
    const Outcome outcome = RunArclane(arguments, "{}");
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << ::testing::PrintToString(arguments);
    EXPECT_NE(outcome.err, "") << ::testing::PrintToString(arguments);
  }
  EXPECT_THAT(RunArclane({"no-such-command"}).err,
              HasSubstr("unknown command \"no-such-command\""));
}

TEST(CliUsageTest, HelpTellsCommandsExamplesAndExitCodes) {
  const Outcome outcome = RunArclane({"--help"});
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  for (const char* text :
       {"plan-corridor", "plan-waypoints", "plan-spline", "plan-speed", "plot", "ping", "limits",
        "health", "ARCLANE_SERVER", "Exit codes:", "Examples:"}) {
    EXPECT_THAT(outcome.out, HasSubstr(text));
  }
  EXPECT_EQ(RunArclane({"plan-corridor", "--help"}).code, ExitCode::kOk);
  EXPECT_THAT(RunArclane({"--version"}).out, StartsWith("arclane "));
}

}  // namespace
}  // namespace arclane
