# SPDX-License-Identifier: GPL-2.0
"""The run loop: controls in between, claims, KTAP, guests that break, interruption."""

import re
import unittest

from rigtest import Case, fake

from kit.run import Failure
from seqrig import claims, condition, matrix, report, results, session, table

SUBJECT, CONTROL = "patched/patched", "base/base"


class Order(Case):
    """Which cells run, and when."""

    def test_control_and_subject_change_places(self):
        engine = fake.Engine()
        self.play(engine, repeats=3)
        self.assertEqual([CONTROL, SUBJECT, SUBJECT, CONTROL, CONTROL, SUBJECT],
                         [pair for _, pair in engine.calls])

    def test_base_alone_is_the_subject_and_fails(self):
        engine = fake.Engine()
        run, good = self.play(engine, subject=("base", "base"))
        self.assertEqual([CONTROL], [pair for _, pair in engine.calls])
        self.assertFalse(good)
        self.assertEqual(412, run.rows[0]["errors"])
        self.assertEqual({}, run.rows[0]["claims"])

    def test_no_control_on_request_and_for_sys(self):
        for globs, control in ((["krb5i-tcp-fio"], "none"), (["sys-tcp-fio"], "")):
            groups = session.plan(condition.select(globs), [("patched", "patched")], 1, control)
            self.assertEqual([[SUBJECT]], [[cell.pair for cell in group] for group in groups])

    def test_stalled_calls_need_a_control_with_the_switch(self):
        rows = [("krb5-tcp-fio-lag", ("base", "repairs")), ("krb5-tcp-fio-stall", ("base", "repairs")),
                ("krb5-tcp-fio-lag-win128", None), ("krb5-tcp-fio-win128", None),
                ("krb5-tcp-fio-nothrottle", None), ("krb5-tcp-fio-toggle", None),
                ("krb5-tcp-fio-margin4", None), ("krb5-tcp-silent", None),
                ("krb5-tcp-fio-slowop", ("base", "base")),
                ("krb5-tcp-fio", ("base", "base"))]
        for name, wanted in rows:
            with self.subTest(name):
                cond = condition.parse(name)
                self.assertEqual(wanted, session.control_for(cond, ""))
                self.assertEqual(("a", "b"), session.control_for(cond, "a/b"))

    def test_another_control(self):
        engine = fake.Engine({"base/patched": fake.NOISY})
        run, good = self.play(engine, control="base/patched")
        self.assertTrue(good)
        self.assertEqual({"pairing": "base/patched", "condition": "krb5i-tcp-fio", "row": 0},
                         run.rows[1]["control"])

    def test_a_control_under_one_shape_more(self):
        lossy = {**fake.QUIET, "seqno_low": 300}
        engine = fake.Engine({"patched/repairs": lambda cond: lossy if cond.throttle is False
                              else fake.QUIET})
        run, good = self.play(engine, subject=("patched", "repairs"), repeats=2,
                              control="nothrottle")
        names = ["krb5i-tcp-fio-nothrottle", "krb5i-tcp-fio"]
        self.assertEqual([(name, "patched/repairs") for name in names + names[::-1]], engine.calls)
        self.assertTrue(good)
        self.assertEqual({"pairing": "patched/repairs", "condition": names[0], "row": 0},
                         run.rows[1]["control"])
        self.assertEqual("shown", run.rows[1]["claims"]["seqno_low"])
        self.assertEqual([1, 1, 2, 2], [row["repeat"] for row in run.rows])
        self.assertIn("patched/repairs leans on patched/repairs of the same condition with"
                      " nothrottle, run beside it (see 'control')", table.legend(run.rows))
        self.assertEqual({names[1]: [run.rows[1], run.rows[2]]}, report.split(run.rows)["patched"])

    def test_a_control_that_is_no_pairing(self):
        for control in ("base", "base/", "a/b/c"):
            with self.subTest(control), self.assertRaises(Failure):
                session.control_for(condition.parse("krb5-tcp-fio"), control)


