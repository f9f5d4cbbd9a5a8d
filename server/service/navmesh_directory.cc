// SPDX-License-Identifier: Apache-2.0
#include "server/service/navmesh_directory.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/digest/digest.h"
#include "server/files/whole_file.h"
#include "server/navmesh/registry_types.h"
#include "server/service/registry_methods.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

namespace fs = std::filesystem;

struct NavMeshFile {
  std::string navmesh_id;
  uint64_t version = 1;
  v1::NavMeshFormat format = v1::NAV_MESH_FORMAT_UNSPECIFIED;
  bool is_json = false;
  fs::path path;
};

// nullopt for a file that is no navmesh.
absl::StatusOr<std::optional<NavMeshFile>> FileOf(const fs::path& path) {
  NavMeshFile file;
  file.path = path;
  file.is_json = path.extension() == ".json";
  const fs::path name = file.is_json ? path.stem() : path.filename();
  if (name.extension() == ".bin" && !file.is_json) {
    file.format = v1::NAV_MESH_FORMAT_DETOUR_MSET;
  } else if (name.extension() == ".navmesh") {
    file.format = v1::NAV_MESH_FORMAT_NEUTRAL;
  } else {
    return std::optional<NavMeshFile>();
  }
  const std::string stem = name.stem().string();
  const size_t at = stem.rfind('@');
  file.navmesh_id = stem.substr(0, at);
  if (at != std::string::npos &&
      (!absl::SimpleAtoi(stem.substr(at + 1), &file.version) || file.version == 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path.string(), ": what follows @ must be a version >= 1"));
  }
  if (const auto violation = CheckName("", file.navmesh_id)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path.string(), ": what stands before @ and the ending is the navmesh's name, ",
                     violation->description));
  }
  return std::optional<NavMeshFile>(std::move(file));
}

// What is published of the file: its bytes, or those of the mesh that its JSON describes.
absl::StatusOr<std::string> ContentOf(const NavMeshFile& file) {
  auto text = ReadWholeFile(file.path.string());
  if (!text.ok() || !file.is_json) return text;
  v1::NeutralNavMesh mesh;
  const auto parsed = google::protobuf::util::JsonStringToMessage(*text, &mesh);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        file.path.string(), ": holds no NeutralNavMesh as protobuf JSON: ", parsed.ToString()));
  }
  return mesh.SerializeAsString();
}

// `pass_over` is told of files that are no navmeshes.
absl::StatusOr<std::vector<NavMeshFile>> FilesIn(
    const std::string& directory, absl::FunctionRef<void(const fs::path&)> pass_over) {
  std::error_code error;
  std::vector<NavMeshFile> files;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_regular_file(error)) continue;
    auto file = FileOf(it->path());
    if (!file.ok()) return file.status();
    if (*file) {
      files.push_back(**std::move(file));
    } else {
      pass_over(it->path());
    }
  }
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot read the directory ", directory, ": ", error.message()));
  }
  std::sort(files.begin(), files.end(), [](const NavMeshFile& a, const NavMeshFile& b) {
    return std::tie(a.navmesh_id, a.version, a.path) < std::tie(b.navmesh_id, b.version, b.path);
  });
  return files;
}

// Of files in the order of FilesIn: whether the i-th holds the highest version of its navmesh,
// which others may hold under other names.
bool IsHighest(const std::vector<NavMeshFile>& files, size_t i) {
  const auto above = std::upper_bound(files.begin() + static_cast<ptrdiff_t>(i), files.end(),
                                      files[i], [](const NavMeshFile& a, const NavMeshFile& b) {
                                        return std::tie(a.navmesh_id, a.version) <
                                               std::tie(b.navmesh_id, b.version);
                                      });
  return above == files.end() || above->navmesh_id != files[i].navmesh_id;
}

}  // namespace

absl::StatusOr<size_t> PublishDirectory(NavMeshBackend& backend, const std::string& directory) {
  const auto files = FilesIn(directory, [](const fs::path& path) {
    Log(LogLevel::kWarn, "a file of the directory of navmeshes is passed over",
        {{"file", path.string()},
         {"why", "its name does not end in .bin, .navmesh or .navmesh.json"}});
  });
  if (!files.ok()) return files.status();
  for (size_t i = 0; i < files->size(); ++i) {
    const NavMeshFile& file = (*files)[i];
    const auto content = ContentOf(file);
    if (!content.ok()) return content.status();
    v1::PublishNavMeshHeader header;
    header.set_navmesh_id(file.navmesh_id);
    header.set_version(file.version);
    header.set_format(file.format);
    header.set_content_bytes(content->size());
    header.set_content_sha256(std::string(DigestOf(*content).view()));
    header.set_inactive(!IsHighest(*files, i));
    v1::PublishNavMeshResponse response;
    const std::optional<Failure> failure = AnswerPublication(backend, header, *content, response);
    if (failure)
      return absl::InvalidArgumentError(absl::StrCat(file.path.string(), ": ", failure->message));
  }
  return files->size();
}

absl::StatusOr<std::function<uint64_t()>> DirectoryLives(const std::string& directory) {
  const auto files = FilesIn(directory, [](const fs::path&) {});
  if (!files.ok()) return files.status();
  std::string held;
  for (const NavMeshFile& file : *files) {
    const auto content = ContentOf(file);
    if (!content.ok()) return content.status();
    absl::StrAppend(&held, file.navmesh_id, "@", file.version, ".", static_cast<int>(file.format),
                    " ", DigestOf(*content).ToHex(), "\n");
  }
  auto drawn = std::make_shared<std::atomic<uint64_t>>(0);
  return [held = std::move(held), drawn]() -> uint64_t {
    const ContentDigest digest = DigestOf(absl::StrCat(held, drawn->fetch_add(1)));
    uint64_t token = 0;
    std::memcpy(&token, digest.view().data(), sizeof(token));
    return token;
  };
}

}  // namespace arclane
