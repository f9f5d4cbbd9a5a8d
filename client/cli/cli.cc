// SPDX-License-Identifier: Apache-2.0
#include "client/cli/cli.h"

#include <CLI/CLI.hpp>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/batch_command.h"
#include "client/cli/follow_command.h"
#include "client/cli/navmesh_commands.h"
#include "client/cli/plan_command.h"
#include "client/cli/plot_command.h"
#include "client/cli/server_commands.h"

namespace arclane {
namespace {

constexpr char kAbout[] =
    "Plans drivable routes inside navmesh corridors, by a running arclane-server.";

constexpr char kFooter[] = R"(Examples:
  arclane plan-corridor request.json             plan, and show the route as tables
  arclane plan-corridor request.json --json      the answer as Protobuf JSON
  arclane plan-corridor many.jsonl --json        one request a line, one answer a line
  arclane plan-corridor request.json --svg route.svg
  arclane plan-batch many.jsonl                  up to 10,000 requests in one call, answers in order
  arclane plan-spline curve.json --svg curve.svg
  arclane plot request.json --out route.svg      plan a corridor, waypoints or a curve, and draw it
  arclane navmesh publish town town.bin          publish a Detour file, or a neutral mesh
  arclane navmesh apply town --close 7           close a gate
  arclane navmesh draw town --out town.svg       the mesh, its gates and links
  arclane follow request.json --svg track.svg    an agent on the route, its track and speed
  arclane health && echo ready                   for health checks

Each command's --help shows a request of its kind. Every field is described in proto/arclane/v1.

Exit codes:
  0  answered (an outcome such as CANNOT_STOP is an answer)
  1  refused by the server, or failed there
  2  the command line is wrong
  3  a file cannot be read or written, or holds no request
  4  no server answers, or it is not serving
  5  the deadline passed
With many requests: the code of the first that failed.)";

// Turns "5s", "200ms" or "1m30s" into a duration > 0.
std::string ParseDeadline(const std::string& text, absl::Duration& deadline) {
  if (!absl::ParseDuration(text, &deadline) || deadline <= absl::ZeroDuration()) {
    return "\"" + text + "\" is no duration above zero; write 5s, 200ms or 1m30s";
  }
  return "";
}

// All flags of all commands; which command was given is known after parsing.
struct Flags {
  ServerFlags server;
  PlanFlags plan_corridor, plan_waypoints, plan_spline, plan_speed;
  BatchFlags plan_batch;
  PlotFlags plot;
  FollowFlags follow;
  PingFlags ping;
  NavMeshFlags navmesh;
  bool limits_json = false;
  std::string health_service;
};

template <typename Method>
CLI::App* AddPlan(CLI::App& app, const char* about, PlanFlags& flags) {
  CLI::App* command = app.add_subcommand(Method::kCommand, about);
  command
      ->add_option(
          "file", flags.file,
          absl::StrCat(Method::kRequestName, " in Protobuf JSON; - reads the standard input"))
      ->required()
      ->type_name("FILE");
  command->add_flag("--json", flags.json,
                    "Answers as Protobuf JSON; failed lines as {\"error\": ...}");
  command
      ->add_flag(
          "--with-request", flags.with_request,
          Method::kHasSampling
              ? "With --json: {\"request\": ..., \"response\": ...}, what `arclane plot` reads"
              : "With --json: {\"request\": ..., \"response\": ...}")
      ->needs("--json");
  command->add_flag("--lines", flags.lines,
                    "One request a line, answered as they come (otherwise found out by looking)");
  command->add_option("--out", flags.out_file, "Write the answers to a file")->type_name("FILE");
  if constexpr (Method::kHasSampling) {
    command
        ->add_option("--svg", flags.svg_file,
                     "Also draw the plan; of many, \"-<line>\" is put before the extension")
        ->type_name("FILE");
    CLI::Option* spacing =
        command->add_option("--spacing", flags.spacing, "Sample every plan at this spacing");
    command->add_option("--count", flags.count, "Sample every plan at this many points")
        ->excludes(spacing);
  }
  command->add_option("--parallel", flags.parallel, "Requests in flight at once")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--rows", flags.max_rows, "Rows of each table at most")
      ->check(CLI::Range(2, 1000000000))
      ->capture_default_str();
  command->add_flag("--quiet", flags.quiet, "No progress on the standard error");
  command->footer(absl::StrCat("A request:\n  ", Method::kExample));
  return command;
}

// As CLI::Range, which lets what is not a number pass.
CLI::Validator Finite(double low, double high) {
  CLI::Validator validator(absl::StrCat("NUMBER in [", low, " - ", high, "]"));
  validator.operation([low, high](const std::string& text) {
    double value = 0.0;
    const bool fits = absl::SimpleAtod(text, &value) && value >= low && value <= high;
    return fits ? std::string()
                : absl::StrCat("\"", text, "\" is no number in [", low, " - ", high, "]");
  });
  return validator;
}

CLI::App* AddPlanBatch(CLI::App& app, BatchFlags& flags) {
  CLI::App* command = app.add_subcommand("plan-batch", "Plan many requests in one call");
  command
      ->add_option("file", flags.file,
                   "One request a line in Protobuf JSON; - reads the standard input")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--kind", flags.kind,
                   "What a line holds: the request of a plan-... command, or a PlanItem")
      ->check(CLI::IsMember({"corridor", "waypoints", "spline", "speed", "item"}))
      ->capture_default_str();
  command
      ->add_option("--shared", flags.shared_file,
                   "What the items share: a PlanShared in Protobuf JSON")
      ->type_name("FILE");
  command->add_option("--navmesh", flags.navmesh_id, "The navmesh whose polygons items name")
      ->type_name("ID");
  command->add_flag("--bypass-cache", flags.bypass_cache, "Plan also what is kept");
  command->add_option("--max-chunk-bytes", flags.max_chunk_bytes, "Largest message of answers");
  command
      ->add_option("--time-budget", flags.time_budget_s,
                   "Seconds after which nothing more is planned")
      ->check(Finite(0.0, 1e9));
  command->add_option("--items", flags.batch_items, "Items of one call at most")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_flag("--json", flags.json,
                    "Answers as Protobuf JSON, one a line; failed ones as {\"error\": ...}");
  command->add_option("--out", flags.out_file, "Write the answers to a file")->type_name("FILE");
  command->footer(R"(A file of two requests:
{"start": {"x": 0, "y": 0}, "goal": {"x": 6, "y": 5}, "corridor": {"portals": {"left": {"x": [1, 4], "y": [1, 4]}, "right": {"x": [1, 4], "y": [-1, 3]}}}, "agent": {"limits": {"max_speed": 4, "max_acceleration": 3, "max_braking": 3}}}
{"start": {"x": 0, "y": 0}, "goal": {"x": 6, "y": 4}, "corridor": {"portals": {"left": {"x": [1, 4], "y": [1, 4]}, "right": {"x": [1, 4], "y": [-1, 3]}}}, "agent": {"limits": {"max_speed": 4, "max_acceleration": 3, "max_braking": 3}}})");
  return command;
}

