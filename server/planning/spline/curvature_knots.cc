// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/curvature_knots.h"
namespace arclane {}
