// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/ref_ledger.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/navmesh/byte_stream.h"

namespace arclane {
namespace {

ContentMark MarkOf(const Tile& tile) {
  uint64_t mark = 0;
  std::memcpy(&mark, tile.digest.view().data(), sizeof(mark));
  return {std::max<uint64_t>(mark, 1)};
}

}  // namespace

std::vector<RefRange> RangesOf(std::vector<uint64_t> refs) {
  std::sort(refs.begin(), refs.end());
  std::vector<RefRange> ranges;
  for (const uint64_t ref : refs) {
    if (!ranges.empty() && ref - ranges.back().last <= 1)
      ranges.back().last = ref;
    else
      ranges.push_back({ref, ref});
  }
  return ranges;
}

ContentRefs RefsOf(const Tile& tile) {
  ContentRefs refs{MarkOf(tile), tile.ref, {}};
  if (tile.source == TileSource::kDetour) return refs;
  std::vector<uint64_t> polygons;
  polygons.reserve(tile.polygon_count());
  for (uint32_t p = 0; p < tile.polygon_count(); ++p) polygons.push_back(tile.ref_of(p).value);
  refs.polygons = RangesOf(std::move(polygons));
  return refs;
}

RefLedger::Ranges::const_iterator RefLedger::EndingAfter(uint64_t ref) const {
  auto it = polygons_.upper_bound(ref);
  if (it == polygons_.begin()) return it;
  const auto before = std::prev(it);
  return before->second.last >= ref ? before : it;
}

void RefLedger::Put(RefRange range, ContentMark content) {
  auto next = polygons_.lower_bound(range.first);
  if (next != polygons_.begin()) {
    const auto before = std::prev(next);
    if (before->second.content == content && before->second.last + 1 == range.first) {
      range.first = before->first;
      next = polygons_.erase(before);
    }
  }
  if (next != polygons_.end() && next->second.content == content && range.last + 1 == next->first) {
    range.last = next->second.last;
    polygons_.erase(next);
  }
  polygons_[range.first] = {range.last, content};
}

void RefLedger::AddRange(const RefRange& range, ContentMark content) {
  // The range in parts, each of one content.
  std::vector<std::pair<RefRange, ContentMark>> parts;
  uint64_t at = range.first;
  bool done = false;
  for (auto it = EndingAfter(at); !done && it != polygons_.end() && it->first <= range.last; ++it) {
    const auto& [first, entry] = *it;
    if (first < at) parts.push_back({{first, at - 1}, entry.content});
    if (first > at) parts.push_back({{at, first - 1}, content});
    const uint64_t end = std::min(entry.last, range.last);
    parts.push_back(
        {{std::max(first, at), end}, entry.content == content ? content : kSeveralContents});
    if (entry.last > end) parts.push_back({{end + 1, entry.last}, entry.content});
    done = end == range.last;
    at = end + 1;
  }
  if (!done) parts.push_back({{at, range.last}, content});
  for (auto it = EndingAfter(range.first); it != polygons_.end() && it->first <= range.last;)
    it = polygons_.erase(it);
  for (const auto& [part, mark] : parts) Put(part, mark);
}

void RefLedger::Add(const ContentRefs& refs) {
  if (refs.tile) {
    const auto [it, is_new] = tiles_.emplace(*refs.tile, refs.content);
    if (!is_new && it->second != refs.content) it->second = kSeveralContents;
  }
  for (const RefRange& range : refs.polygons) AddRange(range, refs.content);
}

bool RefLedger::Has(const ContentRefs& refs) const {
  const auto holds = [&](ContentMark mark) {
    return mark == refs.content || mark == kSeveralContents;
  };
  if (refs.tile) {
    const auto mark = Find(*refs.tile);
    if (!mark || !holds(*mark)) return false;
  }
  for (const RefRange& range : refs.polygons) {
    uint64_t at = range.first;
    for (auto it = EndingAfter(at);; ++it) {
      if (it == polygons_.end() || it->first > at || !holds(it->second.content)) return false;
      if (it->second.last >= range.last) break;
      at = it->second.last + 1;
    }
  }
  return true;
}

bool RefLedger::HasTile(const Tile& tile) const { return Find(tile.ref) == MarkOf(tile); }

void RefLedger::CheckTileRef(const Tile& tile, const std::string& place,
                             MeshViolations& violations) const {
  const ContentMark content = MarkOf(tile);
  if (const auto mark = Find(tile.ref); mark && *mark != content) {
    violations.Add(place,
                   absl::StrCat("its ref ", tile.ref.value,
                                " named a tile of other content; a new build needs a new ref"));
  }
}

void RefLedger::CheckPolygonRefs(const Tile& tile, const std::string& place,
                                 MeshViolations& violations) const {
  const ContentMark content = MarkOf(tile);
  if (tile.source == TileSource::kDetour) return;
  for (uint32_t p = 0; p < tile.polygon_count(); ++p) {
    if (const auto mark = Find(tile.ref_of(p)); mark && *mark != content) {
      violations.Add(place, absl::StrCat("polygon id ", tile.ref_of(p).value,
                                         " named a polygon of a tile of other content"));
    }
  }
}

std::optional<ContentMark> RefLedger::Find(TileRef ref) const {
  const auto it = tiles_.find(ref);
  return it == tiles_.end() ? std::nullopt : std::optional<ContentMark>(it->second);
}

std::optional<ContentMark> RefLedger::Find(PolygonRef ref) const {
  const auto it = EndingAfter(ref.value);
  if (it == polygons_.end() || it->first > ref.value) return std::nullopt;
  return it->second.content;
}

std::string EncodeRefs(const std::vector<ContentRefs>& refs) {
  ByteWriter writer;
  writer.Write<uint64_t>(refs.size());
  for (const ContentRefs& content : refs) {
    writer.Write(content.content.value);
    writer.Write<uint8_t>(content.tile.has_value());
    writer.Write(content.tile.value_or(TileRef{}).value);
    writer.Write<uint64_t>(content.polygons.size());
    for (const RefRange& range : content.polygons) writer.Write(range);
  }
  return std::move(writer).Take();
}

std::optional<std::vector<ContentRefs>> DecodeRefs(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto count = reader.Read<uint64_t>();
  if (!reader.Holds(count, 8 + 1 + 8 + 8)) return std::nullopt;
  std::vector<ContentRefs> refs(count);
  for (ContentRefs& content : refs) {
    content.content.value = reader.Read<uint64_t>();
    const bool has_tile = reader.Read<uint8_t>() != 0;
    const TileRef tile{reader.Read<uint64_t>()};
    if (has_tile) content.tile = tile;
    const auto ranges = reader.Read<uint64_t>();
    if (!reader.Holds(ranges, sizeof(RefRange))) return std::nullopt;
    content.polygons.resize(ranges);
    for (RefRange& range : content.polygons) {
      range = reader.Read<RefRange>();
      if (range.first > range.last) return std::nullopt;
    }
  }
  if (!reader.finished()) return std::nullopt;
  return refs;
}

}  // namespace arclane