CLI::App* AddPlot(CLI::App& app, PlotFlags& flags) {
  CLI::App* command =
      app.add_subcommand("plot", "Draw a route or a curve and its speed plan as SVG");
  command
      ->add_option("file", flags.file,
                   "A request, or {\"request\": ..., \"response\": ...} as written by "
                   "`plan-... --json --with-request`; - reads the standard input")
      ->required()
      ->type_name("FILE");
  command->add_option("--out", flags.out_file, "Write the picture to a file")->type_name("FILE");
  command->add_option("--title", flags.title, "Heading; otherwise the outcome in words")
      ->type_name("TEXT");
  command->add_option("--width", flags.width, "Width in pixels")
      ->check(Finite(500.0, 10000.0))
      ->capture_default_str();
  command->add_flag("--no-charts", flags.no_charts, "The map alone");
  return command;
}

// The commands of `arclane navmesh`; `run` receives the one that is given.
using NavMeshCommand = ExitCode (*)(const NavMeshFlags&, const ServerFlags&, CliStreams);
CLI::App* AddNavMesh(CLI::App& app, NavMeshFlags& flags, NavMeshCommand& run) {
  CLI::App* group =
      app.add_subcommand("navmesh", "Publish navmeshes, change, show, watch and draw them");
  group->require_subcommand(1);
  const auto add = [&](const char* name, const char* about, NavMeshCommand command) {
    CLI::App* added = group->add_subcommand(name, about);
    added->callback([&run, command] { run = command; });
    return added;
  };
  const auto named = [&](const char* name, const char* about, NavMeshCommand command) {
    CLI::App* added = add(name, about, command);
    added->add_option("navmesh", flags.navmesh_id, "The navmesh's name")
        ->required()
        ->type_name("ID");
    return added;
  };
  const auto versioned = [&](const char* name, const char* about, NavMeshCommand command) {
    CLI::App* added = named(name, about, command);
    added->add_option("version", flags.version, "The version")->required()->type_name("VERSION");
  };
  CLI::App* publish = named("publish", "Publish a version", RunNavMeshPublish);
  publish
      ->add_option("file", flags.file,
                   "A Detour file (MSET), or a NeutralNavMesh in Protobuf JSON or encoded; - reads "
                   "the standard input")
      ->required()
      ->type_name("FILE");
  publish->add_option("--version", flags.version, "The version; 1 unless given");
  publish->add_option("--gates", flags.gates_file, "{\"gates\": [...]} in Protobuf JSON")
      ->type_name("FILE");
  publish->add_flag("--inactive", flags.inactive, "Do not make it the active version");
  publish->add_flag("--json", flags.json, "As Protobuf JSON");
  add("list", "Show all navmeshes", RunNavMeshList)
      ->add_flag("--json", flags.json, "As Protobuf JSON");
  named("get", "Show a navmesh and its versions", RunNavMeshGet)
      ->add_flag("--json", flags.json, "As Protobuf JSON");
  versioned("activate", "Make a version the active one", RunNavMeshActivate);
  versioned("retire", "Let no new requests use a version", RunNavMeshRetire);
  versioned("delete", "Delete a version", RunNavMeshDelete);
  CLI::App* apply =
      named("apply", "Open and close gates, set links and costs: all or nothing", RunNavMeshApply);
  apply->add_option("--world", flags.world_id, "Of this world rather than of the version");
  apply->add_option("--version", flags.version, "Of this version rather than the active one");
  apply->add_option("--open", flags.open, "Gates to open")->delimiter(',');
  apply->add_option("--close", flags.close, "Gates to close")->delimiter(',');
  apply->add_option("--enable", flags.enable, "Links to enable")->delimiter(',');
  apply->add_option("--disable", flags.disable, "Links to disable")->delimiter(',');
  apply->add_option("--cost", flags.costs, "Costs of areas")
      ->delimiter(',')
      ->type_name("AREA=COST");
  apply->add_option("--request-id", flags.request_id, "Sent again under it, nothing is done twice");
  apply->add_option("--expect-epoch", flags.expected_epoch, "Only if nothing changed after it");
  apply->add_flag("--json", flags.json, "As Protobuf JSON");
  CLI::App* watch =
      named("watch", "Tell every change, one a line as Protobuf JSON", RunNavMeshWatch);
  watch->add_option("--world", flags.world_id, "Of this world");
  watch->add_option("--known-epoch", flags.known_epoch, "The last epoch known; no snapshot then");
  watch->add_option("--known-life", flags.known_life,
                    "The life that told it; a snapshot of others");
  watch->add_option("--count", flags.event_count, "Events to tell; endless unless given");
  CLI::App* draw = named("draw", "Draw a version as SVG, gates and links coloured", RunNavMeshDraw);
  draw->add_option("--version", flags.version, "The version; the active one unless given");
  draw->add_option("--world", flags.world_id, "With the states of this world");
  draw->add_option("--out", flags.out_file, "Write the picture to a file")->type_name("FILE");
  draw->add_option("--width", flags.width, "Width in pixels")
      ->check(Finite(200.0, 10000.0))
      ->capture_default_str();
  const auto with_world = [&](CLI::App* command) {
    command->add_option("world", flags.world_id, "The world's name")
        ->required()
        ->type_name("WORLD");
    return command;
  };
  with_world(named("create-world", "Create a world over a navmesh", RunNavMeshCreateWorld))
      ->add_option("--version", flags.version, "The version; the active one unless given");
  with_world(named("delete-world", "Delete a world", RunNavMeshDeleteWorld));
  named("worlds", "Show the worlds over a navmesh", RunNavMeshWorlds)
      ->add_flag("--json", flags.json, "As Protobuf JSON");
  return group;
}

