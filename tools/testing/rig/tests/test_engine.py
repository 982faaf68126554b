# SPDX-License-Identifier: GPL-2.0
"""The engine without guests: what it refuses, and what it hands to the guests."""

import collections
import contextlib
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from seqrig import accel, engine, image, tools
from kit import apt, selftests
from kit.run import Failure
from seqrig.condition import Condition

Disk = collections.namedtuple("Disk", "f_bavail f_frsize")


def refuse(progress_text):
    """A progress function for runs that must not get far."""
    raise AssertionError(f"unexpected progress: {progress_text}")


class Refusals(unittest.TestCase):
    """Bad input ends before anything is started, in one line."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.side = engine.Side("base", self.folder / "bundle")
        self.cond = Condition("krb5i-tcp-fio", "krb5i", "tcp", "fio")

    def fails(self, cond=None):
        with self.assertRaises(Failure) as caught:
            engine.execute(cond or self.cond, self.side, self.side, self.folder / "out", refuse)
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)

    def test_no_kernel(self):
        with mock.patch.object(image, "root_image", return_value="image"):
            self.assertIn("no kernel", self.fails())
        self.assertEqual((self.folder / "out/verdict").read_text(), "fail\n")
        self.assertFalse((self.folder / "out/scratch").exists())

    def test_full_disk(self):
        with mock.patch.object(os, "statvfs", return_value=Disk(10, 4096)):
            self.assertIn("full", self.fails())

    def test_missing_program(self):
        with mock.patch.object(engine, "TOOLS", {"no-such-program": "some-package"}):
            self.assertIn("install the package some-package", self.fails())

    def test_load_that_is_not_there(self):
        cond = Condition("krb5-tcp-script", "krb5", "tcp", "script", load_path="/no/such/load")
        self.assertIn("/no/such/load", self.fails(cond))

    def test_kill_needs_tcp(self):
        cond = Condition("krb5-rdma-fio-kill", "krb5", "rdma", "fio", kill_ms=200)
        self.assertIn("tcp only", self.fails(cond))

    def test_an_outage_needs_tcp(self):
        cond = Condition("krb5-rdma-outage", "krb5", "rdma", "outage", outage_s=45)
        self.assertIn("tcp only", self.fails(cond))

    def test_a_ticket_needs_its_user(self):
        cond = Condition("krb5-tcp-fio-life9", "krb5", "tcp", "fio", ticket_s=9)
        self.assertIn("only the load 'outage'", self.fails(cond))

    def test_selftests_that_do_not_compile(self):
        cond = Condition("krb5-tcp-drc", "krb5", "tcp", "drc")
        broken = Failure("the selftests do not compile: workers.c:1:1: error: no")
        with mock.patch.object(selftests, "binaries", side_effect=broken):
            self.assertIn("do not compile", self.fails(cond))

    def test_selftests_travel_to_the_guest_and_are_no_artifact(self):
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "drc_after_drop").write_text("ELF")
        cond = Condition("krb5-tcp-drc", "krb5", "tcp", "drc")
        share = self.folder / "out/share/selftests/drc_after_drop"
        seen = []
        with mock.patch.object(selftests, "binaries", return_value=programs), \
                mock.patch.object(image, "root_image", side_effect=lambda: seen.append(share.exists())):
            self.assertIn("no kernel", self.fails(cond))
        self.assertEqual([True], seen)
        self.assertFalse(share.exists())

    def test_a_load_finds_the_rigs_program(self):
        programs = self.folder / "programs"
        programs.mkdir()
        share = self.folder / "out/share/tools"
        seen = []
        for load, fields in (("flood", {}), ("silent", {}), ("fio", {"slow_every": 5000})):
            (programs / load).write_text("ELF")
            cond = Condition(f"krb5-tcp-{load}", "krb5", "tcp", load, **fields)
            with mock.patch.object(tools, "binaries", return_value=programs), \
                    mock.patch.object(image, "root_image",
                                      side_effect=lambda name=load: seen.append((share / name).exists())):
                self.assertIn("no kernel", self.fails(cond))
            self.assertFalse(share.exists())
        self.assertEqual([True] * 3, seen)

    def test_a_server_that_goes_away_needs_tcp_and_little_patience(self):
        cond = Condition("krb5-rdma-fio-gone", "krb5", "rdma", "fio", gone=True)
        self.assertIn("tcp only", self.fails(cond))
        cond = engine._adapt(Condition("krb5-tcp-fio-gone", "krb5", "tcp", "fio", gone=True))
        self.assertEqual("timeo=50", cond.mount_opts)

    def test_wrong_accelerator(self):
        with mock.patch.dict(os.environ, RIG_ACCEL="warp"), self.assertRaises(Failure):
            accel.options("kernel")


class Environment(unittest.TestCase):
    """The condition as the guests read it."""

    def text(self, **fields):
        cond = Condition("krb5i-tcp-fio", "krb5i", "tcp", "fio", **fields)
        return engine._environment(cond, "")

    def test_unset_is_empty(self):
        self.assertIn("SLOTS=''\n", self.text())

    def test_outage_ticket_and_seed(self):
        text = self.text(outage_s=45, ticket_s=40, seed=7, kill_ms=200)
        for line in ("OUTAGE=45\n", "TICKET=40\n", "SEED=7\n", "KILL_MS=200\n", "KILL_S=0.2\n"):
            self.assertIn(line, text)
        self.assertIn("OUTAGE=''\n", self.text())

    def test_stalls_and_window(self):
        text = self.text(stall_us=5000, window=128)
        for line in ("STALL_US=5000\n", "WINDOW=128\n", "LAG=''\n"):
            self.assertIn(line, text)

    def test_the_throttle_has_its_kernels_names(self):
        text = self.text(throttle=False, margin=4, giveup_ms=900)
        self.assertIn("CLIENT_KNOBS='gss_seq_throttle=0 gss_seq_margin=4 gss_seq_stall_ms=900'\n", text)
        self.assertIn("THROTTLE_SWITCH=/proc/sys/sunrpc/gss_seq_throttle\n", text)
        self.assertIn("CLIENT_KNOBS=''\n", self.text())
        self.assertIn("CLIENT_KNOBS=gss_seq_throttle=1\n", self.text(throttle=True))

    def test_the_faults_beside_it(self):
        text = self.text(lose=500, slow_every=5000, toggle_ms=500, signals_ms=300, gone=True)
        for line in ("LOSE=500\n", "SLOW_EVERY=5000\n", "TOGGLE_S=0.5\n", "SIGNALS_S=0.3\n",
                     "GONE=yes\n", "UNLOAD=''\n"):
            self.assertIn(line, text)

    def test_values_are_quoted(self):
        self.assertIn("MOUNT_OPTS='a b;c'\n", self.text(mount_opts="a b;c"))

    def test_rules_of_one_direction_join(self):
        text = self.text(netem=[{"direction": "c2s", "half": False, "spec": "delay 5ms"},
                                {"direction": "c2s", "half": False, "spec": "loss 1%"},
                                {"direction": "s2c", "half": True, "spec": "delay 9ms"}])
        self.assertIn("NETEM_C2S='delay 5ms loss 1%'\n", text)
        self.assertIn("NETEM_S2C_HALF='delay 9ms'\n", text)
        self.assertIn("NETEM_S2C=''\n", text)

    def test_late_replies_use_one_connection(self):
        cond = engine._adapt(Condition("krb5-tcp-latereply", "krb5", "tcp", "latereply"))
        self.assertEqual((cond.nconnect, cond.mount_opts), (1, "timeo=50"))


class Sources(unittest.TestCase):
    """The mirror is found in both formats of apt's configuration."""

    def mirror(self, name, text):
        with contextlib.ExitStack() as stack:
            root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            stack.enter_context(mock.patch.dict(os.environ, MIRROR=""))
            stack.enter_context(mock.patch.object(apt, "KEYRINGS", [__file__]))
            (root / "sources.list.d").mkdir()
            (root / name).write_text(text)
            return apt.mirror(root)

    def test_deb822(self):
        text = ("# a comment\nTypes: deb\nURIs: http://mirror.example/debian/\n"
                "Suites: bookworm bookworm-updates\nComponents: main\n"
                f"Signed-By: {__file__}\n")
        self.assertEqual(self.mirror("sources.list.d/debian.sources", text),
                         ("http://mirror.example/debian", __file__))

    def test_one_line(self):
        text = ("deb-src http://wrong.example/debian trixie main\n"
                "deb http://other.example/apt stuff-trixie main\n"
                f"deb [arch=amd64 signed-by={__file__}] http://mirror.example/d trixie main # x\n")
        self.assertEqual(self.mirror("sources.list", text), ("http://mirror.example/d", __file__))

    def test_disabled_entry(self):
        text = ("Enabled: no\nTypes: deb\nURIs: http://mirror.example/d\nSuites: trixie\n"
                "Components: main\n")
        with self.assertRaises(Failure):
            self.mirror("sources.list.d/a.sources", text)

    def test_key_inside_the_entry(self):
        text = ("Types: deb\nURIs: http://mirror.example/d\nSuites: trixie\nComponents: main\n"
                "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n")
        self.assertEqual(self.mirror("sources.list.d/a.sources", text)[1], __file__)


if __name__ == "__main__":
    unittest.main()
