# SPDX-License-Identifier: GPL-2.0
"""Which failures settle which controls."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kit import controls

ROWS = {"one": controls.Control("revert", "a", ["red.first", "red.second"], []),
        "two": controls.Control("mutate", "b", ["blue.first"], ["blue.race"])}


class Agreed(unittest.TestCase):
    """Controls that share a build."""

    def settled(self, *failed):
        return sorted(controls.agreed(ROWS, list(failed)))

    def test_each_fails_what_it_says(self):
        self.assertEqual(["one", "two"], self.settled("blue.first", "red.first", "red.second"))

    def test_a_race_may_be_won_or_lost(self):
        self.assertEqual(["one", "two"],
                         self.settled("blue.first", "blue.race", "red.first", "red.second"))

    def test_a_case_that_passes_leaves_its_own_control_open(self):
        self.assertEqual(["two"], self.settled("blue.first", "red.first"))

    def test_a_case_that_must_not_fail_leaves_its_own_control_open(self):
        self.assertEqual(["one"], self.settled("blue.first", "blue.other", "red.first", "red.second"))

    def test_a_race_alone_is_no_failure(self):
        self.assertEqual(["one"], self.settled("blue.race", "red.first", "red.second"))

    def test_a_suite_of_nobody_leaves_all_open(self):
        self.assertEqual([], self.settled("blue.first", "red.first", "red.second", "green.first"))


class Batches(unittest.TestCase):
    """Which controls share a build."""

    def test_no_two_of_one_suite(self):
        more = {**ROWS, "three": controls.Control("mutate", "c", ["red.third"], ["green.race"])}
        self.assertEqual([["one", "two"], ["three"]], controls.batches(more))

    def test_no_two_clocks(self):
        more = {**ROWS, "three": controls.Control("mutate", "c", ["green.first"], [], "real")}
        self.assertEqual([["one", "two"], ["three"]], controls.batches(more))


if __name__ == "__main__":
    unittest.main()