CLI::App* AddFollow(CLI::App& app, FollowFlags& flags) {
  CLI::App* command =
      app.add_subcommand("follow", "Plan a route, let an agent follow it, and tell what happens");
  command
      ->add_option("file", flags.file,
                   "PlanCorridorRequest in Protobuf JSON; - reads the standard input")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--integrator", flags.integrator,
                   "How the controller moves: hold, ramp within the step, or a step of delay")
      ->check(CLI::IsMember({"hold", "ramp", "delay"}))
      ->capture_default_str();
  FollowScenario& scenario = flags.scenario;
  command->add_option("--dt", scenario.dt_s, "Length of a step in seconds")
      ->check(Finite(1e-4, 1.0))
      ->capture_default_str();
  command
      ->add_option("--noise", scenario.position_noise,
                   "Standard deviation of the reported position, in each axis")
      ->check(Finite(0.0, 1e100));
  command->add_option("--seed", scenario.seed, "Of the noise")->capture_default_str();
  command
      ->add_option("--close-gate", flags.close_gates,
                   "Close a gate of the corridor's dependencies at a time; can be repeated")
      ->type_name("ID@SECONDS");
  command->add_option("--cancel", scenario.cancel_s, "Cancel at this time")
      ->check(Finite(0.0, 1e9))
      ->type_name("SECONDS");
  command->add_option("--time", scenario.most_s, "End after so many seconds at the latest")
      ->check(Finite(1e-9, 1e9))
      ->capture_default_str();
  command->add_option("--log-every", flags.log_every_s, "Seconds between rows of the log")
      ->check(Finite(1e-9, 1e9))
      ->capture_default_str();
  command->add_option("--out", flags.out_file, "Write the log to a file")->type_name("FILE");
  command
      ->add_option(
          "--svg", flags.svg_file,
          "Draw the track and the speed against the plan's ceiling: how fast the plan is there, or "
          "means to become")
      ->type_name("FILE");
  command->add_option("--title", flags.title, "Heading of the picture")->type_name("TEXT");
  command->add_option("--width", flags.width, "Width of the picture in pixels")
      ->check(Finite(500.0, 10000.0))
      ->capture_default_str();
  command->footer(
      R"(A request with a gate at its second portal, to be closed with --close-gate 7@1.5:
  {"start": {"x": 0, "y": 0}, "goal": {"x": 6, "y": 5},
   "corridor": {"portals": {"left":  {"x": [1, 4], "y": [1, 4]},
                            "right": {"x": [1, 4], "y": [-1, 3]}},
                "dependencies": {"portal_index": [1], "kind": ["DEPENDENCY_KIND_GATE"], "id": ["7"]}},
   "agent": {"limits": {"max_speed": 4, "max_acceleration": 3, "max_braking": 3}}})");
  return command;
}

