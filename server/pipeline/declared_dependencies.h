// SPDX-License-Identifier: Apache-2.0
// What a request that brings its own geometry says it depends on.
#ifndef ARCLANE_SERVER_PIPELINE_DECLARED_DEPENDENCIES_H_
#define ARCLANE_SERVER_PIPELINE_DECLARED_DEPENDENCIES_H_

#include <vector>

#include "arclane/v1/corridor.pb.h"
#include "server/navmesh/dependency.h"

namespace arclane {

// The dependencies of a request that was planned, ascending, with their stamps; among them, under
// an id that is no tile's, the name of its navmesh as a whole, so that saying "everything has
// changed" reaches those that name nothing else.
std::vector<Dependency> DeclaredDependencies(const v1::DependencyColumns& columns,
                                             const StampSource& ledger);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_DECLARED_DEPENDENCIES_H_
