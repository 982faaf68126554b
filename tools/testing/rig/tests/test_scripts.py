# SPDX-License-Identifier: GPL-2.0
"""The executables end to end, with a fake engine: exit status, stdout, files."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from rigtest import Case, HERE

from seqrig import results

LIMIT = 120     # seconds for one script


class Script(Case):
    """Helpers to call a script."""

    def call(self, script, counts=None, argv=(), **env):
        """Run a script; returns (exit status, stdout, stderr)."""
        clean = {name: value for name, value in os.environ.items()
                 if name in ("PATH", "HOME", "LANG", "XDG_CACHE_HOME")}
        done = subprocess.run(
            [sys.executable, HERE / "play_script.py", script, self.root,
             json.dumps(counts or {}), *argv], env={**clean, "RIG_ACCEL": "tcg", **env},
            capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stdout, done.stderr

    def last_run(self):
        """The summary of the newest run."""
        return results.load(self.root / "results/latest")


class Rig(Script):
    """scripts/rig."""

    def test_base_fails_with_its_errors_counted(self):
        status, out, _ = self.call("rig", CLIENT="base", SERVER="base", COND="krb5i-tcp-fio",
                                   SECONDS="5")
        self.assertEqual(1, status)
        self.assertTrue(out.endswith("0 passed, 1 failed\n"))
        row, = self.last_run()["rows"]
        self.assertEqual((412, "fail", 5), (row["errors"], row["verdict"], row["seconds"]))

    def test_patched_passes_beside_its_control(self):
        status, out, err = self.call("rig", COND="krb5i-{tcp,rdma}-fio", REPEAT="2")
        self.assertEqual(0, status, err)
        self.assertTrue(out.startswith("KTAP version 1\n1..4\n"))
        self.assertTrue(out.endswith("4 passed, 0 failed\n"))
        self.assertEqual(8, len(self.last_run()["rows"]))
        self.assertEqual({"base": "c0ffee-base (7.3.4-test)",
                          "patched": "c0ffee-patched (7.3.4-test)"},
                         self.last_run()["meta"]["commits"])

    def test_the_same_kernels_under_a_shape_are_a_control(self):
        status, out, err = self.call("rig", SERVER="repairs", COND="krb5-tcp-fio-slowop",
                                     CONTROL="nothrottle")
        self.assertEqual(0, status, err)
        self.assertTrue(out.startswith("KTAP version 1\n1..1\n"))
        self.assertEqual([("krb5-tcp-fio-slowop-nothrottle", "control"),
                          ("krb5-tcp-fio-slowop", "subject")],
                         [(row["condition"], row["role"]) for row in self.last_run()["rows"]])
        self.assertEqual({"patched", "repairs"}, set(self.last_run()["meta"]["commits"]))

    def test_a_control_that_is_neither_kernels_nor_a_shape(self):
        status, out, err = self.call("rig", COND="krb5-tcp-fio", CONTROL="nothrotle")
        self.assertEqual((1, ""), (status, out))
        self.assertIn("CONTROL=nothrotle: wanted <client>/<server>", err)

    def test_unknown_condition_in_one_line(self):
        status, out, err = self.call("rig", COND="krb5i-tcp-foi")
        self.assertEqual((1, ""), (status, out))
        self.assertEqual(1, len(err.splitlines()))
        self.assertIn("'foi', nearest is 'fio'", err)

    def test_unknown_side(self):
        status, _, err = self.call("rig", CLIENT="nope", COND="krb5-tcp-fio")
        self.assertEqual(1, status)
        self.assertIn("no kernel and no patch is called 'nope'", err)

    def test_guests_that_panic(self):
        status, out, err = self.call("rig", {"base/base": "panic", "patched/patched": "panic"})
        self.assertEqual(1, status)
        self.assertIn("Bail out! ", out)
        self.assertIn("failed: krb5-tcp-fio patched/patched: panic", err)
        self.assertTrue(out.endswith("0 passed, 6 failed\n"))


@unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot here")
class Job(Script):
    """scripts/run, scripts/report and scripts/matrix."""

    def test_run_writes_table_and_page(self):
        status, out, err = self.call("run", COND="krb5i-*-fio")
        self.assertEqual(0, status, err)
        self.assertIn("\nkrb5i-rdma-fio  (10 s)\n", out)
        self.assertTrue(out.endswith("2 passed, 0 failed\n"))
        page = self.root / "results/latest/report.html"
        self.assertTrue(page.is_file())
        page.unlink()
        status, out, _ = self.call("report")
        self.assertEqual(0, status)
        self.assertTrue(page.is_file())

    def test_run_fails_with_the_series(self):
        status, out, _ = self.call("run", {"patched/patched": {"errors": 1}}, COND="krb5-tcp-fio")
        self.assertEqual(1, status)
        self.assertIn("not ok 1", out)

    def test_matrix_resumes(self):
        status, out, err = self.call("matrix", MATRIX="cure-b1-client latereply")
        self.assertEqual(0, status, err)
        self.assertTrue(out.endswith("2 passed, 0 failed\n"))
        self.assertEqual("matrix-latereply", self.last_run()["meta"]["what"])
        status, out, _ = self.call("matrix", MATRIX="latereply")
        self.assertIn("passed before", out)
        status, out, _ = self.call("matrix", MATRIX="latereply", FORCE="1")
        self.assertEqual(0, status)
        self.assertNotIn("passed before", out)

    def test_matrix_demands_more_than_a_pass(self):
        for count, wanted in ((20, 0), (19, 1)):
            counts = {"base/patched": {"seqno_low": count}}
            status, out, err = self.call("matrix", counts, MATRIX="window-128", FORCE="1")
            self.assertEqual(wanted, status, err)
        self.assertIn("# krb5-tcp-fio-hogs-lag-win128: seqno_low 19, wanted at least 20\n", out)
        self.assertIn("not ok 1 window-128", out)


class List(Script):
    """scripts/rig-list and the help texts."""

    def test_lists(self):
        status, out, _ = self.call("rig-list")
        self.assertEqual(0, status)
        self.assertRegex(out, r"(?m)^krb5i-tcp-fio-v3 +krb5i over tcp, v3, 8 connections")
        self.assertRegex(out, r"(?m)^ +slotsN +at most N session slots")
        self.assertRegex(out, r"(?m)^ +nothrottle +the client's throttle is off")
        self.assertRegex(out, r"(?m)^krb5-tcp-silent-win8 +krb5 over tcp, v3, 8 connections")
        status, out, _ = self.call("matrix", argv=["list"])
        self.assertEqual(0, status)
        self.assertIn("integrity-b0", out)

    def test_help(self):
        for script in ("rig", "run", "report", "matrix"):
            with self.subTest(script):
                self.assertEqual(0, self.call(script, argv=["--help"])[0])


if __name__ == "__main__":
    unittest.main()
