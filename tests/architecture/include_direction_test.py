# SPDX-License-Identifier: Apache-2.0
"""No include runs against the rule of dependencies; and planted faults are found, so that silence means something."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from include_direction import check_file, check_prometheus, check_tree  # noqa: E402  pylint: disable=wrong-import-position

PROJECT_DIR = os.path.dirname(os.path.dirname(HERE))


class IncludeDirectionTest(unittest.TestCase):
    """The tree, and planted faults."""

    def test_tree_keeps_the_rule(self):
        """Every file of server/ and client/."""
        violations, count = check_tree(PROJECT_DIR)
        self.assertGreater(count, 5)
        self.assertEqual([], [str(v) for v in violations])

    def test_planted_faults_are_found(self):
        """One fault for each part of the rule."""
        faults = {
            "server/planning/corridor/funnel.h": '#include "server/planning/route/route.h"',
            "server/planning/geometry/vec2.h": '#include "server/planning/corridor/corridor.h"',
            "server/planning/speed/speed_plan.cc": "#include <chrono>",
            "server/planning/route/route.cc": '#include "arclane/v1/route.pb.h"',
            "server/planning/spline/curve.cc": "#include <spdlog/spdlog.h>",
            "server/navmesh/registry.cc": '#include "server/cache/cache.h"',
            "server/cache/cache.cc": '#include "server/service/pool.h"',
            "server/navmesh/snapshot.h": '  #  include <grpcpp/grpcpp.h>',
            "server/service/metrics.cc": "#include <prometheus/registry.h>",
            "server/config/flags.cc": '#include "server/service/server.h"',
            "server/codec/limits.cc": '#include "server/navmesh/registry.h"',
            "server/service/server.cc": '#include "client/sdk/client.h"',
            "client/sdk/client.cc": '#include "server/service/server.h"',
            "client/cli/main.cc": '#include "server/navmesh/registry.h"',
            "server/planning/corridor/portal.cc": '#include "tests/support/reference_data.h"',
            "server/elsewhere/new.cc": "#include <vector>",
        }
        for path, line in faults.items():
            with self.subTest(path=path):
                self.assertEqual(len(check_file(path, f"// A comment\n{line}\n")), 1, line)

    def test_prometheus_does_not_leak_through_a_header(self):
        """A header that sees prometheus-cpp, included by the service and by another header."""
        texts = {"server/telemetry/series.h": "#include <prometheus/registry.h>",
                 "server/telemetry/series.cc": '#include "server/telemetry/series.h"',
                 "server/telemetry/metrics.h": '#include "server/telemetry/series.h"',
                 "server/service/server.cc": '#include "server/telemetry/series.h"'}
        self.assertEqual({"server/telemetry/metrics.h", "server/service/server.cc"}, {v.file for v in check_prometheus(texts)})

    def test_allowed_includes_pass(self):
        """One of each kind that the rule allows."""
        fine = {
            "server/planning/corridor/funnel.cc": '#include "server/planning/geometry/vec2.h"',
            "server/planning/route/route.h": '#include "server/planning/speed/speed_plan.h"',
            "server/cache/cache.cc": '#include "server/navmesh/registry.h"',
            "server/telemetry/metrics.cc": "#include <prometheus/registry.h>",
            "server/codec/request.cc": '#include "arclane/v1/planner.pb.h"',
            "server/service/server.cc": "#include <grpcpp/grpcpp.h>",
            "server/main.cc": '#include "server/service/server.h"',
            "client/sdk/client.cc": '#include "server/codec/failure.h"',
            "client/cli/main.cc": '#include "client/sdk/client.h"',
        }
        for path, line in fine.items():
            with self.subTest(path=path):
                self.assertEqual([], [str(v) for v in check_file(path, line)])


if __name__ == "__main__":
    unittest.main()
