// SPDX-License-Identifier: Apache-2.0
#include "server/service/request_capture.h"

#include <fcntl.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/service/message_bytes.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

namespace fs = std::filesystem;

// What waits to be written.
constexpr size_t kMostWaiting = 16;
constexpr uint64_t kMostWaitingBytes = 32 << 20;
// A flood of failures must not push out what came before it within a moment.
constexpr double kFilesPerSecond = 2;
constexpr double kFilesAtOnce = 10;
constexpr char kSuffix[] = ".json";
constexpr char kDraftSuffix[] = ".draft";
constexpr char kPrefix[] = "capture-";

// Of the messages that are replayed; null for other methods.
std::unique_ptr<google::protobuf::Message> RequestOf(MethodId method) {
  const std::string name = absl::StrCat("arclane.v1.", std::string(MethodName(method)), "Request");
  const auto* descriptor =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(name);
  if (descriptor == nullptr) return nullptr;
  const auto* prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor);
  return std::unique_ptr<google::protobuf::Message>(prototype->New());
}

bool IsCapture(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.rfind(kPrefix, 0) == 0 && path.extension() == kSuffix;
}

// Readable for this user alone, whole or not at all.
bool WriteFile(const std::string& path, const std::string& text) {
  const std::string draft = path + kDraftSuffix;
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    written += static_cast<size_t>(count);
  }
  const bool closed = close(file) == 0;
  if (written == text.size() && closed && std::rename(draft.c_str(), path.c_str()) == 0)
    return true;
  unlink(draft.c_str());
  return false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RequestCapture>> RequestCapture::Start(
    const CaptureOptions& options) {
  std::error_code error;
  fs::create_directories(options.directory, error);
  if (!error) {
    fs::permissions(options.directory, fs::perms::owner_all, error);
    if (access(options.directory.c_str(), W_OK | X_OK) != 0) {
      error = std::error_code(errno, std::generic_category());
    }
  }
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot write captures to ", options.directory, ": ", error.message()));
  }
  // What a process that was killed left half written.
  for (fs::directory_iterator file(options.directory, error), end; !error && file != end;
       file.increment(error)) {
    std::error_code ignored;
    if (file->path().filename().string().rfind(kPrefix, 0) == 0 &&
        file->path().extension() == kDraftSuffix) {
      fs::remove(file->path(), ignored);
    }
  }
  return std::unique_ptr<RequestCapture>(new RequestCapture(options));
}

RequestCapture::RequestCapture(CaptureOptions options)
    : options_(std::move(options)), places_(kFilesAtOnce), refilled_(absl::Now()) {
  thread_ = std::thread([this] { Work(); });
}

RequestCapture::~RequestCapture() {
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
  }
  thread_.join();
}

void RequestCapture::Take(CapturedCall call) {
  const uint64_t bytes = call.request.Length();
  absl::MutexLock lock(&mutex_);
  const absl::Time now = absl::Now();
  places_ =
      std::min(kFilesAtOnce, places_ + kFilesPerSecond * absl::ToDoubleSeconds(now - refilled_));
  refilled_ = now;
  if (places_ < 1 || waiting_.size() >= kMostWaiting ||
      waiting_bytes_ + bytes > kMostWaitingBytes) {
    return;
  }
  places_ -= 1;
  waiting_bytes_ += bytes;
  waiting_.push_back(std::move(call));
}

void RequestCapture::Work() {
  const auto something_to_do = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ending_ || !waiting_.empty();
  };
  while (true) {
    CapturedCall call;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&something_to_do));
      if (waiting_.empty()) return;
      call = std::move(waiting_.front());
      waiting_.pop_front();
    }
    const uint64_t bytes = call.request.Length();
    Write(call);
    absl::MutexLock lock(&mutex_);
    waiting_bytes_ -= bytes;
  }
}

void RequestCapture::Write(const CapturedCall& call) {
  const auto request = RequestOf(call.method);
  if (request == nullptr || !ParseBytes(call.request, *request)) return;
  google::protobuf::util::JsonPrintOptions print;
  print.add_whitespace = true;
  print.preserve_proto_field_names = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(*request, &text, print).ok()) return;
  if (text.size() > options_.most_bytes) return;
  MakeRoom(text.size());
  const std::string name = absl::StrCat(
      kPrefix, absl::FormatTime("%Y%m%dT%H%M%E3SZ", absl::Now(), absl::UTCTimeZone()), "-",
      std::string(MethodName(call.method)), "-", getpid(), "-", sequence_++, kSuffix);
  const std::string path = (fs::path(options_.directory) / name).string();
  if (!WriteFile(path, text)) {
    Log(LogLevel::kWarn, "cannot write a capture", {{"file", path}, {"why", std::strerror(errno)}});
    return;
  }
  Log(LogLevel::kInfo, "request captured",
      {{"file", path},
       {"method", MethodName(call.method)},
       {"code", CodeName(call.code)},
       {"duration_ms", call.duration_s * 1e3},
       {"request_id", call.request_id}});
}

void RequestCapture::MakeRoom(uint64_t bytes) const {
  struct Kept {
    fs::path path;
    uint64_t bytes;
  };
  std::vector<Kept> kept;
  uint64_t total = bytes;
  std::error_code error;
  for (fs::directory_iterator file(options_.directory, error), end; !error && file != end;
       file.increment(error)) {
    std::error_code ignored;
    if (!IsCapture(file->path()) || !file->is_regular_file(ignored)) continue;
    const uint64_t size = file->file_size(ignored);
    if (ignored) continue;
    kept.push_back({file->path(), size});
    total += size;
  }
  // The time is the first part of the name: the oldest come first.
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) { return a.path < b.path; });
  size_t left = kept.size();
  for (const Kept& file : kept) {
    if (left < options_.most_files && total <= options_.most_bytes) break;
    std::error_code ignored;
    fs::remove(file.path, ignored);
    --left;
    total -= file.bytes;
  }
}

}  // namespace arclane
