// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/declared_dependencies.h"

#include <algorithm>

namespace arclane {

std::vector<Dependency> DeclaredDependencies(const v1::DependencyColumns& columns,
                                             const StampSource& ledger) {
  constexpr uint64_t kWholeNavMesh = ~uint64_t{0};
  std::vector<Dependency> dependencies;
  dependencies.push_back({DependencyKind::kTile, kWholeNavMesh, kNoStamp});
  for (int i = 0; i < columns.id_size(); ++i) {
    // The numbers of the two enums are the same, and known: the request was planned.
    dependencies.push_back({static_cast<DependencyKind>(columns.kind(i)), columns.id(i), kNoStamp});
  }
  std::sort(dependencies.begin(), dependencies.end());
  dependencies.erase(std::unique(dependencies.begin(), dependencies.end()), dependencies.end());
  for (Dependency& dependency : dependencies)
    dependency.stamp = ledger.Stamp(dependency.kind, dependency.id);
  return dependencies;
}

}  // namespace arclane
