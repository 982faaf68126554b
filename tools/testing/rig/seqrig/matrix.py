# SPDX-License-Identifier: GPL-2.0
"""The long acceptance matrix: named entries, each a session of its own."""

import dataclasses
import json

from kit.run import Failure
from seqrig import condition, results, session
from seqrig.demands import Demands

BASE, PATCHED = ("base", "base"), ("patched", "patched")
NARROW = ("patched", "repairs")     # the client's throttle against N = H = 128
GUARD_US = 20000                    # the default of the client's guard
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
    Entry("throttle", "against N = H = 128 the client alone keeps every number in the window",
          ("krb5{,i,p}-{tcp,rdma}-fio{-v3,}-nc{8,16}-nfsd16-delayhalf",), NARROW,
          control="nothrottle",
          demands=Demands(absent=("errors",), control_shows=("seqno_low",), enough=100,
                          cured=(("seqno_low", 0.01),))),
    Entry("throttle-both", "with the throttle and the server's window nothing is lost at all",
          ("krb5{,i,p}-{tcp,rdma}-{fio,files}{-v3,}", "krb5{,i,p}-tcp-fio-{v4.0,v4.1,nc16}",
           "krb5{,i,p}-tcp-mixed"), control="none",
          demands=Demands(absent=("seqno_low", "closes", "reconnects", "retrans", "errors"),
                          rare=(("cli_throttled", "cli_issued", 0.01),),
                          in_all=(("rpcs", 300000),))),
    Entry("throttle-works", "numbers do wait, and hardly any leaves without proof",
          ("krb5{,i,p}-{tcp,rdma}-fio-nc8",), NARROW, control="none",
          demands=Demands(shown=("cli_throttled",), rare=(("cli_conceded", "cli_issued", 0.01),))),
    Entry("throttle-gain", "keeping within N = H = 128 costs less than what it spares",
          ("krb5{,i,p}-tcp-fio-nc8-nfsd16-delayhalf",), NARROW, repeat=5, control="nothrottle",
          demands=Demands(keeps=(("mbps", 1.0),))),
    Entry("throttle-slow", "one slow operation in 5000 does not keep the others waiting",
          ("krb5{,i,p}-tcp-fio-slowop",), NARROW, repeat=3, control="nothrottle",
          demands=Demands(absent=("errors",), keeps=(("mbps", 0.7),), guard_us=GUARD_US)),
    Entry("throttle-storm", "nothing hangs or leaks while numbers wait (LAYER=debug)",
          ("krb5{,i,p}-tcp-fio-nc16-{kill,restart}-unload", "krb5p-tcp-mixed-kill",
           "krb5-tcp-fio-{gone,signals-unload,toggle-unload,kill-signals-toggle}",
           "krb5-tcp-fio-v3-{gone,signals,kill-signals}"), NARROW, control="none"),
    Entry("silent", "a server with a small window that drops without a word makes nobody wait for good",
          ("krb5-tcp-silent-win{1,2,8,32}{,-lose}",), control="none",
          demands=Demands(absent=("errors", "rsp_low", "rsp_seen"))),
    Entry("silent-off", "with the throttle off that server does drop Calls",
          ("krb5-tcp-silent-win{2,8}-nothrottle",), control="none",
          demands=Demands(shown=("rsp_low",))),
    Entry("silent-kill", "nor does it when connections are killed",
          ("krb5-tcp-silent-win{1,2,8,32}{,-lose}-kill",), control="none"),
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
