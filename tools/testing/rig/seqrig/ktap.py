# SPDX-License-Identifier: GPL-2.0
"""KTAP version 1 on stdout, a line at a time."""

import sys


class Ktap:
    """Prints test points and counts them."""

    def __init__(self, file=None):
        self.file = file or sys.stdout
        self.planned = self.passed = self.failed = 0

    def _print(self, line):
        print(line, file=self.file, flush=True)

    def plan(self, count):
        """The header and the plan."""
        self.planned = count
        self._print("KTAP version 1")
        self._print(f"1..{count}")

    def point(self, good, name, note=""):
        """One test point; the number counts by itself."""
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        number = self.passed + self.failed
        note = " ".join(note.split())
        start = "ok" if good else "not ok"
        self._print(f"{start} {number} {name}" + (f" # {note}" if note else ""))

    def diag(self, text):
        """Diagnostic lines."""
        for line in text.splitlines():
            self._print(f"# {line}".rstrip())

    def bail(self, cause):
        """Nothing more will run."""
        self._print("Bail out! " + " ".join(cause.split()))

    def totals(self):
        """The totals line; what was planned and never ran counts as failed."""
        never = self.planned - self.passed - self.failed
        if never > 0:
            self.diag(f"{never} of {self.planned} never ran")
            self.failed += never
        self.diag(f"Totals: pass:{self.passed} fail:{self.failed} xfail:0 xpass:0 skip:0 error:0")

    def last(self):
        """The plain last line."""
        self._print(f"{self.passed} passed, {self.failed} failed")
