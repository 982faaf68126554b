# SPDX-License-Identifier: GPL-2.0
"""Run one condition on two guests and return its row.

The order is fixed: boot both, KDC and nfsd on the server, mount on the client, counters,
faults, load, counters, unmount, the kernel logs of both guests, and only then the verdict,
which goes to a file of its own that says 'fail' from the start.
"""

import contextlib
import dataclasses
import os
import re
import shlex
import shutil
import socket
import time
from pathlib import Path

from kit import selftests
from kit.paths import RIG
from kit.run import Failure, say
from seqrig import accel, counters, image, loads, throttle, tools, window
from seqrig.guest import Guest

FREE_MIB = 64        # what a run may write into its folder
SETUP = 180          # seconds for each step of the set-up on a plain kernel
SLOW = 4             # how much slower a debug kernel is, for limits
TOOLS = {accel.QEMU: "qemu-system-x86", "setpriv": "util-linux"}


@dataclasses.dataclass
class Side:
    """The kernel of one guest: its name in reports, and the folder with its parts."""

    name: str
    bundle: Path

    def part(self, name):
        """A text file of the bundle, stripped; empty when there is none."""
        path = Path(self.bundle) / name
        return path.read_text(errors="replace").strip() if path.exists() else ""

    def kernel(self):
        """The bootable image."""
        path = Path(self.bundle) / "bzImage"
        if not path.exists():
            raise Failure(f"no kernel {path}")
        return path

    def modules(self):
        """The folder that becomes /lib/modules, if this kernel has modules."""
        path = Path(self.bundle) / "modules/lib/modules"
        return path if path.is_dir() else None

    def slow(self):
        """Does the kernel carry heavy debugging?"""
        return "CONFIG_KASAN=y" in self.part("config")


def _environment(cond, sabotage):
    """The condition as shell variables."""
    rules = {}
    for rule in cond.netem:
        key = f"NETEM_{rule['direction'].upper()}" + ("_HALF" if rule.get("half") else "")
        rules[key] = f"{rules.get(key, '')} {rule['spec']}".strip()
    daemon, after, duration = cond.stop or ("", "", "")
    values = {
        "SEC": cond.sec, "TRANSPORT": cond.transport, "LOAD": cond.load, "VERS": cond.vers,
        "NCONNECT": cond.nconnect, "RUNTIME": cond.seconds, "ENCTYPE": cond.enctype,
        "MOUNT_OPTS": cond.mount_opts, "NFSD": cond.nfsd, "VCPUS": cond.vcpus,
        "SLOTS": cond.slots, "GSSD_T": cond.gssd_t, "KEY_EXPIRE": cond.key_expire_timeo,
        "KILL_MS": cond.kill_ms, "KILL_S": cond.kill_ms and cond.kill_ms / 1000, "HOGS": cond.hogs,
        "STALL_US": cond.stall_us, "LAG": cond.lag, "WINDOW": cond.window, "LOSE": cond.lose,
        "SLOW_EVERY": cond.slow_every, "TOGGLE_S": cond.toggle_ms and cond.toggle_ms / 1000,
        "SIGNALS_S": cond.signals_ms and cond.signals_ms / 1000,
        "GONE": "yes" if cond.gone else None, "UNLOAD": "yes" if cond.unload else None,
        "MEMPRESS": cond.mempress_mb, "RESTART_AFTER": cond.restart_after,
        "TICKET": cond.ticket_s, "OUTAGE": cond.outage_s, "SEED": cond.seed,
        "STOP_DAEMON": daemon, "STOP_AFTER": after, "STOP_FOR": duration,
        "SABOTAGE": sabotage, **throttle.environment(cond),
        **{f"NETEM_{way}": rules.get(f"NETEM_{way}", "")
           for way in ("C2S", "C2S_HALF", "S2C", "S2C_HALF")}}
    return "".join(f"{name}={shlex.quote('' if value is None else str(value))}\n"
                   for name, value in values.items())


def _adapt(cond):
    """What a load needs of the mount, unless the name of the condition says otherwise."""
    if cond.load == "latereply" and "-nc" not in cond.name:
        cond = dataclasses.replace(cond, nconnect=1)
    if cond.load == "latereply" and "timeo=" not in cond.mount_opts:
        options = ",".join(filter(None, [cond.mount_opts, "timeo=50"]))
        cond = dataclasses.replace(cond, mount_opts=options)
    if cond.gone and "timeo=" not in cond.mount_opts:
        options = ",".join(filter(None, [cond.mount_opts, "timeo=50"]))
        cond = dataclasses.replace(cond, mount_opts=options)
    if (cond.kill_ms or cond.outage_s or cond.gone) and cond.transport != "tcp":
        raise Failure(f"condition '{cond.name}': connections can be killed on tcp only")
    if cond.ticket_s and cond.load != "outage":
        raise Failure(f"condition '{cond.name}': only the load 'outage' has a user with a ticket")
    return cond