class Claims(Case):
    """Zeros and what they lean on."""

    def test_proven_and_not(self):
        run, good = self.play(fake.Engine())
        control, subject = run.rows
        self.assertTrue(good)
        self.assertEqual(("control", "subject"), (control["role"], subject["role"]))
        self.assertEqual({"pairing": CONTROL, "condition": "krb5i-tcp-fio", "row": 0},
                         subject["control"])
        self.assertEqual("shown", subject["claims"]["errors"])
        self.assertEqual("not shown by the control (12)", subject["claims"]["closes"])
        self.assertEqual("not shown by the control (0)", subject["claims"]["seqno_low"])

    def test_a_fault_is_no_claim(self):
        run, _ = self.play(fake.Engine({SUBJECT: {**fake.QUIET, "retrans": 3}}))
        self.assertNotIn("retrans", run.rows[1]["claims"])
        self.assertIn("still there: retrans 3", self.out.getvalue())

    def test_the_edge_of_enough(self):
        for count, wanted in ((19, "not shown by the control (19)"), (20, "shown")):
            self.setUp()
            run, _ = self.play(fake.Engine({CONTROL: {**fake.QUIET, "closes": count}}))
            self.assertEqual(wanted, run.rows[1]["claims"]["closes"])

    def test_repeats_count_together_in_the_closing_lines(self):
        self.play(fake.Engine(), repeats=2)
        self.assertRegex(self.out.getvalue(),
                         rf"# krb5i-tcp-fio {SUBJECT}: absence proven beside {CONTROL}: .*closes")

    def test_each_repeat_leans_on_its_neighbour(self):
        run, _ = self.play(fake.Engine(), repeats=2)
        rows = run.rows
        leans = [row["control"]["row"] for row in rows if row["role"] == "subject"]
        self.assertEqual([0, 3], leans)
        self.assertEqual(["control", "subject", "subject", "control"],
                         [row["role"] for row in rows])

    def test_without_a_control_nothing_is_proven(self):
        run, good = self.play(fake.Engine(), control="none")
        self.assertTrue(good)
        self.assertEqual("no control", run.rows[0]["claims"]["errors"])
        self.assertNotIn("absence proven", self.out.getvalue())

    def test_throughput_of_sys(self):
        self.play(fake.Engine({CONTROL: {**fake.QUIET, "mbps": 2.0},
                               SUBJECT: {**fake.QUIET, "mbps": 1.9}}),
                  ["sys-tcp-fio"], control=CONTROL)
        self.assertIn("sys-tcp-fio: throughput patched/base 0.95", self.out.getvalue())

    def test_counts_that_were_not_taken_prove_nothing(self):
        row = dict.fromkeys(claims.FAULTS)
        self.assertEqual({}, claims.verdicts(row, row))


class Ktap(Case):
    """What comes out on stdout."""

    def check(self, text):
        """A strict look at KTAP; returns the points [(good, name)]."""
        lines = text.splitlines()
        self.assertEqual("KTAP version 1", lines[0])
        planned = int(re.fullmatch(r"1\.\.(\d+)", lines[1])[1])
        points = []
        for line in lines[2:]:
            match = re.fullmatch(r"(ok|not ok) (\d+) ([^#]+?)( # .*)?", line)
            if match:
                points.append((match[1] == "ok", match[3]))
                self.assertEqual(len(points), int(match[2]))
            else:
                self.assertRegex(line, r"^(#|Bail out! |\d+ passed, \d+ failed$)")
        self.assertLessEqual(len(points), planned)
        return planned, points

    def test_points_plan_and_totals(self):
        engine = fake.Engine({SUBJECT: lambda cond: fake.NOISY if cond.sec == "krb5p"
                              else fake.QUIET})
        _, good = self.play(engine, ["krb5i-tcp-fio", "krb5p-tcp-fio"])
        self.ktap.last()
        self.assertFalse(good)
        planned, points = self.check(self.out.getvalue())
        self.assertEqual(2, planned)
        self.assertEqual([(True, f"krb5i-tcp-fio {SUBJECT}"),
                          (False, f"krb5p-tcp-fio {SUBJECT}")], points)
        self.assertIn("# Totals: pass:1 fail:1 xfail:0 xpass:0 skip:0 error:0",
                      self.out.getvalue())
        self.assertEqual("1 passed, 1 failed", self.out.getvalue().splitlines()[-1])

    def test_a_failed_point_names_its_artifacts(self):
        run, _ = self.play(fake.Engine({SUBJECT: fake.NOISY}))
        self.assertIn(str(run.folder / run.rows[1]["artifacts"]), self.out.getvalue())

    def test_causes_with_lines_stay_on_one(self):
        engine = fake.Engine({SUBJECT: fake.panic("no boot; console ends:\n  one\n  two")})
        run, good = self.play(engine)
        self.check(self.out.getvalue())
        self.assertFalse(good)
        self.assertEqual("no boot; console ends:", run.rows[1]["cause"])


