# SPDX-License-Identifier: GPL-2.0
"""What a reader of results has to know of the machine that made them."""

import os
import platform
import re
from pathlib import Path

from seqrig import accel


def _field(path, key):
    """The first value of a 'key : value' line in a file of /proc, or ''."""
    try:
        for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    except OSError:
        pass
    return ""


def accelerator(kernel):
    """How QEMU runs the guests, in words."""
    if "kvm" in accel.options(kernel)[1]:
        return "KVM"
    return "TCG (emulated, no hardware virtualisation): compare shapes and ratios, not speed"


def describe(kernel):
    """Cores, memory, processor, host system, and the accelerator that a kernel gets."""
    memory = _field("/proc/meminfo", "MemTotal").split()
    return {"cores": f"{os.cpu_count()} cores",
            "memory": f"{round(int(memory[0]) / 2**20)} GiB" if memory else None,
            "cpu": _field("/proc/cpuinfo", "model name") or platform.machine(),
            "host": f"{platform.system()} {platform.release()}",
            "accelerator": accelerator(kernel)}


def _accelerated(config):
    """The symbols of a kernel config that bring crypto made for the processor."""
    names = re.findall(r"^CONFIG_(CRYPTO_\w+)=[ym]$", config, re.M)
    return [name for name in names
            if re.search(r"_ARCH$|_NI_INTEL$|_(SSSE3|SSE2|AVX|AVX2|AVX_X86_64|X86_64)$", name)]


def crypto_note(rows, config):
    """One sentence on the crypto that ran: drivers that the guests named, and C or not."""
    names = sorted({name for row in rows for name in row.get("crypto") or []})
    text = ", ".join(names) or "no driver was named by the guests"
    if not config:
        return text
    fast = _accelerated(config)
    return text + (f" (with {', '.join(fast)})" if fast
                   else " (plain C: the guest kernels have no code for this processor's crypto)")
