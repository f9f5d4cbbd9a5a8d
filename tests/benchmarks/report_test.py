# SPDX-License-Identifier: Apache-2.0
"""What is made of measured figures: goals, questions, regressions between runs, stages of sampled stacks. Measures nothing."""
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import cpu_share  # noqa: E402  pylint: disable=wrong-import-position
import run_benchmarks  # noqa: E402  pylint: disable=wrong-import-position
from goals import GOALS, evaluate  # noqa: E402  pylint: disable=wrong-import-position
from questions import QUESTIONS, answers  # noqa: E402  pylint: disable=wrong-import-position
from write_report import table  # noqa: E402  pylint: disable=wrong-import-position


def figure(name, value, unit="us"):
    """A figure as a run measures it."""
    return {"name": name, "value": value, "unit": unit}


class RegressionTest(unittest.TestCase):
    """Ratios of one run against those of another."""

    def run_of(self, plan, ping, p99=30.0):
        """Judged figures of a run."""
        return evaluate([figure("PlanCorridor/in_flight:8/p50", plan), figure("Ping_same_bytes/in_flight:8/p50", ping),
                         figure("PlanCorridor/in_flight:8/p99", p99), figure("Ping_same_bytes/in_flight:8/p99", 20.0)])

    def compare(self, new, old):
        """(whether there is none, what is told)."""
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as told:
            path = os.path.join(folder, "run.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"commit": "0" * 40, "figures": old}, file)
            return run_benchmarks.compare(new, path, 0.3), told.getvalue()

    def test_a_slower_machine_is_no_regression(self):
        """All times doubled: the ratio stays."""
        good, told = self.compare(self.run_of(24, 20, 30), self.run_of(12, 10, 30))
        self.assertTrue(good, told)

    def test_a_grown_ratio_is_told_with_both_values(self):
        """1.2 before, 1.8 now."""
        good, told = self.compare(self.run_of(18, 10), self.run_of(12, 10))
        self.assertFalse(good)
        self.assertIn("REGRESSION PlanCorridor/in_flight:8/p50: 1.800 times its baseline Ping_same_bytes/in_flight:8/p50, 1.200 before", told)

    def test_percentiles_of_the_tail_may_grow_more(self):
        """By half: beyond the tolerance of others, within that of p99."""
        good, _ = self.compare(self.run_of(12, 10, p99=45), self.run_of(12, 10, p99=30))
        self.assertTrue(good)
        good, _ = self.compare(self.run_of(12, 10, p99=60), self.run_of(12, 10, p99=30))
        self.assertFalse(good)

    def test_runs_without_a_common_ratio_are_an_error(self):
        """Not a success."""
        with self.assertRaises(run_benchmarks.BenchmarkError):
            self.compare(self.run_of(12, 10), [])


class ReportTest(unittest.TestCase):
    """The tables of the README."""

    def run_of(self, *figures):
        """A run with these figures."""
        return {"machine": {"processor": "p", "threads": 2, "system": "s"}, "compiler": "c", "flags": "f", "commit": "0" * 40, "quick": False,
                "figures": evaluate(list(figures))}

    def test_a_figure_is_one_row_with_all_its_goals(self):
        """A funnel against the restarting one and against the quoted one."""
        told = table(self.run_of(figure("BM_Funnel_Zigzag/32", 400, "ns"), figure("BM_RestartingFunnel_Zigzag/32", 200, "ns")))
        rows = [line for line in told.splitlines() if line.startswith("| BM_Funnel_Zigzag/32 |")]
        self.assertEqual(len(rows), 1, told)
        self.assertIn("2 times BM_RestartingFunnel_Zigzag/32 (200)", rows[0])
        self.assertIn("**missed**", rows[0])
        self.assertIn(": met", rows[0])

    def test_topics_are_folded_and_count_their_goals(self):
        """One table a topic that has figures; none for the others."""
        told = table(self.run_of(figure("BM_Plan_Zigzag/32", 9000, "ns"), figure("Unknown/without_goal", 1)))
        self.assertEqual(told.count("<details>"), 1, told)
        self.assertIn("<b>corridor</b>", told)
        self.assertIn("(1 of 1 goals met)", told)
        self.assertNotIn("Unknown", told)


class QuestionTest(unittest.TestCase):
    """What a run must answer."""

    def test_patterns_are_valid_and_questions_are_answerable(self):
        """By figures or by a program that is there."""
        for question in QUESTIONS:
            self.assertTrue(question.patterns or question.answered_by, question)
            for pattern in question.patterns:
                re.compile(pattern)
        for goal in GOALS:
            re.compile(goal.pattern)

    def test_lacking_figures_are_told(self):
        """By their patterns."""
        found = {answer["question"]: answer for answer in answers([figure("BM_Plan_Zigzag/32", 9000, "ns")])}
        plan = found["a plan of 32 polygons with 100 samples in process"]
        self.assertEqual((plan["figures"], plan["lacking"]), (["BM_Plan_Zigzag/32"], []))
        self.assertTrue(found["bytes a world"]["lacking"])

    def test_every_load_is_asked_about_or_has_a_goal(self):
        """So that none is measured for nothing."""
        patterns = [p for question in QUESTIONS for p in question.patterns] + [goal.pattern for goal in GOALS]
        for name in run_benchmarks.LOADS:
            self.assertTrue(any(re.fullmatch(p, f"Load_{name}/p50") for p in patterns), name)


class BenchmarkFiguresTest(unittest.TestCase):
    """Figures of Google Benchmark's JSON."""

    def test_wall_clock_where_it_is_asked_for(self):
        """And CPU time otherwise; items a second also as time an item."""
        entry = {"run_type": "iteration", "real_time": 30.0, "cpu_time": 10.0, "time_unit": "ns", "iterations": 5, "threads": 1}
        figures = run_benchmarks.figures_of("p", [{**entry, "name": "BM_A/real_time", "items_per_second": 2e6}, {**entry, "name": "BM_B"}])
        values = {f["name"]: f["value"] for f in figures}
        self.assertEqual(values["BM_A/real_time"], 30.0)
        self.assertEqual(values["BM_A/real_time/ns_per_item"], 500.0)
        self.assertEqual(values["BM_B"], 10.0)


class StageTest(unittest.TestCase):
    """Samples of call stacks."""

    STACKS = """
\t          1805c3 malloc (/usr/lib/libc.so.6)
\t          19ca41 arclane::ReadMotion (/x/arclane-server)
\t          145d2f arclane::AnswerPlanCorridor (/x/arclane-server)
\t           d75e3 grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer>::RunHandler (/x/arclane-server)

\tffffffff8200e603 tcp_sendmsg_locked ([kernel.kallsyms])
\t          10ac4d __libc_sendmsg (/usr/lib/libc.so.6)
\t          422f0a [unknown] (/usr/lib/libgrpc.so.29.0.0)

\t          422f0a [unknown] (/usr/lib/libgrpc.so.29.0.0)

\t            1111 nanosleep (/usr/lib/libc.so.6)
"""

    def test_the_innermost_known_frame_decides(self):
        """Memory belongs to the stage that asks for it; what nothing knows is other."""
        shares, total, unknown = cpu_share.shares(self.STACKS)
        self.assertEqual(total, 4)
        self.assertEqual(shares, {"read and check": 0.25, "network (kernel)": 0.25, "gRPC": 0.25, "other": 0.25})
        self.assertEqual(unknown, ["nanosleep"])


if __name__ == "__main__":
    unittest.main()