void AddTls(CLI::App& app, ServerFlags& flags) {
  app.add_flag("--tls", flags.tls, "Speak TLS; implied by the flags below")->envname("ARCLANE_TLS");
  app.add_option(
         "--tls-ca,--tls_ca", flags.tls_ca,
         "PEM file of the authorities that the server is trusted by; the system's otherwise")
      ->envname("ARCLANE_TLS_CA")
      ->type_name("FILE");
  app.add_option("--tls-certificate,--tls_certificate", flags.tls_certificate,
                 "PEM file of this client's certificate, for servers that ask for one")
      ->envname("ARCLANE_TLS_CERTIFICATE")
      ->type_name("FILE");
  app.add_option("--tls-key,--tls_key", flags.tls_key, "PEM file of its key")
      ->envname("ARCLANE_TLS_KEY")
      ->type_name("FILE");
  app.add_option("--tls-server-name,--tls_server_name", flags.tls_server_name,
                 "The name that the server's certificate must have, if not the target's host")
      ->envname("ARCLANE_TLS_SERVER_NAME")
      ->type_name("NAME");
}

CLI::App* AddPing(CLI::App& app, PingFlags& flags) {
  CLI::App* command = app.add_subcommand("ping", "Measure round trips that plan nothing");
  command->add_option("--count", flags.count, "How many")
      ->check(CLI::Range(1u, 1000000u))
      ->capture_default_str();
  command->add_option("--request-size", flags.request_size, "Bytes to send")->capture_default_str();
  command->add_option("--response-size", flags.response_size, "Bytes to get back")
      ->capture_default_str();
  command->add_flag("--stream", flags.stream, "Over one stream");
  return command;
}

}  // namespace

