# SPDX-License-Identifier: GPL-2.0
"""One writer at a time: a lock file that the kernel drops when its holder ends."""

import contextlib
import fcntl
import time

from kit.run import Failure, say

LIMIT = 1800
POLL = 0.2


@contextlib.contextmanager
def locked(path, limit=LIMIT):
    """Hold the lock file path; wait for another holder at most limit seconds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        begin = time.monotonic()
        waiting = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not waiting:
                    say(f"waiting for the run that holds {path}")
                waiting = True
                if time.monotonic() - begin > limit:
                    raise Failure(f"{path} is still held by another run after {limit} s") from None
                time.sleep(POLL)
        yield
