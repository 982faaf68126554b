# SPDX-License-Identifier: GPL-2.0
"""The engine with real guests. RIG_BUNDLE names the bundle of an unpatched kernel."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

RIG = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(RIG))

from seqrig import condition, engine
from kit.run import Failure

BUNDLE = os.environ.get("RIG_BUNDLE")


def guests_of(folder):
    """The QEMU processes that use a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = entry.read_bytes()
            if b"qemu-system" in words and os.fsencode(folder) in words:
                found.append(int(entry.parent.name))
    return found


@unittest.skipUnless(BUNDLE, "RIG_BUNDLE names no kernel bundle")
class Guests(unittest.TestCase):
    """What goes wrong ends in one line, in bounded time, with nothing left."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.side = engine.Side("base", Path(BUNDLE))

    def tearDown(self):
        self.assertEqual(guests_of(self.folder), [])

    def run_one(self, name, seconds=5, **extra):
        cond = condition.parse(name, seconds=seconds)
        return engine.execute(cond, self.side, self.side, self.folder / "out", **extra)

    def fails(self, limit, sabotage):
        begin = time.monotonic()
        with self.assertRaises(Failure) as caught:
            self.run_one("krb5-tcp-fio", sabotage=sabotage)
        self.assertLess(time.monotonic() - begin, limit)
        self.assertNotIn("\n", str(caught.exception))
        self.assertEqual((self.folder / "out/verdict").read_text(), "fail\n")
        return str(caught.exception)

    def test_panic_at_boot(self):
        self.assertRegex(self.fails(90, "panic"), "guest died: Kernel panic.*console")

    def test_kdc_that_does_not_start(self):
        self.assertRegex(self.fails(180, "kdc"), "the KDC did not start: ")

    def test_guest_that_is_never_ready(self):
        with mock.patch.object(engine, "SETUP", 20):
            self.assertRegex(self.fails(90, "mute"), "did not come up within 20 s.*console")

    def test_termination_leaves_no_guest(self):
        argv = [RIG / "one", "--client", BUNDLE, "--server", BUNDLE, "--cond", "sys-tcp-fio",
                "--seconds", "60", "--out", self.folder / "out"]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            end = time.monotonic() + 60
            while len(guests_of(self.folder)) < 2 and time.monotonic() < end:
                time.sleep(0.1)
            self.assertEqual(len(guests_of(self.folder)), 2)
            child.send_signal(signal.SIGTERM)
            self.assertNotEqual(child.wait(timeout=30), 0)

    def test_base_shows_the_fault(self):
        row = self.run_one("krb5i-tcp-fio", 5)
        self.assertEqual(row["verdict"], "fail")
        self.assertGreater(row["errors"], 0)
        self.assertGreater(row["bad_mic"], 0)
        self.assertEqual(row["warnings"], 0)

    def test_sys_passes(self):
        row = self.run_one("sys-tcp-files", 5)
        self.assertEqual((row["verdict"], row["errors"]), ("pass", 0), row["cause"])
        self.assertEqual((self.folder / "out/verdict").read_text(), "pass\n")


if __name__ == "__main__":
    unittest.main()
