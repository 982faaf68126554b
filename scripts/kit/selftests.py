# SPDX-License-Identifier: GPL-2.0
"""The series' selftests, built from its last commit: static programs that run in any guest.

Only the few files that they need are taken out of the tree, so this neither waits for a
kernel build nor disturbs one. The programs are kept in the cache by what they were made from.
"""

import io
import tarfile
from pathlib import Path

from . import programs, series
from .run import Failure, run

FOLDER = "tools/testing/selftests"
SUITE = f"{FOLDER}/sunrpc"
NEEDED = (SUITE, f"{FOLDER}/lib.mk", f"{FOLDER}/kselftest.h", f"{FOLDER}/kselftest_harness.h")
LIMIT = 120


def export(sha, folder):
    """Put what the suite is built from into a folder; the path of the suite there."""
    if not series.git().holds("cat-file", "-e", f"{sha}:{SUITE}/Makefile"):
        raise Failure(f"the commit {sha[:12]} has no {SUITE}")
    data = series.git().raw("archive", "--format=tar", sha, "--", *NEEDED)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(folder)
    return Path(folder) / SUITE


def build(suite, target, *flags, log=None):
    """Build an exported suite into the folder target; what the compiler said goes to log."""
    target.mkdir(parents=True, exist_ok=True)
    return run(["make", "-C", suite, f"OUTPUT={target}", "-k", *flags], "selftests", LIMIT, log=log,
               check=log is None)


def key(sha):
    """What the programs are made from, as one word."""
    return programs.key(series.git().text("ls-tree", sha, "--", *NEEDED).encode())


def binaries():
    """The folder with the programs of the whole series, built if they are not in the cache."""
    sha = series.resolve("patched")
    return programs.kept("selftests", key(sha), "the selftests", lambda scratch, made, log: build(
        export(sha, scratch / "tree"), made, "USERLDFLAGS=-static", log=log))
