# SPDX-License-Identifier: GPL-2.0
"""The run loop: conditions x pairings x repeats, with the controls in between.

A control runs right beside its subject, and the two change places from one repeat to the
next, so that a machine that warms up or gets busy favours neither.
"""

import dataclasses
import time

from kit.run import Failure, say
from seqrig import claims, throttle
from seqrig.condition import Condition, with_shape
from seqrig.results import disk
from seqrig.shapes import find

# Base kernels are known to fail; this flavour has no context, hence nothing to show.
NO_CONTROL = ("sys",)


@dataclasses.dataclass
class Cell:
    """One execution; role 'subject' decides the run, 'control' and 'reported' do not."""

    condition: Condition
    client: str
    server: str
    role: str
    repeat: int

    @property
    def pair(self):
        """client/server."""
        return f"{self.client}/{self.server}"

    @property
    def name(self):
        """What a person calls it."""
        turn = f" (repeat {self.repeat})" if self.repeat > 1 else ""
        return f"{self.condition.name} {self.pair}{turn}"


def split_pair(text, what):
    """'client/server' as two names."""
    client, slash, server = text.partition("/")
    if not (client and slash and server) or "/" in server:
        raise Failure(f"{what}={text}: wanted <client>/<server>, e.g. base/base, or a shape")
    return client, server


def control_for(condition, wanted):
    """The pairing of the control of a condition, or None; wanted is CONTROL= or ''.

    Where the server has to stall Calls by its switch, the control has the repairs and the
    switch, but the window of the base. A window or a throttle set by hand has no kernel to
    compare with: the knobs come with the cure.
    """
    alone = condition.sec in NO_CONTROL or condition.window or throttle.by_hand(condition)
    if wanted == "none" or (not wanted and alone):
        return None
    stalls = condition.stall_us or condition.lag
    return split_pair(wanted or ("base/repairs" if stalls else "base/base"), "CONTROL")


def _under_a_shape(condition, subjects, wanted):
    """The control that is the subject itself, under one shape more; None if none is wanted."""
    if "/" in wanted or not find(wanted)[0]:
        return None
    return Cell(with_shape(condition, wanted), *subjects[0], "control", 0)


def _cells(condition, subjects, control, reported):
    """One of each kind, the control first."""
    pairs = {pair: "reported" for pair in reported}
    special = _under_a_shape(condition, subjects, control)
    extra = None if special else control_for(condition, control)
    if extra and tuple(subjects) != (extra,) and tuple(subjects) != (claims.PLAIN,):
        pairs[extra] = "control"
    pairs.update((pair, "subject") for pair in subjects)
    order = sorted(pairs, key=lambda pair: pairs[pair] != "control")
    return [special] * bool(special) + [Cell(condition, *pair, pairs[pair], 0) for pair in order]


def plan(conditions, subjects, repeats=1, control="", reported=()):
    """Groups of cells that run side by side: one group per condition and repeat."""
    groups = []
    for condition in conditions:
        for repeat in range(1, repeats + 1):
            cells = [dataclasses.replace(cell, repeat=repeat)
                     for cell in _cells(condition, subjects, control, reported)]
            groups.append(cells if repeat % 2 else cells[::-1])
    return groups


def skeleton(cell, cause):
    """The row of an execution whose guests broke: no counts, a cause."""
    cond = cell.condition
    return {"condition": cond.name, "client": cell.client, "server": cell.server,
            "vers": cond.vers, "sec": cond.sec, "enctype": cond.enctype,
            "transport": cond.transport, "nconnect": cond.nconnect, "load": cond.load,
            "seconds": cond.seconds, "verdict": "fail", "cause": cause, "broken": True}


