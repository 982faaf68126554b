# SPDX-License-Identifier: GPL-2.0
"""What an entry of the matrix demands past that its subjects pass."""

import unittest

from rigtest import Case, fake

from seqrig import matrix
from seqrig.demands import Demands


class Missed(Case):
    """Demands.missed()."""

    def missed(self, demands, subject=None, control=None, repeats=1, pair="base/repairs"):
        """What is owed beside a control; both have counts besides the quiet ones."""
        engine = fake.Engine({"base/patched": {**fake.QUIET, **(subject or {})},
                              "base/repairs": {**fake.QUIET, **(control or {})}})
        run, _ = self.play(engine, subject=("base", "patched"), repeats=repeats,
                           control=pair)
        return demands.missed(run.rows)

    def test_nothing_is_demanded(self):
        self.assertEqual([], self.missed(Demands(), {"seqno_low": 3}))

    def test_what_must_be_absent(self):
        demands = Demands(absent=("seqno_low", "reconnects"))
        self.assertEqual([], self.missed(demands))
        self.assertEqual(["krb5i-tcp-fio: reconnects 1, wanted 0"],
                         self.missed(demands, {"reconnects": 1}))

    def test_what_was_not_counted_is_not_absent(self):
        self.assertEqual(["krb5i-tcp-fio: seqno_low None, wanted 0"],
                         self.missed(Demands(absent=("seqno_low",)), {"seqno_low": None}))

    def test_the_control_must_show_it_often_enough(self):
        demands = Demands(control_shows=("seqno_low",))
        self.assertEqual([], self.missed(demands, control={"seqno_low": 20}))
        self.assertEqual(["krb5i-tcp-fio: control: seqno_low 19, wanted at least 20"],
                         self.missed(demands, control={"seqno_low": 19}))

    def test_without_a_control_it_shows_nothing(self):
        self.assertEqual(["krb5i-tcp-fio: control: seqno_low None, wanted at least 20"],
                         self.missed(Demands(control_shows=("seqno_low",)), pair="none"))

    def test_repeats_count_together(self):
        demands = Demands(control_shows=("seqno_low",))
        self.assertEqual([], self.missed(demands, control={"seqno_low": 10}, repeats=2))

    def test_what_the_subject_must_show(self):
        demands = Demands(shown=("seqno_low",))
        self.assertEqual([], self.missed(demands, {"seqno_low": 20}))
        self.assertEqual(["krb5i-tcp-fio: seqno_low 19, wanted at least 20"],
                         self.missed(demands, {"seqno_low": 19}))

    def test_a_control_that_must_fail(self):
        demands = Demands(control_fails="junk_growth")
        self.assertEqual([], self.missed(demands, control={"junk_growth": 9000, "errors": 1}))
        self.assertEqual(["krb5i-tcp-fio: control: junk_growth 5, but it passed"],
                         self.missed(demands, control={"junk_growth": 5}))
        self.assertEqual(["krb5i-tcp-fio: control: junk_growth None, but 1 I/O errors"],
                         self.missed(demands, control={"errors": 1}))


class Entries(Case):
    """The entries of the window."""

    def test_the_control_has_the_repairs_and_the_switch(self):
        entry, = matrix.select(["window"])
        for group in entry.plan():
            self.assertEqual([("control", "base/repairs"), ("subject", "base/patched")],
                             [(cell.role, cell.pair) for cell in group])
            self.assertEqual((8, 60), (group[0].condition.nconnect, group[0].condition.seconds))
        self.assertEqual(6, len(entry.plan()))

    def test_by_hand_there_is_no_control(self):
        entry, = matrix.select(["window-128"])
        for group in entry.plan():
            self.assertEqual(["base/patched"], [cell.pair for cell in group])

    def test_junk_leans_on_the_base(self):
        entry, = matrix.select(["flood"])
        self.assertEqual([["base/base", "patched/patched"]],
                         [[cell.pair for cell in group] for group in entry.plan()])


if __name__ == "__main__":
    unittest.main()