ExitCode RunCli(int argc, const char* const* argv, CliStreams streams) {
  Flags flags;
  CLI::App app(kAbout, "arclane");
  app.set_version_flag("--version", "arclane " ARCLANE_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--server", flags.server.target, "Where the server is")
      ->envname("ARCLANE_SERVER")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--deadline",
         [&flags](const std::string& text) {
           const std::string fault = ParseDeadline(text, flags.server.deadline);
           if (!fault.empty()) throw CLI::ValidationError("--deadline", fault);
         },
         "Longest time for one answer, retries included")
      ->type_name("DURATION")
      ->default_str("10s");
  AddTls(app, flags.server);
  const CLI::App* plan_corridor =
      AddPlan<CorridorMethod>(app, "Plan the route in a corridor", flags.plan_corridor);
  const CLI::App* plan_waypoints = AddPlan<WaypointsMethod>(
      app, "Plan along waypoints, their corners rounded", flags.plan_waypoints);
  const CLI::App* plan_spline = AddPlan<SplineMethod>(
      app, "Sample a curve by its length, and plan the speed along it", flags.plan_spline);
  const CLI::App* plan_speed = AddPlan<SpeedMethod>(
      app, "Plan the speed over lengths and radii, or over a curvature", flags.plan_speed);
  const CLI::App* plan_batch = AddPlanBatch(app, flags.plan_batch);
  const CLI::App* plot = AddPlot(app, flags.plot);
  NavMeshCommand run_navmesh = nullptr;
  const CLI::App* navmesh = AddNavMesh(app, flags.navmesh, run_navmesh);
  const CLI::App* follow = AddFollow(app, flags.follow);
  const CLI::App* ping = AddPing(app, flags.ping);
  CLI::App* limits =
      app.add_subcommand("limits", "Show the limits on requests that the server has");
  limits->add_flag("--json", flags.limits_json, "As Protobuf JSON");
  CLI::App* health = app.add_subcommand("health", "Exit with 0 when the server is serving");
  health->add_option("--service", flags.health_service,
                     "arclane.v1.PathPlanner: ready; liveness: alive; empty: the server");
  health
      ->add_option_function<std::string>(
          "--timeout",
          [&flags](const std::string& text) {
            const std::string fault = ParseDeadline(text, flags.server.deadline);
            if (!fault.empty()) throw CLI::ValidationError("--timeout", fault);
          },
          "Longest time to wait; --deadline otherwise")
      ->type_name("DURATION");

  app.footer(kFooter);  // After the commands, which would inherit it.

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.get_subcommands().empty() && !app.remaining().empty()) {
      streams.err << "unknown command \"" << app.remaining().front()
                  << "\"; arclane --help lists all\n";
      return ExitCode::kUsage;
    }
    return app.exit(error, streams.out, streams.err) == 0 ? ExitCode::kOk : ExitCode::kUsage;
  }
  if (plan_corridor->parsed()) {
    return RunPlan<CorridorMethod>(flags.plan_corridor, flags.server, streams);
  }
  if (plan_waypoints->parsed()) {
    return RunPlan<WaypointsMethod>(flags.plan_waypoints, flags.server, streams);
  }
  if (plan_spline->parsed()) return RunPlan<SplineMethod>(flags.plan_spline, flags.server, streams);
  if (plan_speed->parsed()) return RunPlan<SpeedMethod>(flags.plan_speed, flags.server, streams);
  if (plan_batch->parsed()) return RunPlanBatch(flags.plan_batch, flags.server, streams);
  if (plot->parsed()) return RunPlot(flags.plot, flags.server, streams);
  if (navmesh->parsed()) return run_navmesh(flags.navmesh, flags.server, streams);
  if (follow->parsed()) return RunFollow(flags.follow, flags.server, streams);
  if (ping->parsed()) return RunPing(flags.ping, flags.server, streams);
  if (limits->parsed()) return RunLimits(flags.limits_json, flags.server, streams);
  return RunHealth(flags.health_service, flags.server, streams);
}

}  // namespace arclane