class Session:
    """Runs a plan; results go to a results.Run, test points to a ktap.Ktap."""

    def __init__(self, run, ktap, execute, side, progress=say):
        self.run, self.ktap, self.progress = run, ktap, progress
        self.execute, self.side = execute, side
        self.causes = []
        self.broken = self.broken_in_a_row = 0
        self.done, self.cells, self.begin = 0, 0, time.monotonic()

    def go(self, groups):
        """Run all groups; True when every subject passed and no guest broke."""
        self.cells = sum(map(len, groups))
        self.ktap.plan(sum(cell.role == "subject" for group in groups for cell in group))
        try:
            for group in groups:
                self._group(group)
                if self.broken_in_a_row > 1:
                    self.ktap.bail(self.causes[-1])
                    break
        finally:
            self._close()
        return not (self.ktap.failed or self.broken)

    def _close(self):
        """Say what the run proves, also of a run that ends early."""
        for line in claims.closing(self.run.rows) + claims.ratios(self.run.rows):
            self.ktap.diag(line)
        self.ktap.totals()
        self.run.meta["passed"], self.run.meta["failed"] = self.ktap.passed, self.ktap.failed
        if self.done == self.cells:
            self.run.finish()
        else:
            self.run.save()

    def _group(self, group):
        """Run the cells of one condition and repeat, then judge the subjects."""
        indices = {}
        for cell in group:
            indices[cell.role, cell.pair] = self._cell(cell)
            if self.broken_in_a_row > 1:
                break
        control = next((index for (role, _), index in indices.items() if role == "control"), None)
        for cell in group:
            index = indices.get((cell.role, cell.pair))
            if index is not None:
                self._judge(cell, index, control)
        self.run.save()

    def _cell(self, cell):
        """One execution; returns the index of its row."""
        self.progress(f"[{self.done + 1}/{self.cells}] {cell.name}, {cell.condition.seconds} s"
                      f"{'' if cell.role == 'subject' else ', ' + cell.role}{self._left()}")
        out = self.run.artifacts(cell.condition.name, cell.pair, cell.repeat)
        try:
            with disk(cell.name):
                row = self.execute(cell.condition, self.side(cell.client),
                                   self.side(cell.server), out, self.progress)
            self.broken_in_a_row = 0
        except Failure as err:
            self.progress(f"{cell.name}: {err}")
            row = skeleton(cell, str(err).partition("\n")[0])
            self.broken += 1
            self.broken_in_a_row += 1
        self.done += 1
        row = {**row, "condition": cell.condition.name, "client": cell.client,
               "server": cell.server, "role": cell.role, "repeat": cell.repeat}
        return self.run.add(row, out)

    def _left(self):
        """A guess of what is left, from what is done."""
        if not self.done:
            return ""
        each = (time.monotonic() - self.begin) / self.done
        return f", about {max(1, round(each * (self.cells - self.done) / 60))} min left"

    def _judge(self, cell, index, control):
        """Link a row to its control and print its test point or diagnostic line."""
        row = self.run.rows[index]
        beside = self.run.rows[control] if control is not None and control != index else None
        if row.get("broken"):
            row["control"], row["claims"] = None, {}
            self.causes.append(f"{cell.name}: {row['cause']}")
        elif cell.role == "control":
            row["control"], row["claims"] = None, {}
        else:
            claims.link(row, None if beside and beside.get("broken") else beside, control)
        self._point(cell, row, beside)

    def _point(self, cell, row, beside):
        """The test point of a subject; a diagnostic line for the others."""
        counts = row.get("cause") if row.get("broken") else brief(row)
        if cell.role != "subject":
            kind = "control" if cell.role == "control" else "reported"
            self.ktap.diag(f"{kind} {cell.name}: {counts}")
            return
        good = row["verdict"] == "pass"
        if not good:
            if not row.get("broken"):
                self.causes.append(f"{cell.name}: {row.get('cause') or brief(row)}")
                counts += f"; {row['cause']}" if row.get("cause") else ""
            counts += f"; see {self.run.folder / row['artifacts']}"
        elif beside and beside.get("broken"):
            good, counts = False, f"its control broke: {beside['cause']}"
        self.ktap.point(good, cell.name, counts)


def brief(row):
    """The counts of a row that matter, in a line."""
    faults = " ".join(f"{fault} {row.get(fault)}" for fault in claims.FAULTS)
    return f"{faults} of {row.get('rpcs')} rpcs; warnings {row.get('warnings')}"