class Broken(Case):
    """Guests that break."""

    def test_a_broken_control_fails_its_subject(self):
        run, good = self.play(fake.Engine({CONTROL: fake.panic()}))
        self.assertFalse(good)
        self.assertIn("not ok 1", self.out.getvalue())
        self.assertIn("its control broke", self.out.getvalue())
        self.assertEqual("no control", run.rows[1]["claims"]["errors"])

    def test_two_in_a_row_end_the_run(self):
        engine = fake.Engine({CONTROL: fake.panic(), SUBJECT: fake.panic("KDC did not start")})
        run, good = self.play(engine, ["krb5*-tcp-fio"])
        self.assertFalse(good)
        self.assertEqual(2, len(engine.calls))
        self.assertIn("Bail out! krb5-tcp-fio patched/patched: KDC did not start",
                      self.out.getvalue())
        self.ktap.last()
        self.assertTrue(self.out.getvalue().endswith("0 passed, 3 failed\n"))
        self.assertNotIn("ended", run.meta)
        self.assertEqual("client: no boot within 60 s, console ends: Kernel panic",
                         run.rows[0]["cause"])

    def test_a_broken_reported_pairing_fails_the_run(self):
        _, good = self.play(fake.Engine({"base/patched": fake.panic()}),
                            reported=[("base", "patched")])
        self.assertFalse(good)

    def test_a_reported_pairing_decides_nothing(self):
        run, good = self.play(fake.Engine({"base/patched": fake.NOISY}),
                              reported=[("base", "patched")])
        self.assertTrue(good)
        self.assertEqual(3, len(run.rows))

    def test_interruption_keeps_the_rows(self):
        def stop(cond):
            if cond.sec == "krb5i":
                raise KeyboardInterrupt
            return fake.QUIET
        with self.assertRaises(KeyboardInterrupt):
            self.play(fake.Engine({SUBJECT: stop}), ["krb5-tcp-fio", "krb5i-tcp-fio"])
        summary = results.load(self.root / "latest")
        self.assertEqual([("krb5-tcp-fio", CONTROL), ("krb5-tcp-fio", SUBJECT),
                          ("krb5i-tcp-fio", CONTROL)],
                         [(row["condition"], claims.pairing(row)) for row in summary["rows"]])
        self.assertNotIn("ended", summary["meta"])
        self.assertIn("1 of 2 never ran", self.out.getvalue())


    def test_a_polite_kill_keeps_the_rows(self):
        with self.assertRaises(SystemExit):
            self.play(fake.Engine({SUBJECT: SystemExit(143)}))
        self.assertEqual(1, len(results.load(self.root / "latest")["rows"]))


class Matrix(Case):
    """Entries and their resumption."""

    def test_every_entry_has_a_plan(self):
        for entry in matrix.MATRIX:
            with self.subTest(entry.name):
                self.assertTrue(entry.plan())

    def test_all_flavours_is_all(self):
        entry, = matrix.select(["all-flavours"])
        self.assertEqual(4 * 2 * 4 * 4, sum(map(len, entry.plan())))

    def test_unknown_entry(self):
        with self.assertRaisesRegex(Failure, "MATRIX=nope"):
            matrix.select(["nope"])

    def test_a_passed_entry_is_remembered_with_its_kernels(self):
        entry = matrix.MATRIX[0]
        matrix.Ledger(self.root).record(entry, {"base": "1"}, True, self.root / "r")
        again = matrix.Ledger(self.root)
        self.assertEqual("r", again.finished(entry, {"base": "1"})["run"])
        self.assertIsNone(again.finished(entry, {"base": "2"}))
        again.record(entry, {"base": "1"}, False, self.root / "r")
        self.assertIsNone(matrix.Ledger(self.root).finished(entry, {"base": "1"}))


if __name__ == "__main__":
    unittest.main()
