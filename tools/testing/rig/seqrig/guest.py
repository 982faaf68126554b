# SPDX-License-Identifier: GPL-2.0
"""A QEMU guest and its command channel.

The channel is a virtio-serial port. The agent in the guest writes "ready" once; from then
on the host sends "id limit script arguments" and the agent answers "id status". Scripts
run side by side in the guest, each with its output in log/<role>-<id>-<script> of the
share. Whatever goes wrong ends in a Failure of one line: a guest that dies or panics, one
that never answers, a script that fails.
"""

import contextlib
import os
import re
import select
import socket
import subprocess
import time

from kit.run import Failure
from seqrig import accel

GRACE = 20           # seconds past a script's own limit before the agent is given up
PANIC = re.compile(rb"Kernel panic - not syncing[^\r\n]*")


def _escape(path):
    """A path as part of a QEMU option, where a comma must be doubled."""
    return str(path).replace(",", ",,")


class Guest:
    """One virtual machine; role is 'server' or 'client'."""

    def __init__(self, role, kernel, image, share, out, link, scratch, until, **setup):
        """link is the guest's end of the wire, scratch the folder for what it writes to its
        disk, until the time at which the whole run must be over."""
        self.role, self.share, self._until = role, share, until
        self.console = out / f"{role}.console"
        self._complaints = out / f"{role}.qemu"
        self._answers, self._buffer, self._serial = {}, b"", 0
        self._scripts, self._deadlines = {}, {}
        self._channel, far = socket.socketpair()
        argv = self._argv(kernel, image, link.fileno(), far.fileno(), **setup)
        with open(self._complaints, "wb") as log:
            self._process = subprocess.Popen(
                accel.bound(argv), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=(link.fileno(), far.fileno()), start_new_session=True,
                env=dict(os.environ, TMPDIR=str(scratch)))
        far.close()
        link.close()

    def _argv(self, kernel, image, link, channel, vcpus, memory, append, modules):
        """The command line of QEMU."""
        mac = {"server": "52:54:00:00:00:01", "client": "52:54:00:00:00:02"}[self.role]
        # Every clock but the TSC costs an exit to QEMU. With several sockets the kernel does
        # not trust it, though here all CPUs read the host's.
        if modules:
            # With KASAN and the rest, the ACPI interpreter takes longer for the table of PCI
            # interrupts than it has. Every device has MSI.
            append += " acpi=noirq"
        words = (f"console=ttyS0 panic=-1 log_buf_len=4M quiet rw tsc=reliable {append} "
                 f"rig.role={self.role}")
        argv = [accel.QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                *accel.options(kernel), "-smp", f"{vcpus},sockets={vcpus}", "-m", str(memory),
                "-kernel", str(kernel), "-append", words,
                "-serial", f"file:{self.console}",
                "-drive", f"file={_escape(image)},format=raw,if=virtio,snapshot=on,"
                          "werror=report,rerror=report",
                "-netdev", f"stream,id=n0,server=off,addr.type=fd,addr.str={link}",
                "-device", f"virtio-net-pci,netdev=n0,mac={mac}",
                "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
                "-chardev", f"socket,id=rig,fd={channel}",
                "-device", "virtserialport,chardev=rig,name=rig"]
        for tag, path in (("host", self.share), ("modules", modules)):
            if path:
                argv += ["-virtfs", f"local,path={_escape(path)},mount_tag={tag},"
                                    "security_model=none,multidevs=remap"]
        return argv

    # -- the command channel ------------------------------------------------------------

    def start(self, script, limit, *args):
        """Have the guest run a script; returns the id to wait for."""
        self._serial += 1
        call = str(self._serial)
        line = " ".join([call, str(limit), script, *map(str, args)]) + "\n"
        self._scripts[call], self._deadlines[call] = script, (time.monotonic() + limit + GRACE,
                                                              limit)
        try:
            self._channel.sendall(line.encode())
        except OSError:
            self._died()
        return call

    def wait(self, call):
        """Wait for the answer to a call; Failure unless its status is 0."""
        script, (deadline, limit) = self._scripts[call], self._deadlines[call]
        what = f"{self.role}: {script}"
        status = self._await(call, deadline, f"{what} gave no answer in {limit} s")
        if status in ("124", "137"):
            raise Failure(f"{what} did not end within {limit} s ({self.log(call)})")
        if status != "0":
            raise Failure(f"{what} failed: {self._reason(call)} ({self.log(call)})")

    def call(self, script, limit, *args):
        """Run a script in the guest to its end."""
        self.wait(self.start(script, limit, *args))

    def ready(self, limit):
        """Wait until the agent has come up."""
        self._await("ready", time.monotonic() + limit, f"the {self.role} guest did not come up "
                                                       f"within {limit} s")

    def _await(self, key, deadline, complaint):
        """The answer under a key, or a Failure when the guest dies or the time is over."""
        if deadline > self._until:
            deadline, complaint = self._until, f"{complaint}: the limit of the whole run"
        while key not in self._answers:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Failure(f"{complaint} (console: {self.console})")
            # Wake up now and then: a panic that does not end QEMU shows on the console only.
            if select.select([self._channel], [], [], min(left, 2))[0]:
                self._read()
            elif self._panic() or self._process.poll() is not None:
                self._died()
        return self._answers.pop(key)

    def _read(self):
        """Take in what the agent wrote."""
        try:
            data = self._channel.recv(4096)
        except OSError:
            data = b""
        if not data:
            self._died()
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            key, _, value = line.decode(errors="replace").strip().partition(" ")
            self._answers[key] = value

    # -- causes -------------------------------------------------------------------------

    def log(self, call):
        """Where the output of a call is."""
        return self.share / "log" / f"{self.role}-{call}-{self._scripts[call]}"

    def _reason(self, call):
        """The line in which a script said why it failed."""
        try:
            lines = self.log(call).read_text(errors="replace").split("\n")
        except OSError:
            return "it left no log"
        lines = [line.strip() for line in lines if line.strip()]
        said = [line[5:] for line in lines if line.startswith("rig: ")]
        return (said or lines or ["it gave no reason"])[-1]

    def _panic(self):
        """The panic on the console, if there is one."""
        with contextlib.suppress(OSError):
            found = PANIC.search(self.console.read_bytes())
            return found and found.group().decode(errors="replace")
        return None

    def _died(self):
        """Say in one line why the guest is gone."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        cause = self._panic()
        if not cause:
            console = self.console.read_text(errors="replace") if self.console.exists() else ""
            said = re.findall(r"^rig: (.*)", console, re.M)
            complaint = self._complaints.read_text(errors="replace").strip().split("\n")[-1]
            cause = (said[-1].strip() if said else complaint
                     or f"QEMU ended with status {self._process.poll()}")
        raise Failure(f"the {self.role} guest died: {cause} (console: {self.console})")

    # -- the end ------------------------------------------------------------------------

    def power_off(self, limit=20):
        """Shut the guest down; a guest that does not obey is killed by kill()."""
        with contextlib.suppress(Failure, OSError, subprocess.TimeoutExpired):
            self._channel.sendall(b"0 5 power-off\n")
            self._process.wait(timeout=limit)

    def kill(self):
        """Make sure that nothing of this guest is left."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._channel.close()
