// SPDX-License-Identifier: Apache-2.0
// Memory for the messages of one call after another.
#ifndef ARCLANE_SERVER_CODEC_MESSAGE_ARENA_H_
#define ARCLANE_SERVER_CODEC_MESSAGE_ARENA_H_

#include <google/protobuf/arena.h>

#include <cstddef>
#include <memory>

namespace arclane {

// Where one thread keeps the messages of the call at hand: what they are made of comes from one
// block that is used again by the next call, without a word to the allocator. A large call takes
// more, and gives it back at the next.
class MessageArena {
 public:
  // Ends the messages of the last call.
  void Reset() { arena_.Reset(); }
  // Bytes of the messages since then.
  size_t used() const { return static_cast<size_t>(arena_.SpaceUsed()); }
  template <typename Message>
  Message* New() {
    return google::protobuf::Arena::CreateMessage<Message>(&arena_);
  }

 private:
  static constexpr size_t kKeptBytes = 128 << 10;
  static constexpr size_t kLargestBlock = 1 << 20;

  static google::protobuf::ArenaOptions Options(char* block) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block;
    options.initial_block_size = kKeptBytes;
    options.start_block_size = kKeptBytes;
    options.max_block_size = kLargestBlock;
    return options;
  }

  const std::unique_ptr<char[]> block_ = std::make_unique<char[]>(kKeptBytes);
  google::protobuf::Arena arena_{Options(block_.get())};
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_MESSAGE_ARENA_H_
