# SPDX-License-Identifier: GPL-2.0
"""What the guest makes of a selftest's output: guest/selftest.sh, run here."""

import subprocess
import tempfile
import unittest
from pathlib import Path

GUEST = Path(__file__).resolve().parents[1] / "guest"
SHELL = """
MNT=/mnt RUNTIME=3 SEED= KILL_MS= ERRORS=0 BYTES=0 OPERATIONS=0
die() { echo "rig: $*"; exit 1; }
report() { echo "errors=$ERRORS bytes=$BYTES operations=$OPERATIONS"; }
. SCRIPT
selftest fake
"""
SUMMARY = "# summary: errors={} operations=7 bytes=42 killed=5"


class Selftest(unittest.TestCase):
    """The function selftest()."""

    def last_line(self, status, *lines):
        """What comes last when the program prints lines and exits with a status."""
        with tempfile.TemporaryDirectory() as folder:
            host = Path(folder)
            for name in ("raw", "selftests"):
                (host / name).mkdir()
            program = host / "selftests/fake"
            text = "".join(f"echo '{line}'\n" for line in lines)
            program.write_text(f"#!/bin/sh\n{text}exit {status}\n")
            program.chmod(0o755)
            script = host / "selftest.sh"
            script.write_text((GUEST / "selftest.sh").read_text().replace("/host/", f"{host}/"))
            done = subprocess.run(["bash", "-c", SHELL.replace("SCRIPT", str(script))], text=True,
                                  capture_output=True, timeout=20, check=False)
        self.assertEqual("", done.stderr)
        return done.stdout.strip().splitlines()[-1]

    def test_pass(self):
        self.assertEqual("errors=0 bytes=42 operations=7", self.last_line(0, SUMMARY.format(0)))

    def test_errors_are_counted(self):
        self.assertEqual("errors=3 bytes=42 operations=7", self.last_line(1, SUMMARY.format(3)))

    def test_a_failure_without_errors_is_one(self):
        self.assertEqual("errors=1 bytes=42 operations=7", self.last_line(1, SUMMARY.format(0)))

    def test_the_last_summary_counts(self):
        self.assertEqual("errors=0 bytes=42 operations=7",
                         self.last_line(0, SUMMARY.format(9), SUMMARY.format(0)))

    def test_skip_names_the_reason(self):
        self.assertEqual("rig: fake was skipped: no NFS here", self.last_line(4, "1..0 # SKIP no NFS here"))

    def test_a_program_that_dies(self):
        self.assertEqual("rig: fake ended with status 139 and without a summary",
                         self.last_line(139, "ok 1 something"))


if __name__ == "__main__":
    unittest.main()