class Run:
    """One run of one condition, with its two guests."""

    def __init__(self, cond, sides, out, progress, sabotage):
        self.cond, self.sides, self.out, self.say = cond, sides, Path(out), progress
        self.sabotage = sabotage
        self.share, self.scratch = self.out / "share", self.out / "scratch"
        self.raw = self.share / "raw"
        self.factor = SLOW if any(side.slow() for side in sides.values()) else 1
        self.guests, self.wire = {}, ()
        self.begin = time.monotonic()

    # -- set-up -------------------------------------------------------------------------

    def _folders(self):
        """The share, as both guests will find it."""
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / "verdict").write_text("fail\n")
        disk = os.statvfs(self.out)
        free = disk.f_bavail * disk.f_frsize >> 20
        if free < FREE_MIB:
            raise Failure(f"{self.out}: only {free} MiB free on this disk, "
                          f"a run needs {FREE_MIB}")
        for folder in (self.share / "log", self.raw, self.scratch):
            folder.mkdir(parents=True, exist_ok=True)
        shutil.copytree(RIG / "guest", self.share / "guest", dirs_exist_ok=True)
        (self.share / "env").write_text(_environment(self.cond, self.sabotage))
        if self.cond.load == "script":
            try:
                shutil.copy(self.cond.load_path, self.share / "user-load")
            except (OSError, TypeError) as err:
                raise Failure(f"the load {self.cond.load_path} cannot be read: {err}") from err
        if self.cond.load in loads.SELFTESTS:
            shutil.copytree(selftests.binaries(), self.share / "selftests")
        if tools.needed(self.cond):
            shutil.copytree(tools.binaries(), self.share / "tools")

    def _boot(self):
        """Start both guests on one link and wait until their agents answer."""
        disk = image.root_image()
        limit = (60 + 2 * self.cond.seconds + 6 * SETUP + loads.STALL) * self.factor
        kernels = {role: side.kernel() for role, side in self.sides.items()}
        accel.options(kernels["server"])
        self.wire = socket.socketpair()
        self.begin = time.monotonic()
        ends = dict(zip(self.sides, self.wire))
        for role, side in self.sides.items():
            self.guests[role] = Guest(
                role, kernels[role], disk, self.share, self.out, ends[role],
                vcpus=self.cond.vcpus, memory=2048 if self.factor == 1 else 3072,
                append=self._append(side), modules=side.modules(), scratch=self.scratch,
                until=time.monotonic() + limit)
        for guest in self.guests.values():
            guest.ready(SETUP * self.factor)

    def _append(self, side):
        """What a guest kernel's command line says."""
        root = "/dev/nowhere" if self.sabotage == "panic" else "/dev/vda"
        return f"root={root} init=/init" + (" rig.modules" if side.modules() else "")

    def _both(self, script, limit, *args):
        """Run a script in both guests at once."""
        calls = [(guest, guest.start(script, limit, *args)) for guest in self.guests.values()]
        for guest, call in calls:
            guest.wait(call)

    def _set_up(self):
        """From power-on to the mount."""
        client, server = self.guests["client"], self.guests["server"]
        limit = SETUP * self.factor
        preparing = client.start("client", limit)
        server.call("server", limit)
        client.wait(preparing)
        client.call("attach", limit)
        mounted = time.monotonic() - self.begin
        if "jiffies" in self._clock():
            self.say("  the guest kernel found no clock but jiffies: delays and latencies "
                     "are coarse (is CONFIG_ACPI missing?)")
        self.say(f"  {self.cond.name}: mounted {mounted:.0f} s after power-on, "
                 f"load of {self.cond.seconds} s")

    def _clock(self):
        """The clock source of the client."""
        return (self.raw / "clock").read_text(errors="replace").strip()

    # -- the measurement ----------------------------------------------------------------

    def _measure(self):
        """Faults and load between two readings of the counters."""
        limit = 60 * self.factor
        self._both("counters", limit, "start")
        self._both("shape", limit, "start")
        loads.run(self.cond, self.guests["client"], self.guests["server"],
                  self.factor)
        self._both("counters", limit, "stop")
        self._both("shape", limit, "stop")

    def _finish(self):
        """Unmount, stop the service, take the kernel logs; in this order."""
        for role in ("client", "server"):
            self.guests[role].call("finish", 150 * self.factor)
        for guest in self.guests.values():
            guest.power_off()

    def _diagnose(self):
        """After a failure, have each guest that still answers say where it stands."""
        for guest in self.guests.values():
            with contextlib.suppress(Failure, OSError):
                guest.call("diagnose", 10)

    def _clean(self):
        """Leave only artifacts: no guest, no copy of the scripts, no keys."""
        for guest in self.guests.values():
            guest.kill()
        for end in self.wire:
            end.close()
        for path in (self.share / "guest", self.share / "selftests", self.share / "tools",
                     self.scratch):
            shutil.rmtree(path, ignore_errors=True)
        for name in ("client.keytab", "user-load"):
            with contextlib.suppress(OSError):
                (self.share / name).unlink()

    def _explain(self, error):
        """The same failure, or the full disk behind it."""
        with contextlib.suppress(OSError):
            disk = os.statvfs(self.out)
            if disk.f_bavail * disk.f_frsize < 1 << 20:
                return Failure(f"the disk of {self.out} is full (then: {error})")
        if isinstance(error, OSError):
            return Failure(f"{error.filename or self.out}: {error.strerror}")
        return error

    def execute(self):
        """All of it; the row."""
        try:
            self._folders()
            self._boot()
            self._set_up()
            self._measure()
            self._finish()
            self._clean()
            return self._row()
        except Failure as err:
            self._diagnose()
            raise self._explain(err) from err
        except OSError as err:
            raise self._explain(err) from err
        finally:
            self._clean()

    # -- the row ------------------------------------------------------------------------

    def _counted(self):
        """The fields that come from events and mountstats.

        A histogram drops an event when two CPUs insert the same new key at once. It says how
        many, so a dropped event counts like any other; only its key is unknown.
        """
        client = counters.events(self.raw / "client.hist")
        server = counters.events(self.raw / "server.hist")
        hits = {name: sum(counts) for name, counts in {**client, **server}.items()}
        total = lambda *names: sum(hits.get(f"rpcgss_{name}", 0) for name in names)
        text = {when: (self.raw / f"client.{when}/mountstats").read_text(errors="replace")
                for when in ("before", "after")}
        writes = (self.raw / "client.hist/nfs_initiate_write").read_text()
        return {**counters.rpc(text["before"], text["after"]),
                "seqno_low": total("svc_seqno_low"), "seqno_seen": total("svc_seqno_seen"),
                "bad_mic": total("verify_mic", "unwrap", "unwrap_failed", "svc_mic",
                                 "svc_unwrap", "svc_unwrap_failed"),
                "bad_seqno": total("bad_seqno"), "closes": hits.get("svc_xprt_close", 0),
                "upcalls": total("upcall_msg"),
                "file_sync": counters.file_sync(writes)}

    def _mounted(self):
        """(proto, enctype) as the client's kernel and Kerberos library saw them."""
        line = (self.raw / "mount").read_text(errors="replace")
        proto = re.search(r"[,\s]proto=(\w+)", line)
        ticket = self.raw / "klist"
        text = ticket.read_text() if ticket.exists() else ""
        enctype = re.search(r"nfs/server\S*\s+Etype \(skey, tkt\): ([\w-]+)", text)
        return proto[1] if proto else "", enctype[1] if enctype else ""

    def _cause(self, row, reports):
        """Why this is no pass, in one line; empty when it is one."""
        done = [role for role in self.sides if not (self.raw / f"done.{role}").exists()]
        if done:
            return f"the {done[0]} guest did not report its end"
        if row["errors"]:
            return f"{row['errors']} errors in the load"
        if reports:
            return f"{len(reports)} kernel reports, the first: {reports[0]}"
        if row["proto"] not in (self.cond.transport, ""):
            return f"the mount has proto={row['proto']}"
        if self.cond.transport == "rdma" and not row["rdma"]:
            return "no RDMA counter moved"
        return window.cause(self.cond, row) or throttle.cause(self.cond, row)

    def _row(self):
        """The row; the verdict is written last."""
        cond = self.cond
        counted = self._counted()
        latencies = (self.raw / "client.hist/rpc_stats_latency").read_text()
        percentiles = counters.log2_percentiles(latencies, (0.5, 0.99, 0.9999))
        reports = counters.kernel_reports(self.raw)
        proto, enctype = self._mounted()
        loads.latency(cond, self.raw, self.out / "latency.csv")
        (self.out / "reports").write_text("".join(line + "\n" for line in reports))
        row = {"condition": cond.name, "base_version": self.sides["client"].part("release"),
               "client": self.sides["client"].name, "server": self.sides["server"].name,
               "vers": cond.vers, "sec": cond.sec, "enctype": enctype,
               "transport": cond.transport, "nconnect": cond.nconnect, "load": cond.load,
               "seconds": cond.seconds, **counted, **window.fields(cond, self.raw), **throttle.fields(cond, self.raw),
               **loads.results(cond, self.raw, percentiles),
               "warnings": len(reports), "crypto": counters.crypto(self.raw),
               "proto": proto, "rdma": counters.rdma(self.raw),
               "accel": accel.options(self.sides["server"].kernel())[1].split(",")[0],
               "clock": self._clock(), "artifacts": str(self.out), "latency": "latency.csv"}
        row["note"] = window.note(row)
        row["cause"] = self._cause(row, reports)
        row["verdict"] = "fail" if row["cause"] else "pass"
        (self.out / "verdict").write_text(row["verdict"] + "\n")
        return row


def execute(cond, client, server, out, progress=say, sabotage=""):
    """Run a condition with the kernels of two Sides; returns the row.

    out is an empty folder for the artifacts. sabotage ('panic', 'mute', 'kdc') breaks the
    set-up on purpose, for the tests of the rig itself. Raises Failure, with nothing left
    running, when the run cannot be completed.
    """
    image.need(TOOLS)
    sides = {"server": server, "client": client}
    return Run(_adapt(cond), sides, Path(out).resolve(), progress, sabotage).execute()
