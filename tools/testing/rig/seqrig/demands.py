# SPDX-License-Identifier: GPL-2.0
"""What an entry of the matrix demands of its rows, past that its subjects pass.

Repeats of one condition and pairing count together, as they do for claims.
"""

import dataclasses

from seqrig.claims import ENOUGH, controls_of, groups, total
from seqrig.table import median


@dataclasses.dataclass(frozen=True)
class Demands:
    """Names of row fields."""

    absent: tuple = ()          # faults of which a subject may show none
    shown: tuple = ()           # what a subject must show often enough
    control_shows: tuple = ()   # faults that the control beside it must
    enough: int = ENOUGH
    control_fails: str = ""     # what must be counted in a control, and be why it fails
    rare: tuple = ()            # (count, of what, share): at most this share of the subject's own
    cured: tuple = ()           # (fault, share): at most this share of what the control shows
    keeps: tuple = ()           # (figure, share): at least this share of the control's median
    in_all: tuple = ()          # (count, least): what the subjects of a run must reach together
    guard_us: int = 0           # no wait for a number may take longer, past one round trip

    def missed(self, everything):
        """What the rows of a run owe, a line each."""
        subjects = [row for row in everything if row.get("role") == "subject"]
        return [f"{condition}: {line}" for condition, _, rows in groups(subjects)
                for line in self._of(rows, controls_of(rows, everything))] + [
            f"{count} {total(subjects, count)} in all, wanted at least {least}"
            for count, least in self.in_all if (total(subjects, count) or 0) < least]

    def _of(self, rows, controls):
        """What one condition owes."""
        for fault in self.absent:
            if total(rows, fault) != 0:
                yield f"{fault} {total(rows, fault)}, wanted 0"
        for what, faults, counted in (("", self.shown, rows),
                                      ("control: ", self.control_shows, controls)):
            for fault in faults:
                if (total(counted, fault) or 0) < self.enough:
                    yield f"{what}{fault} {total(counted, fault)}, wanted at least {self.enough}"
        if self.control_fails:
            yield from self._passes(controls)
        for count, of, share in self.rare:
            yield from _too_much(count, total(rows, count), share, total(rows, of), of)
        for fault, share in self.cured:
            yield from _too_much(fault, total(rows, fault), share, total(controls, fault),
                                 "the control's")
        for figure, share in self.keeps:
            yield from _too_little(figure, median(rows, figure), share, median(controls, figure))
        if self.guard_us:
            yield from self._long_waits(rows)

    def _passes(self, controls):
        """Controls that did not fail as they must."""
        if not controls:
            yield "no control ran"
        for row in controls:
            if row.get("verdict") == "pass" or not row.get(self.control_fails):
                yield (f"control: {self.control_fails} {row.get(self.control_fails)}, but"
                       f" {row.get('cause') or 'it passed'}")

    def _long_waits(self, rows):
        """Waits of a throttled RPC past the guard and a round trip, which is one in a hundred."""
        for row in rows:
            longest, trip = row.get("cli_wait_max_us"), row.get("p99_us")
            if longest is None or trip is None:
                yield "waits were not traced"
            elif longest > self.guard_us + trip:
                yield (f"an RPC waited {longest} us for a number, wanted at most the guard of"
                       f" {self.guard_us} us and a round trip of {trip} us")


def _too_much(name, count, share, whole, of):
    """A line if a count is missing, or more than its share of a whole."""
    if count is None or not whole:
        yield f"{name} {count} of {whole} ({of}): nothing to compare"
    elif count > share * whole:
        yield f"{name} {count}, wanted at most {share:.0%} of {whole} ({of})"


def _too_little(name, figure, share, beside):
    """A line if a figure is missing, or less than its share of the control's."""
    if figure is None or not beside:
        yield f"{name} {figure} beside {beside} of the control: nothing to compare"
    elif figure < share * beside:
        yield f"{name} {figure}, wanted at least {share} of the control's {beside}"
