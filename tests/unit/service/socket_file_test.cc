// SPDX-License-Identifier: Apache-2.0
#include "server/service/socket_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace arclane {
namespace {

using ::testing::HasSubstr;

// A socket that listens at a path as gRPC would make it.
class Listener {
 public:
  explicit Listener(std::string path) : path_(std::move(path)) {
    if (path_.rfind("unix:", 0) == 0) path_.erase(0, 5);
    descriptor_ = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    if (bind(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
        listen(descriptor_, 4) != 0) {
      ADD_FAILURE() << path_ << ": " << std::strerror(errno);
    }
  }
  ~Listener() { close(descriptor_); }

 private:
  std::string path_;
  int descriptor_;
};

class SocketFileTest : public ::testing::Test {
 protected:
  SocketFileTest() { std::filesystem::create_directory(folder_); }
  ~SocketFileTest() override { std::filesystem::remove_all(folder_); }

  static std::string ErrorOf(const std::string& address) {
    const auto file = SocketFile::Prepare(address);
    EXPECT_EQ(file.status().code(), absl::StatusCode::kUnavailable) << address;
    return std::string(file.status().message());
  }
  bool IsSocket() const { return std::filesystem::is_socket(path_); }
  size_t FileCount() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  const std::string folder_ = ::testing::TempDir() + "arclane_sockets_" + std::to_string(getpid());
  const std::string path_ = folder_ + "/socket";
  const std::string address_ = "unix:" + path_;
};

TEST_F(SocketFileTest, IsThereFromItsPublicationToItsEnd) {
  auto file = SocketFile::Prepare(address_);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(FileCount(), 0u);
  const Listener listener((*file)->draft_address());
  EXPECT_FALSE(IsSocket());
  ASSERT_TRUE((*file)->Publish().ok());
  EXPECT_TRUE(IsSocket());
  EXPECT_EQ(FileCount(), 1u);
  EXPECT_EQ(ErrorOf(address_), "Address already in use");
  file->reset();
  EXPECT_EQ(FileCount(), 0u);
}

TEST_F(SocketFileTest, ASocketThatNobodyAnswersIsReplaced) {
  { const Listener gone(path_); }
  ASSERT_TRUE(IsSocket());
  auto file = SocketFile::Prepare(address_);
  ASSERT_TRUE(file.ok()) << file.status();
  const Listener listener((*file)->draft_address());
  EXPECT_TRUE((*file)->Publish().ok());
  EXPECT_EQ(ErrorOf(address_), "Address already in use");
}

TEST_F(SocketFileTest, OfTwoThatStartTogetherTheSecondFails) {
  auto first = SocketFile::Prepare(address_);
  auto second = SocketFile::Prepare(address_);
  ASSERT_TRUE(first.ok() && second.ok());
  const Listener one((*first)->draft_address()), two((*second)->draft_address());
  EXPECT_TRUE((*first)->Publish().ok());
  EXPECT_EQ((*second)->Publish().message(), "Address already in use");
  second->reset();
  EXPECT_TRUE(IsSocket());
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(SocketFileTest, TheSocketOfAnotherIsNotRemoved) {
  auto file = SocketFile::Prepare(address_);
  ASSERT_TRUE(file.ok()) << file.status();
  const Listener listener((*file)->draft_address());
  ASSERT_TRUE((*file)->Publish().ok());
  std::filesystem::remove(path_);
  const Listener other(path_);
  file->reset();
  EXPECT_TRUE(IsSocket());
}

TEST_F(SocketFileTest, WhatIsNoSocketIsToldAndLeft) {
  std::ofstream(path_) << "text";
  EXPECT_EQ(ErrorOf(address_), "a file that is no socket stands there; it is left as it is");
  EXPECT_EQ(std::filesystem::file_size(path_), 4u);
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("nowhere", path_);
  EXPECT_EQ(ErrorOf(address_), "a file that is no socket stands there; it is left as it is");
  EXPECT_EQ(ErrorOf("unix:" + folder_), "Is a directory");
  EXPECT_EQ(ErrorOf("unix:" + folder_ + "/"), "Is a directory");
}

TEST_F(SocketFileTest, AFileThatComesMeanwhileIsLeft) {
  auto file = SocketFile::Prepare(address_);
  ASSERT_TRUE(file.ok()) << file.status();
  const Listener listener((*file)->draft_address());
  std::ofstream(path_) << "text";
  EXPECT_EQ((*file)->Publish().message(),
            "a file that is no socket stands there; it is left as it is");
  file->reset();
  EXPECT_EQ(std::filesystem::file_size(path_), 4u);
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(SocketFileTest, AMissingFolderIsTold) {
  EXPECT_EQ(ErrorOf("unix:" + folder_ + "/none/socket"),
            "its folder " + folder_ + "/none/ does not exist");
  std::ofstream(path_) << "text";
  EXPECT_EQ(ErrorOf("unix:" + path_ + "/socket"), "its folder " + path_ + "/: Not a directory");
}

TEST_F(SocketFileTest, PathsOfUpToALengthAreTaken) {
  const std::string longest = folder_ + "/" + std::string(107 - folder_.size() - 1, 'x');
  auto file = SocketFile::Prepare("unix:" + longest);
  ASSERT_TRUE(file.ok()) << file.status();
  const Listener listener((*file)->draft_address());
  EXPECT_TRUE((*file)->Publish().ok());
  EXPECT_EQ(ErrorOf("unix:" + longest), "Address already in use");
  EXPECT_EQ(ErrorOf("unix:" + longest + "x"), "the path has 108 bytes, a socket's has at most 107");
}

TEST_F(SocketFileTest, ReadsAddressesAsClientsDo) {
  const Listener listener(folder_ + "/a b");
  EXPECT_EQ(ErrorOf("unix:" + folder_ + "/a%20b"), "Address already in use");
  EXPECT_EQ(ErrorOf("unix://" + folder_ + "/a%20b"), "Address already in use");
}

}  // namespace
}  // namespace arclane
