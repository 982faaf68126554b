# SPDX-License-Identifier: GPL-2.0
"""What an entry of the matrix demands of its rows, past that its subjects pass.

Repeats of one condition and pairing count together, as they do for claims.
"""

import dataclasses

from seqrig.claims import ENOUGH, controls_of, groups, total


@dataclasses.dataclass(frozen=True)
class Demands:
    """Names of row fields."""

    absent: tuple = ()          # faults of which a subject may show none
    shown: tuple = ()           # faults that a subject must show often enough
    control_shows: tuple = ()   # faults that the control beside it must
    control_fails: str = ""     # what must be counted in a control, and be why it fails

    def missed(self, everything):
        """What the rows of a run owe, a line each."""
        return [f"{condition}: {line}" for condition, _, rows in groups(everything)
                if rows[0].get("role") == "subject"
                for line in self._of(rows, controls_of(rows, everything))]

    def _of(self, rows, controls):
        """What one condition owes."""
        for fault in self.absent:
            if total(rows, fault) != 0:
                yield f"{fault} {total(rows, fault)}, wanted 0"
        for what, faults, counted in (("", self.shown, rows),
                                      ("control: ", self.control_shows, controls)):
            for fault in faults:
                if (total(counted, fault) or 0) < ENOUGH:
                    yield f"{what}{fault} {total(counted, fault)}, wanted at least {ENOUGH}"
        if self.control_fails:
            yield from self._passes(controls)

    def _passes(self, controls):
        """Controls that did not fail as they must."""
        if not controls:
            yield "no control ran"
        for row in controls:
            if row.get("verdict") == "pass" or not row.get(self.control_fails):
                yield (f"control: {self.control_fails} {row.get(self.control_fails)}, but"
                       f" {row.get('cause') or 'it passed'}")
