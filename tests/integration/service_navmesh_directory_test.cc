// SPDX-License-Identifier: Apache-2.0
// The directory of navmeshes that a server starts with: which version is active, and files that are
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "server/service/navmesh_directory.h"
#include "tests/integration/service_navmesh_fixture.h"
#include "tests/support/neutral_message.h"

namespace arclane {
namespace {

using ::testing::HasSubstr;

struct NamedContent {
  std::string name;
  std::string content;
};

// A folder of these files, for as long as this lives.
class Folder {
 public:
  explicit Folder(const std::vector<NamedContent>& files) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
    for (const NamedContent& file : files)
      std::ofstream(path_ + "/" + file.name, std::ios::binary) << file.content;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_ =
      ::testing::TempDir() + "arclane_navmesh_directory_" + std::to_string(getpid());
};

// The small navmesh at a height.
std::string Grid(double height = 0) {
  NeutralMesh mesh = TwoGateGrid();
  mesh.z.assign(mesh.x.size(), height);
  return testing::ToMessage(mesh).SerializeAsString();
}

// The active version of the navmesh `a` of these files.
uint64_t ActiveOf(const std::vector<NamedContent>& files) {
  const Folder folder(files);
  NavMeshBackend backend({});
  const auto published = PublishDirectory(backend, folder.path());
  EXPECT_TRUE(published.ok()) << published.status();
  EXPECT_EQ(*published, files.size());
  const auto navmesh = backend.registry().Get("a");
  EXPECT_TRUE(navmesh.ok()) << navmesh.status();
  return navmesh->active.value;
}

// A version may have two names: without its number, or with zeros before it.
TEST(NavMeshDirectoryTest, TheHighestVersionIsActiveUnderWhateverNames) {
  EXPECT_EQ(ActiveOf({{"a.navmesh", Grid()}, {"a@1.navmesh", Grid()}}), 1u);
  EXPECT_EQ(ActiveOf({{"a@1.navmesh", Grid()}, {"a@01.navmesh", Grid()}}), 1u);
  EXPECT_EQ(
      ActiveOf({{"a@2.navmesh", Grid(1)}, {"a@02.navmesh", Grid(1)}, {"a@1.navmesh", Grid()}}), 2u);
  EXPECT_EQ(ActiveOf({{"a.navmesh", Grid()}, {"a@1.navmesh", Grid()}, {"a@2.navmesh", Grid(1)}}),
            2u);
  EXPECT_EQ(ActiveOf({{"a.navmesh", Grid()}, {"a@1.navmesh", Grid()}, {"b@7.navmesh", Grid()}}),
            1u);
}

TEST(NavMeshDirectoryTest, AFileWhoseNameIsNoNavMeshsIsNamed) {
  for (const std::string& stem : {std::string("@2"), std::string(129, 'x')}) {
    const Folder folder({{stem + ".navmesh", Grid()}});
    NavMeshBackend backend({});
    const auto refused = PublishDirectory(backend, folder.path());
    ASSERT_FALSE(refused.ok());
    const std::string message(refused.status().message());
    EXPECT_THAT(message, HasSubstr("/" + stem + ".navmesh: "));
    EXPECT_THAT(message, HasSubstr("the navmesh's name"));
    EXPECT_THAT(message, HasSubstr("1 to 128 bytes"));
    EXPECT_THAT(message, ::testing::Not(HasSubstr("navmesh_id")));
  }
}

}  // namespace
}  // namespace arclane
