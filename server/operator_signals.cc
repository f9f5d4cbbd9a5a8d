// SPDX-License-Identifier: Apache-2.0
#include "server/operator_signals.h"

#include <cerrno>
#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "server/config/flags.h"
#include "server/config/settings.h"
#include "server/telemetry/cpu_profile.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
// Settings that are applied while the process runs.
constexpr std::string_view kLiveSettings[] = {"log_level", "log_success_sample", "log_lines_per_s",
                                              "slow_request_ms"};

std::string_view View(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

sigset_t SignalSet() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kSignals) sigaddset(&set, signal);
  return set;
}

class SignalLoop {
 public:
  SignalLoop(const ServerConfig& config, const std::string& config_file, Server& server)
      : config_(config), config_file_(config_file), server_(server) {}

  int Run() {
    const sigset_t set = SignalSet();
    while (true) {
      const int signal = Next(set);
      switch (signal) {
        case SIGTERM:
        case SIGINT:
          EndProfile();
          return signal;
        case SIGHUP:
          Reload();
          break;
        case SIGUSR1:
          ToggleProfile();
          break;
        case SIGUSR2:
          ToggleDebug();
          break;
        default:
          break;
      }
    }
  }

 private:
  // 0 when a profile has reached its end instead.
  int Next(const sigset_t& set) {
    while (true) {
      int signal = 0;
      if (!profile_end_) {
        if (sigwait(&set, &signal) == 0) return signal;
        continue;
      }
      const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::max(Clock::duration::zero(), *profile_end_ - Clock::now()));
      const timespec timeout = {static_cast<time_t>(left.count() / 1'000'000'000),
                                static_cast<long>(left.count() % 1'000'000'000)};
      signal = sigtimedwait(&set, nullptr, &timeout);
      if (signal > 0) return signal;
      if (errno == EAGAIN) {
        EndProfile();
        return 0;
      }
    }
  }

  void Reload() {
    server_.ReloadCertificate();
    const auto config = ReadSettingsAgain(config_file_);
    if (!config.ok()) {
      Log(LogLevel::kError, "the settings are wrong; those before stay",
          {{"why", View(config.status())}});
      return;
    }
    std::string waiting;
    for (const Setting& setting : Settings()) {
      if (SettingAsJson(setting, *config) == SettingAsJson(setting, config_)) continue;
      bool live = false;
      for (const std::string_view name : kLiveSettings) live |= setting.name == name;
      if (!live) waiting.append(waiting.empty() ? "" : ",").append(setting.name);
    }
    debug_ = false;
    SetLogLevel(LogLevelOf(config->log_level));
    server_.SetLogOptions(AccessLogOptionsOf(*config));
    log_level_ = config->log_level;
    Log(LogLevel::kInfo, "settings on logs are read again",
        {{"log_level", config->log_level},
         {"changed_but_need_a_restart", waiting.empty() ? std::string("none") : waiting}});
  }

  void ToggleDebug() {
    debug_ = !debug_;
    SetLogLevel(debug_ ? LogLevel::kDebug : LogLevelOf(log_level_));
    Log(LogLevel::kInfo, "log level changed",
        {{"log_level", debug_ ? std::string("debug") : log_level_}});
  }

  void ToggleProfile() {
    if (CpuProfileIsRunning()) {
      EndProfile();
      return;
    }
    if (config_.profile_dir.empty()) {
      Log(LogLevel::kWarn, "no profile is taken: profile_dir is unset");
      return;
    }
    const auto path = StartCpuProfile(config_.profile_dir);
    if (!path.ok()) {
      Log(LogLevel::kError, "no profile is taken", {{"why", View(path.status())}});
      return;
    }
    profile_ = *path;
    profile_end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(config_.profile_max_s));
    Log(LogLevel::kInfo, "a CPU profile is being taken",
        {{"file", profile_}, {"most_s", config_.profile_max_s}});
  }

  void EndProfile() {
    profile_end_.reset();
    if (!CpuProfileIsRunning()) return;
    StopCpuProfile();
    Log(LogLevel::kInfo, "the CPU profile is complete", {{"file", profile_}});
  }

  const ServerConfig& config_;
  const std::string& config_file_;
  Server& server_;
  std::string log_level_ = config_.log_level;
  bool debug_ = false;
  std::string profile_;
  std::optional<Clock::time_point> profile_end_;
};

}  // namespace

void BlockSignals() {
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = SignalSet();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int AwaitEnd(const ServerConfig& config, const std::string& config_file, Server& server) {
  const int signal = SignalLoop(config, config_file, server).Run();
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
  return signal;
}

AccessLogOptions AccessLogOptionsOf(const ServerConfig& config) {
  return {.success_sample = config.log_success_sample,
          .lines_per_s = config.log_lines_per_s,
          .slow_s = config.slow_request_ms / 1e3};
}

}  // namespace arclane
