# SPDX-License-Identifier: GPL-2.0
"""Files by address and by checksum."""

import hashlib
import shutil
import time
import urllib.error
import urllib.request

from kit.run import Failure, say

STALL = 60
LIMIT = 3600
NEWS = 15


def sha256(path):
    """The checksum of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(1 << 20):
            digest.update(data)
    return digest.hexdigest()


def keep(source, target):
    """Put a file into a cache: whole or not at all, whichever file systems are involved."""
    part = target.with_name(f".{target.name}.part")
    try:
        shutil.copyfile(source, part)
        part.rename(target)
    finally:
        part.unlink(missing_ok=True)


def download(url, target):
    """Fetch url into the file target; bounded, and progress is said."""
    begin = last = time.monotonic()
    done = 0
    try:
        with urllib.request.urlopen(url, timeout=STALL) as source, open(target, "wb") as sink:
            total = int(source.headers.get("Content-Length") or 0)
            while data := source.read(1 << 20):
                sink.write(data)
                done += len(data)
                now = time.monotonic()
                if now - begin > LIMIT:
                    raise Failure(f"{url}: not complete after {LIMIT} s")
                if now - last > NEWS:
                    last = now
                    say(f"  {done >> 20} MiB of {total >> 20 or '?'} MiB")
    except (urllib.error.URLError, TimeoutError, ValueError, ConnectionError) as err:
        raise Failure(f"{url}: {getattr(err, 'reason', err)}") from err
    if total and done != total:
        raise Failure(f"{url}: ended after {done} of {total} bytes")
