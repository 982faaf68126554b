# SPDX-License-Identifier: GPL-2.0
"""The results folder: rows, artifacts, the link to the newest run, a full disk, the knobs."""

import errno
import json
import os
import shutil
import subprocess
import unittest
from unittest import mock

from rigtest import Case, fake

from kit.run import Failure
from seqrig import cli, machine, results


class Folder(Case):
    """results.Run."""

    def test_latest_points_to_the_newest(self):
        first, second = self.new_run(), self.new_run()
        self.assertNotEqual(first.folder, second.folder)
        self.assertEqual(second.folder, (self.root / "latest").resolve())
        self.assertFalse(list(self.root.glob(".latest*")))

    def test_every_row_is_on_disk_at_once(self):
        run = self.new_run()
        for number in (1, 2):
            run.add({"condition": "c", "verdict": "pass"}, run.artifacts("c", "a/b", number))
            with open(run.folder / "summary.json", encoding="utf-8") as file:
                rows = json.load(file)["rows"]
            self.assertEqual(number, len(rows))
        self.assertEqual(set(results.FIELDS), set(rows[0]))

    def test_big_files_stay_only_for_failed_rows(self):
        run, _ = self.play(fake.Engine())
        control, subject = (run.folder / row["artifacts"] for row in run.rows)
        self.assertTrue((control / "trace.dat").exists())
        self.assertFalse((subject / "trace.dat").exists())
        self.assertTrue((subject / "client.console").exists())

    def test_artifacts_are_named(self):
        run, _ = self.play(fake.Engine(), repeats=2)
        self.assertEqual(["krb5i-tcp-fio/base-base", "krb5i-tcp-fio/patched-patched",
                          "krb5i-tcp-fio/patched-patched.2", "krb5i-tcp-fio/base-base.2"],
                         [row["artifacts"] for row in run.rows])

    def test_latency_is_seen_from_the_run(self):
        run, _ = self.play(fake.Engine(latency=True))
        self.assertTrue((run.folder / run.rows[0]["latency"]).is_file())

    def test_bad_folders(self):
        with self.assertRaises(Failure):
            results.load(self.root)
        (self.root / "summary.json").write_text("[", encoding="utf-8")
        with self.assertRaises(Failure):
            results.load(self.root)
        (self.root / "summary.json").write_text("{}", encoding="utf-8")
        with self.assertRaises(Failure):
            results.load(self.root)


class FullDisk(Case):
    """No space: one line, and the rows before stay readable."""

    def test_summary(self):
        run = self.new_run()
        with mock.patch("os.fsync", side_effect=OSError(errno.ENOSPC, "no space")):
            with self.assertRaisesRegex(Failure, "^summary.json: no space left"):
                run.add({"condition": "c", "verdict": "pass"}, run.artifacts("c", "a/b", 1))
        self.assertEqual([], results.load(run.folder)["rows"])
        self.assertEqual([], list(run.folder.glob(".summary*")))

    def test_guests(self):
        engine = fake.Engine({"base/base": OSError(errno.ENOSPC, "no space")})
        run, good = self.play(engine)
        self.assertFalse(good)
        self.assertIn("no space left", run.rows[0]["cause"])

    def test_real_disk(self):
        tiny = self.root / "tiny"
        tiny.mkdir()
        mounted = os.geteuid() == 0 and shutil.which("mount") and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "none", tiny],
            stderr=subprocess.DEVNULL, check=False).returncode == 0
        if not mounted:
            self.skipTest("cannot mount a tmpfs here")
        self.addCleanup(subprocess.run, ["umount", tiny], check=True)
        run = results.Run("full", {}, root=tiny)
        with self.assertRaisesRegex(Failure, "no space left"):
            run.add({"condition": "c" * 100000, "verdict": "pass"}, run.artifacts("c", "a/b", 1))
        self.assertEqual([], results.load(run.folder)["rows"])


class Machine(Case):
    """What a report says of the machine."""

    def test_crypto(self):
        rows = [{"crypto": ["aes-lib"]}, {"crypto": None}]
        self.assertIn("aes-lib (plain C", machine.crypto_note(rows, "CONFIG_CRYPTO_AES=y"))
        self.assertEqual("aes-lib (with CRYPTO_LIB_SHA1_ARCH)",
                         machine.crypto_note(rows, "CONFIG_CRYPTO_LIB_SHA1_ARCH=y"))

    def test_describe(self):
        with mock.patch.dict("os.environ", RIG_ACCEL="tcg"):
            facts = machine.describe("bzImage")
        self.assertTrue(all(facts.values()))
        self.assertIn("TCG", facts["accelerator"])


class Knobs(Case):
    """The environment of the scripts."""

    def test_defaults(self):
        chosen = cli.options({})
        self.assertEqual(("patched", "patched", 60, 1), (chosen.client, chosen.server,
                                                         chosen.seconds, chosen.repeat))
        self.assertEqual(6, len(chosen.conditions()))

    def test_duration_wins(self):
        self.assertEqual(5, cli.options({"SECONDS": "9", "DURATION": "5"}).seconds)

    def test_bad_knobs(self):
        for env in ({"SECONDS": "x"}, {"REPEAT": "0"}, {"LAYER": "nope"}, {"DURATION": "-1"}):
            with self.subTest(env), self.assertRaises(Failure):
                cli.options(env)

    def test_a_load_of_the_users(self):
        script = self.root / "load.sh"
        script.write_text("true\n", encoding="utf-8")
        found = cli.options({"LOAD": str(script)}).conditions()
        self.assertEqual({"script"}, {cond.load for cond in found})
        self.assertEqual({str(script.resolve())}, {cond.load_path for cond in found})
        with self.assertRaisesRegex(Failure, "LOAD=.*no such file"):
            cli.options({"LOAD": str(self.root / "nope")}).conditions()

    def test_the_command_that_repeats_a_run(self):
        self.assertEqual("make rig CLIENT=base COND='a b'",
                         cli.command("rig", {"CLIENT": "base", "COND": "a b", "HOME": "/"}))


if __name__ == "__main__":
    unittest.main()
