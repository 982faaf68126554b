# SPDX-License-Identifier: GPL-2.0
"""The rig's own programs for a guest: built here, static, kept by what they are made from."""

import hashlib
import re
import tempfile
from pathlib import Path

from kit.paths import RIG, cache
from kit.run import Failure, output, run

SOURCES = RIG / "tools"
LOADS = ("flood", "replay")     # loads that bring a program of their own name
LIMIT = 120


def _key():
    """What the programs are made from, as one word."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.glob("*.[ch]")) + [SOURCES / "Makefile"]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    digest.update(output(["gcc", "--version"], "gcc").splitlines()[0].encode())
    return digest.hexdigest()[:24]


def binaries():
    """The folder with the programs, built if they are not in the cache."""
    store = cache("tools")
    target = store / _key()
    if target.is_dir():
        return target
    with tempfile.TemporaryDirectory(dir=store) as scratch:
        log, made = Path(scratch) / "log", Path(scratch) / "made"
        made.mkdir()
        status = run(["make", "-C", SOURCES, f"OUTPUT={made}", "CC=gcc"], "the rig's programs", LIMIT,
                     log=log, check=False)
        if status:
            said = [line for line in log.read_text(errors="replace").splitlines() if " error: " in line]
            raise Failure(f"the rig's programs do not compile: {(said or ['see make'])[0]}")
        _move(made, target)
    return target


def _move(made, target):
    """Put a finished folder in its place, unless another run was faster."""
    try:
        made.rename(target)
    except OSError:
        if not target.is_dir():
            raise


def summary(raw):
    """{name: number} of the summary that a program left in its KTAP; empty without one."""
    path = raw / "ktap"
    text = path.read_text(errors="replace") if path.exists() else ""
    lines = re.findall(r"^# summary: (.*)$", text, re.M)
    words = re.findall(r"(\w+)=(\d+)", lines[-1]) if lines else []
    return {name: int(value) for name, value in words}
