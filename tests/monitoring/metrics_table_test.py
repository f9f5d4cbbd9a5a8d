#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of metrics says what a real server exposes: names, types and labels, in both directions; and planted faults are found."""
import os
import sys
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "live"))

from live_server import LiveServer, ServerError  # noqa: E402  pylint: disable=wrong-import-position
from stubs import StubError, Stubs, channel  # noqa: E402  pylint: disable=wrong-import-position

from load import publish_town  # noqa: E402  pylint: disable=wrong-import-position
from metrics_table import Family, differences, parse_exposition, read_table  # noqa: E402  pylint: disable=wrong-import-position


class MetricsTableTest(unittest.TestCase):
    """One server."""

    @classmethod
    def setUpClass(cls):
        try:
            stubs = Stubs()
            with LiveServer() as server:
                with urllib.request.urlopen(f"http://{server.metrics}/metrics", timeout=10) as page:
                    cls.fresh, cls.fresh_values = parse_exposition(page.read().decode())
                with channel(server.target) as connection:
                    publish_town(stubs, connection)
                with urllib.request.urlopen(f"http://{server.metrics}/metrics", timeout=10) as page:
                    cls.exposed, _ = parse_exposition(page.read().decode())
        except (ServerError, StubError) as error:
            raise unittest.SkipTest(str(error)) from error

    def test_the_table_and_the_server_agree(self):
        """In both directions."""
        self.assertGreater(len(self.exposed), 40)
        self.assertEqual([], differences(read_table(), self.exposed))

    def test_series_are_there_from_the_start(self):
        """Before any call; only the navmeshes are not."""
        late = {name for name in self.exposed if self.exposed[name] != self.fresh.get(name)}
        self.assertEqual({"arclane_navmesh_active_info"}, late)
        for name in read_table():
            # Quantiles of nothing are no numbers.
            values = [value for series, value in self.fresh_values.items() if series.startswith(name) and "quantile" not in series]
            self.assertTrue(all(value >= 0 for value in values), name)

    def test_planted_faults_are_found(self):
        """A row too many, a row too few, another type, another label."""
        table = read_table()
        table["arclane_imagined_total"] = Family("counter", frozenset())
        del table["arclane_serving"]
        table["arclane_queued_plans"] = Family("counter", frozenset())
        table["arclane_shed_total"] = Family("counter", frozenset(["why"]))
        self.assertEqual(["arclane_imagined_total is in the table and not exposed", "arclane_serving is exposed and not in the table",
                          "arclane_queued_plans is a gauge, the table says counter",
                          "arclane_shed_total has the labels ['reason'], the table says ['why']"], differences(table, self.exposed))


if __name__ == "__main__":
    unittest.main()
