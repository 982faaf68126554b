# SPDX-License-Identifier: GPL-2.0
"""A fake of the engine for the tests: rows by rule, no guests."""

import random

from kit.run import Failure

QUIET = {"errors": 0, "seqno_low": 0, "seqno_seen": 0, "closes": 0, "reconnects": 0, "retrans": 0,
         "bad_mic": 0, "bad_seqno": 0}
NOISY = {**QUIET, "errors": 412, "bad_mic": 420, "closes": 12, "reconnects": 12, "retrans": 90}


class Side:
    """What the engine calls a side: a name and a kernel bundle."""

    def __init__(self, name):
        self.name = name


class Engine:
    """execute() with counts by pairing; counts may be a Failure or a callable too."""

    def __init__(self, counts=None, latency=False):
        self.counts = {"base/base": NOISY, **(counts or {})}
        self.latency, self.calls = latency, []

    def execute(self, cond, client, server, out, progress=None):
        """The row of one execution."""
        pair = f"{client.name}/{server.name}"
        self.calls.append((cond.name, pair))
        counts = self.counts.get(pair, QUIET)
        if callable(counts):
            counts = counts(cond)
        if isinstance(counts, BaseException):
            raise counts
        (out / "client.console").write_text("booted\n", encoding="utf-8")
        (out / "trace.dat").write_bytes(bytes(300 * 1024))
        row = {"base_version": "7.3.4", "client": client.name, "server": server.name,
               "vers": cond.vers, "sec": cond.sec, "enctype": cond.enctype,
               "transport": cond.transport, "nconnect": cond.nconnect, "load": cond.load,
               "seconds": cond.seconds, "rpcs": 9000, "iops_read": 322, "iops_write": 142,
               "mbps": 3.6, "p50_us": 41000, "p99_us": 320000, "p9999_us": 1500000,
               "file_sync": 0, "upcalls": 2, "warnings": 0, "crypto": ["aes-lib", "sha1-lib"],
               "proto": cond.transport, "rdma": {}, "condition": cond.name, **counts}
        row["verdict"] = "fail" if row["errors"] or row["warnings"] else "pass"
        row["cause"] = f"{row['errors']} I/O errors" if row["errors"] else None
        if self.latency:
            row["latency"] = samples(out / "latency.csv", cond, pair)
        return row


def samples(path, cond, pair):
    """A latency CSV that looks like one."""
    dice = random.Random(cond.name + pair)
    lines = []
    for index in range(5000):
        when = index * cond.seconds * 1000 // 5000
        usec = dice.lognormvariate(10.5, 0.5)
        if pair == "base/base" and when % 4000 < 700:
            if dice.random() < 0.9:
                continue
            usec *= 60
        lines.append(f"{when},{usec:.0f},{dice.choice(('read', 'write'))}")
    path.write_text("ms,usec,kind\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path.name


def panic(cause="client: no boot within 60 s, console ends: Kernel panic"):
    """What the engine raises when a guest breaks."""
    return Failure(cause)
