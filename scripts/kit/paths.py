# SPDX-License-Identifier: GPL-2.0
"""Where things live: the checkout, its build folder and the shared cache."""

import os
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
PATCHES = TOP / "patches"
RIG = TOP / "tools/testing/rig"


def cache(name=""):
    """The cache folder of the user, shared by clones; safe to delete at any time."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "gss-seqwin" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
