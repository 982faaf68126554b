# SPDX-License-Identifier: GPL-2.0
"""Programs for a guest: built when they are needed, kept in the cache by what they are made from."""

import hashlib
import re
import tempfile
from pathlib import Path

from .paths import cache
from .run import Failure, output


def key(*parts):
    """What programs are made from, with the compiler, as one word."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    digest.update(output(["gcc", "--version"], "gcc").splitlines()[0].encode())
    return digest.hexdigest()[:24]


def kept(kind, word, what, build):
    """The folder of programs with this key.

    If the cache has none, build(scratch, made, log) puts them into made, and returns make's status.
    """
    store = cache(kind)
    target = store / word
    if target.is_dir():
        return target
    with tempfile.TemporaryDirectory(dir=store) as scratch:
        scratch = Path(scratch)
        log, made = scratch / "log", scratch / "made"
        made.mkdir()
        if build(scratch, made, log):
            said = re.findall(r"(?m)^.*(?<![\w-])error\b.*$", log.read_text(errors="replace"))
            raise Failure(f"{what} do not compile: {(said or ['see make'])[0]}")
        _move(made, target)
    return target


def _move(made, target):
    """Put a finished folder in its place, unless another run was faster."""
    try:
        made.rename(target)
    except OSError:
        if not target.is_dir():
            raise
