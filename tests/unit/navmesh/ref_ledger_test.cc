// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/ref_ledger.h"

#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace arclane {
namespace {

ContentRefs Refs(uint64_t content, std::vector<RefRange> polygons) {
  return {{content}, std::nullopt, std::move(polygons)};
}

TEST(RefLedgerTest, KeepsSuccessiveRefsOfOneContentAsOneRange) {
  EXPECT_EQ(RangesOf({7, 3, 5, 4, 9, 4}), (std::vector<RefRange>{{3, 5}, {7, 7}, {9, 9}}));
  RefLedger ledger;
  ledger.Add(Refs(1, {{10, 19}}));
  ledger.Add(Refs(1, {{30, 39}}));
  EXPECT_EQ(ledger.range_count(), 2u);
  ledger.Add(Refs(1, {{20, 29}}));
  EXPECT_EQ(ledger.range_count(), 1u);
  ledger.Add(Refs(2, {{40, 49}}));
  EXPECT_EQ(ledger.range_count(), 2u);
  EXPECT_EQ(ledger.Find(PolygonRef{39}), ContentMark{1});
  EXPECT_EQ(ledger.Find(PolygonRef{40}), ContentMark{2});
  EXPECT_FALSE(ledger.Find(PolygonRef{50}));
}

TEST(RefLedgerTest, GoesToTheEndsOfTheNumbers) {
  RefLedger ledger;
  ledger.Add(Refs(1, {{0, 0}, {UINT64_MAX, UINT64_MAX}}));
  ledger.Add(Refs(2, {{UINT64_MAX - 1, UINT64_MAX}}));
  EXPECT_EQ(ledger.Find(PolygonRef{0}), ContentMark{1});
  EXPECT_EQ(ledger.Find(PolygonRef{UINT64_MAX - 1}), ContentMark{2});
  EXPECT_EQ(ledger.Find(PolygonRef{UINT64_MAX}), kSeveralContents);
  EXPECT_TRUE(ledger.Has(Refs(2, {{UINT64_MAX - 1, UINT64_MAX}})));
}

TEST(RefLedgerTest, ATileRefOfTwoContentsIsOfSeveral) {
  RefLedger ledger;
  ledger.Add({{5}, TileRef{100}, {}});
  EXPECT_EQ(ledger.Find(TileRef{100}), ContentMark{5});
  EXPECT_FALSE(ledger.Find(PolygonRef{100}));
  ledger.Add({{6}, TileRef{100}, {}});
  EXPECT_EQ(ledger.Find(TileRef{100}), kSeveralContents);
}

TEST(RefLedgerTest, AgreesWithAMapOfSingleRefs) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    RefLedger ledger;
    std::map<uint64_t, uint64_t> naive;
    for (int step = 0; step < 40; ++step) {
      const uint64_t first = random() % 60, last = first + random() % 12;
      const ContentRefs refs = Refs(1 + random() % 3, {{first, last}});
      bool has = true;
      for (uint64_t ref = first; ref <= last; ++ref) {
        const auto it = naive.find(ref);
        has &= it != naive.end() && (it->second == 0 || it->second == refs.content.value);
      }
      ASSERT_EQ(ledger.Has(refs), has) << "seed " << seed << " step " << step;
      ledger.Add(refs);
      ASSERT_TRUE(ledger.Has(refs)) << "seed " << seed << " step " << step;
      for (uint64_t ref = first; ref <= last; ++ref) {
        const auto [it, is_new] = naive.emplace(ref, refs.content.value);
        if (!is_new && it->second != refs.content.value) it->second = 0;
      }
      size_t ranges = 0;
      for (uint64_t ref = 0; ref < 80; ++ref) {
        const auto it = naive.find(ref);
        const auto mark = ledger.Find(PolygonRef{ref});
        ASSERT_EQ(mark.has_value(), it != naive.end()) << "seed " << seed << " ref " << ref;
        if (!mark) continue;
        ASSERT_EQ(mark->value, it->second) << "seed " << seed << " ref " << ref;
        const auto before = ref == 0 ? naive.end() : naive.find(ref - 1);
        ranges += before == naive.end() || before->second != it->second;
      }
      ASSERT_EQ(ledger.range_count(), ranges) << "seed " << seed << " step " << step;
    }
  }
}

TEST(RefLedgerTest, ReadsBackWhatItWrote) {
  const std::vector<ContentRefs> refs = {{{7}, TileRef{100}, {{1, 5}, {9, 9}}},
                                         {kSeveralContents, std::nullopt, {{20, 30}}}};
  const std::string bytes = EncodeRefs(refs);
  const auto read = DecodeRefs(bytes);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].content, ContentMark{7});
  EXPECT_EQ((*read)[0].tile, TileRef{100});
  EXPECT_EQ((*read)[0].polygons, refs[0].polygons);
  EXPECT_FALSE((*read)[1].tile);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(DecodeRefs(bytes.substr(0, size))) << size;
}

}  // namespace
}  // namespace arclane
