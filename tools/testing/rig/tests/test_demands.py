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


class Shares(Case):
    """What is compared with something of the same run."""

    def missed(self, demands, subject, control=None, repeats=1):
        """What is owed beside the same kernels under the shape nothrottle; a subject may differ
        from one repeat to the next."""
        turns = iter(subject if isinstance(subject, list) else [subject] * repeats)
        engine = fake.Engine({"patched/repairs": lambda cond: {**fake.QUIET, **(
            (control or {}) if cond.throttle is False else next(turns))}})
        run, _ = self.play(engine, subject=("patched", "repairs"), repeats=repeats,
                           control="nothrottle")
        self.assertEqual([("krb5i-tcp-fio-nothrottle", "patched/repairs"),
                          ("krb5i-tcp-fio", "patched/repairs")], engine.calls[:2])
        return demands.missed(run.rows)

    def test_a_fault_that_is_cured_but_for_a_share(self):
        demands = Demands(cured=(("seqno_low", 0.01),), control_shows=("seqno_low",), enough=100)
        self.assertEqual([], self.missed(demands, {"seqno_low": 2}, {"seqno_low": 200}))
        self.assertEqual(["krb5i-tcp-fio: seqno_low 3, wanted at most 1% of 200 (the control's)"],
                         self.missed(demands, {"seqno_low": 3}, {"seqno_low": 200}))
        self.assertEqual(["krb5i-tcp-fio: control: seqno_low 99, wanted at least 100"],
                         self.missed(demands, {}, {"seqno_low": 99}))
        self.assertEqual(2, len(self.missed(demands, {}, {"seqno_low": 0})))

    def test_what_may_be_rare(self):
        demands = Demands(rare=(("cli_conceded", "cli_issued", 0.01),))
        self.assertEqual([], self.missed(demands, {"cli_conceded": 9, "cli_issued": 900}))
        self.assertEqual(["krb5i-tcp-fio: cli_conceded 10, wanted at most 1% of 900 (cli_issued)"],
                         self.missed(demands, {"cli_conceded": 10, "cli_issued": 900}))
        self.assertEqual(["krb5i-tcp-fio: cli_conceded None of None (cli_issued): nothing to compare"],
                         self.missed(demands, {}))

    def test_what_must_be_kept_is_a_median(self):
        demands = Demands(keeps=(("mbps", 0.7),))
        rows = [{"mbps": 1.0}, {"mbps": 7.0}, {"mbps": 9.0}]
        self.assertEqual([], self.missed(demands, rows, {"mbps": 10.0}, repeats=3))
        rows[1]["mbps"] = 6.9
        self.assertEqual(["krb5i-tcp-fio: mbps 6.9, wanted at least 0.7 of the control's 10.0"],
                         self.missed(demands, rows, {"mbps": 10.0}, repeats=3))
        self.assertEqual(["krb5i-tcp-fio: mbps 3.6 beside None of the control: nothing to compare"],
                         self.missed(demands, {}, {"mbps": None}))

    def test_what_all_subjects_reach_together(self):
        demands = Demands(in_all=(("rpcs", 20),))
        self.assertEqual([], self.missed(demands, {"rpcs": 10}, {"rpcs": 0}, repeats=2))
        self.assertEqual(["rpcs 10 in all, wanted at least 20"],
                         self.missed(demands, {"rpcs": 10}, {"rpcs": 90}))

    def test_no_wait_is_longer_than_the_guard_and_a_round_trip(self):
        demands = Demands(guard_us=20000)
        row = {"cli_wait_max_us": 24999, "p99_us": 5000}
        self.assertEqual([], self.missed(demands, row))
        self.assertEqual(["krb5i-tcp-fio: an RPC waited 25001 us for a number, wanted at most the"
                          " guard of 20000 us and a round trip of 5000 us"],
                         self.missed(demands, {**row, "cli_wait_max_us": 25001}))
        self.assertEqual(["krb5i-tcp-fio: waits were not traced"],
                         self.missed(demands, {**row, "cli_wait_max_us": None}))


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

    def test_the_throttle_leans_on_itself_switched_off(self):
        for name in ("throttle", "throttle-slow"):
            entry, = matrix.select([name])
            for group in entry.plan():
                control, subject = sorted(group, key=lambda cell: cell.role)
                self.assertEqual(("control", "subject"), (control.role, subject.role))
                self.assertEqual(("patched/repairs", "patched/repairs"), (control.pair, subject.pair))
                self.assertEqual((f"{subject.condition.name}-nothrottle", False),
                                 (control.condition.name, control.condition.throttle))

    def test_the_narrow_window_is_met_in_every_way(self):
        entry, = matrix.select(["throttle"])
        found = {(cell.condition.sec, cell.condition.transport, cell.condition.nconnect,
                  cell.condition.vers) for group in entry.plan() for cell in group}
        self.assertEqual({(sec, way, links, vers) for sec in ("krb5", "krb5i", "krb5p")
                          for way in ("tcp", "rdma") for links in (8, 16) for vers in ("3", "4.2")},
                         found)
        self.assertEqual({(16, True)}, {(cell.condition.nfsd, cell.condition.netem[0]["half"])
                                        for group in entry.plan() for cell in group})

    def test_the_responder_has_each_window(self):
        entry, = matrix.select(["silent"])
        found = {(group[0].condition.window, group[0].condition.lose) for group in entry.plan()}
        self.assertEqual({(window, lose) for window in (1, 2, 8, 32) for lose in (None, 500)}, found)

    def test_junk_leans_on_the_base(self):
        entry, = matrix.select(["flood"])
        self.assertEqual([["base/base", "patched/patched"]],
                         [[cell.pair for cell in group] for group in entry.plan()])


if __name__ == "__main__":
    unittest.main()
