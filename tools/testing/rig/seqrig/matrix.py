# SPDX-License-Identifier: GPL-2.0
"""The long acceptance matrix: named entries, each a session of its own."""

import dataclasses
import json

from kit.run import Failure
from seqrig import condition, results, session
from seqrig.demands import Demands

BASE, PATCHED = ("base", "base"), ("patched", "patched")
VERSIONS = ("-v3", "-v4.0", "-v4.1", "")


@dataclasses.dataclass
class Entry:
    """A row of MATRIX."""

    name: str
    text: str
    globs: tuple
    subject: tuple = PATCHED
    repeat: int = 1
    seconds: int = 60
    control: str = ""       # as CONTROL=
    reported: tuple = ()    # pairings that run along and decide nothing
    demands: Demands = Demands()

    def plan(self):
        """The groups of cells of this entry."""
        conditions = condition.select(self.globs, seconds=self.seconds)
        return session.plan(conditions, [self.subject], self.repeat, self.control, self.reported)


MATRIX = (
    Entry("integrity-b0", "no EIO on krb5i, both sides patched, five of five",
          ("krb5i-tcp-fio", "krb5i-rdma-fio", "krb5i-tcp-fio-v3"), repeat=5),
    Entry("cure-b0-server", "a patched server alone cures the reply pages for a stock client",
          ("krb5i-tcp-fio", "krb5i-rdma-fio"), ("base", "patched")),
    Entry("cure-b1-client", "a patched client alone cures replies to earlier transmissions",
          ("krb5i-tcp-fio-v3",), ("patched", "base")),
    Entry("latereply", "a hiccup that ends between retransmit and reconnect gives no error",
          ("krb5{,i,p}-tcp-latereply-v3",)),
    Entry("sys", "the flavour without Kerberos neither fails nor slows down",
          ("sys-{tcp,rdma}-{fio,stream,files}",), control="base/base", repeat=2),
    Entry("loads", "streams and small files under every flavour",
          ("krb5*-{tcp,rdma}-{stream,files}",)),
    Entry("replay", "no operation runs twice and no byte is lost while connections are killed",
          ("krb5{i,p}-tcp-{drc,storm}{-v3,}-kill",), control="none"),
    Entry("kills", "connections killed for ten minutes: no hang, no EIO, no wrong byte (LAYER=debug)",
          ("krb5{,p}-tcp-mixed-kill",), seconds=600, control="none"),
    Entry("outage", "no WRITE is lost when the context expires while the server is away",
          ("krb5{,i,p}-tcp-outage{-v3,}",)),
    Entry("window", "a longer history spares a stock client what a stalled Call costs",
          ("krb5{,i,p}-tcp-fio-hogs-lag", "krb5{,i,p}-rdma-fio-nc8-hogs-lag"),
          ("base", "patched"), control="base/repairs",
          demands=Demands(absent=("seqno_low", "reconnects"), control_shows=("seqno_low",))),
    Entry("window-128", "with N = H = 128 by hand the drops come back",
          ("krb5-tcp-fio-hogs-lag-win128", "krb5-rdma-fio-nc8-hogs-lag-win128"),
          ("base", "patched"), control="none", demands=Demands(shown=("seqno_low",))),
    Entry("stranger", "a Call sent again is refused wherever it stands, and nobody else notices",
          ("krb5{,i,p}-tcp-replay",), control="none", seconds=90,
          demands=Demands(absent=("reconnects",))),
    Entry("flood", "junk Calls leave nothing on the server, and a mounted client goes on",
          ("krb5-tcp-flood",), control="base/base", demands=Demands(control_fails="junk_growth")),
    Entry("shapes", "the shaped conditions, each a case from the field", condition.CURATED),
    Entry("all-flavours", "every flavour, transport, version and pairing",
          tuple(f"{sec}-{way}-fio{vers}" for sec in condition.SECS
                for way in condition.TRANSPORTS for vers in VERSIONS),
          control="base/base", reported=(("base", "patched"), ("patched", "base"))),
)


def select(names):
    """Entries by name, all of them when none is named."""
    known = {entry.name: entry for entry in MATRIX}
    for name in names:
        if name not in known:
            raise Failure(f"MATRIX={name}: no such entry, there are {', '.join(known)}")
    return [known[name] for name in names] or list(MATRIX)


class Ledger:
    """build/results/matrix.json: which entry finished with which kernels."""

    def __init__(self, root=None):
        self.path = (root or results.RESULTS) / "matrix.json"
        try:
            self.done = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            self.done = {}
        except ValueError as err:
            raise Failure(f"{self.path} is not JSON ({err}): remove it") from err

    def finished(self, entry, commits):
        """The record of an entry that passed with these very kernels, or None."""
        record = self.done.get(entry.name)
        good = record and record["good"] and record["commits"] == commits
        return record if good else None

    def record(self, entry, commits, good, folder):
        """Remember an entry that ran to its end."""
        self.done[entry.name] = {"good": good, "commits": commits, "run": folder.name}
        with results.disk("matrix.json"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            results.write_atomic(self.path, json.dumps(self.done, indent=1) + "\n")
