// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/retired_refs.h"

#include <algorithm>

namespace arclane {

std::optional<TileCoordinates> RetiredRefs::Find(uint64_t ref) const {
  for (const auto& layer : layers_) {
    if (const auto it = layer->find(ref); it != layer->end()) return it->second;
  }
  return std::nullopt;
}

void RetiredRefs::Add(const std::vector<std::pair<uint64_t, TileCoordinates>>& refs) {
  Layer added;
  for (const auto& [ref, at] : refs) {
    if (!Find(ref)) added.emplace(ref, at);
  }
  if (added.empty()) return;
  size_ += added.size();
  while (!layers_.empty() && layers_.back()->size() < 2 * added.size()) {
    added.insert(layers_.back()->begin(), layers_.back()->end());
    layers_.pop_back();
  }
  layers_.push_back(std::make_shared<const Layer>(std::move(added)));
}

std::vector<std::pair<uint64_t, TileCoordinates>> RetiredRefs::All() const {
  std::vector<std::pair<uint64_t, TileCoordinates>> all;
  all.reserve(size_);
  for (const auto& layer : layers_) all.insert(all.end(), layer->begin(), layer->end());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace arclane
