// SPDX-License-Identifier: Apache-2.0
#include "server/files/whole_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "absl/status/status.h"

namespace arclane {
namespace {

std::string TempPath() {
  return ::testing::TempDir() + "arclane_whole_file_" + std::to_string(getpid());
}

TEST(WholeFileTest, HasEveryByte) {
  const std::string path = TempPath();
  for (const size_t size : {0, 1, 65535, 65536, 65537, 300000}) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 / 3);
    std::ofstream(path, std::ios::binary) << bytes;
    const auto read = ReadWholeFile(path);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(*read == bytes) << size;
    EXPECT_TRUE(ReadWholeFile(path, size).ok()) << size;
    if (size == 0) continue;
    EXPECT_EQ(ReadWholeFile(path, size - 1).status(),
              absl::InvalidArgumentError("cannot read " + path + ": it has more than " +
                                         std::to_string(size - 1) + " bytes"));
  }
  std::remove(path.c_str());
}

TEST(WholeFileTest, ADirectoryIsAnErrorWithItsReason) {
  EXPECT_EQ(ReadWholeFile("/tmp").status(),
            absl::InvalidArgumentError("cannot read /tmp: Is a directory"));
}

TEST(WholeFileTest, AFileThatIsNotThereIsAnErrorWithItsReason) {
  EXPECT_EQ(ReadWholeFile("/nowhere/at/all").status(),
            absl::InvalidArgumentError("cannot read /nowhere/at/all: No such file or directory"));
  EXPECT_FALSE(ReadWholeFile("").ok());
}

TEST(WholeFileTest, ReadsAPipeToItsEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string bytes(200000, 'x');
  std::thread writer([&] {
    for (size_t written = 0; written < bytes.size();) {
      const ssize_t count = write(ends[1], bytes.data() + written, bytes.size() - written);
      if (count <= 0) break;
      written += static_cast<size_t>(count);
    }
    close(ends[1]);
  });
  const auto read = ReadWholeFile("/proc/self/fd/" + std::to_string(ends[0]));
  writer.join();
  close(ends[0]);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->size(), bytes.size());
}

}  // namespace
}  // namespace arclane
