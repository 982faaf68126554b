# SPDX-License-Identifier: GPL-2.0
"""Choose the accelerator of QEMU: KVM where a guest really boots with it, TCG elsewhere."""

import os
import subprocess
import tempfile

from kit.run import Failure, say

QEMU = "qemu-system-x86_64"
TCG = ["-accel", "tcg,thread=multi", "-cpu", "max"]
KVM = ["-accel", "kvm", "-cpu", "host"]
PROBE_LIMIT = 15


def bound(argv):
    """argv as a command that the kernel kills when this program dies, however it dies."""
    return ["setpriv", "--pdeathsig", "KILL", *argv]


def _kvm_boots(kernel):
    """Boot the kernel without a root device: with working KVM it soon panics and QEMU ends."""
    with tempfile.TemporaryDirectory(prefix="rig-probe-") as folder:
        console = os.path.join(folder, "console")
        argv = bound([QEMU, "-nodefaults", "-no-user-config", "-display", "none",
                      "-no-reboot", *KVM, "-m", "512", "-kernel", str(kernel),
                      "-serial", f"file:{console}", "-append", "console=ttyS0 panic=-1"])
        try:
            subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=PROBE_LIMIT, check=True)
            with open(console, encoding="ascii", errors="replace") as file:
                return "Kernel panic" in file.read()
        except (subprocess.SubprocessError, OSError):
            return False


def _probe(kernel):
    """The options that a probe of this machine leads to."""
    try:
        os.close(os.open("/dev/kvm", os.O_RDWR))
    except OSError:
        return TCG
    if _kvm_boots(kernel):
        return KVM
    say("KVM is there but does not boot a guest: using TCG")
    return TCG


_chosen = []  # the outcome of the probe, which is made once in a run of this program


def options(kernel):
    """QEMU's accelerator options; RIG_ACCEL=kvm or tcg overrides the probe."""
    asked = os.environ.get("RIG_ACCEL")
    if asked:
        if asked not in ("kvm", "tcg"):
            raise Failure(f"RIG_ACCEL={asked}: neither kvm nor tcg")
        return KVM if asked == "kvm" else TCG
    if not _chosen:
        _chosen.append(_probe(kernel))
    return _chosen[0]
