# SPDX-License-Identifier: GPL-2.0
"""The rig's own programs for a guest: built here, static, kept by what they are made from."""

import re

from kit import programs
from kit.paths import RIG
from kit.run import run

SOURCES = RIG / "tools"
STRANGERS = ("flood", "replay")     # loads with a program of their own name beside them
LOADS = (*STRANGERS, "silent")      # loads that bring a program
LIMIT = 120


def _key():
    """What the programs are made from, as one word."""
    paths = (*sorted(SOURCES.glob("*.[ch]")), SOURCES / "Makefile")
    return programs.key(*(path.name.encode() + b"\0" + path.read_bytes() + b"\0" for path in paths))


def _build(_scratch, made, log):
    """Compile them into a folder; make's status."""
    return run(["make", "-C", SOURCES, f"OUTPUT={made}", "CC=gcc"], "the rig's programs", LIMIT,
               log=log, check=False)


def binaries():
    """The folder with the programs, built if they are not in the cache."""
    return programs.kept("tools", _key(), "the rig's programs", _build)


def needed(cond):
    """Does this condition take any of them into its guests?"""
    return cond.load in LOADS or bool(cond.slow_every)


def summary(raw):
    """{name: number} of the summary that a program left in its KTAP; empty without one."""
    path = raw / "ktap"
    text = path.read_text(errors="replace") if path.exists() else ""
    lines = re.findall(r"^# summary: (.*)$", text, re.M)
    words = re.findall(r"(\w+)=(\d+)", lines[-1]) if lines else []
    return {name: int(value) for name, value in words}
