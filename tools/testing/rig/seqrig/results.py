# SPDX-License-Identifier: GPL-2.0
"""The folder of one run: summary.json with its rows, and the artifacts of every condition.

summary.json is rewritten whole, through a temporary file, after every row: whoever
interrupts a run keeps the rows it had.
"""

import contextlib
import datetime
import errno
import json
import os
from pathlib import Path

from kit.paths import BUILD
from kit.run import Failure
from seqrig import throttle, window

RESULTS = BUILD / "results"
SMALL = 256 * 1024      # bytes; files of a passed condition up to this size are kept

FIELDS = (
    "base_version", "client", "server", "vers", "sec", "enctype", "transport", "nconnect", "load",
    "seconds", "rpcs", "seqno_low", "seqno_seen", "bad_mic", "bad_seqno", "closes", "reconnects",
    "retrans", "errors", "iops_read", "iops_write", "mbps", "p50_us", "p99_us", "p9999_us",
    "file_sync", "upcalls", "warnings", "verdict", "crypto", "proto", "rdma", "cause",
    "artifacts", "latency", "condition", *window.FIELDS,
    *throttle.FIELDS,
)


@contextlib.contextmanager
def disk(what):
    """Name a full disk in one line instead of a traceback."""
    try:
        yield
    except OSError as err:
        if err.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Failure(f"{what}: no space left on the disk that holds {RESULTS}") from err
        raise


def write_atomic(path, text):
    """Replace a file so that a reader, or a full disk, never sees half of it."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(scratch, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


def load(folder):
    """The summary of a results folder, or a Failure that names what is wrong with it."""
    path = Path(folder) / "summary.json"
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise Failure(f"no results in {folder}: {err.strerror}") from err
    except ValueError as err:
        raise Failure(f"{path} is not JSON: {err}") from err
    if not isinstance(summary, dict) or not isinstance(summary.get("rows"), list):
        raise Failure(f"{path} has no rows")
    return summary


def find(name=""):
    """A results folder by path or by name under build/results; the newest when no name."""
    for folder in (Path(name or "-"), RESULTS / (name or "latest")):
        if (folder / "summary.json").is_file():
            return folder.resolve()
    raise Failure(f"no results '{name}' under {RESULTS}" if name else "no results yet: make run")


class Run:
    """One run: build/results/<UTC time>-<what>/."""

    def __init__(self, what, meta, root=None):
        now = datetime.datetime.now(datetime.timezone.utc)
        self.root = Path(root or RESULTS)
        self.summary = {"meta": {"what": what, "started": now.isoformat(timespec="seconds"),
                                 **meta}, "rows": []}
        with disk("results"):
            self.folder = self._make(f"{now:%Y%m%dT%H%M%SZ}-{what}")
            self.save()
            self._point_latest()

    def _make(self, name):
        """A new folder; two runs in one second get a suffix."""
        for suffix in ("", *(f".{count}" for count in range(2, 100))):
            folder = self.root / (name + suffix)
            try:
                folder.mkdir(parents=True)
                return folder
            except FileExistsError:
                continue
        raise Failure(f"cannot make a folder {name} under {self.root}")

    def _point_latest(self):
        scratch = self.root / f".latest.{os.getpid()}"
        scratch.unlink(missing_ok=True)
        scratch.symlink_to(self.folder.name)
        os.replace(scratch, self.root / "latest")

    @property
    def rows(self):
        """The rows so far."""
        return self.summary["rows"]

    @property
    def meta(self):
        """What holds for the whole run."""
        return self.summary["meta"]

    def save(self):
        """Rewrite summary.json."""
        with disk("summary.json"):
            write_atomic(self.folder / "summary.json",
                         json.dumps(self.summary, indent=1, default=str) + "\n")

    def artifacts(self, condition, pairing, repeat):
        """An empty folder for one execution: <condition>/<client>-<server>[.<repeat>]."""
        name = pairing.replace("/", "-") + (f".{repeat}" if repeat > 1 else "")
        folder = self.folder / condition / name
        with disk(f"artifacts of {condition}"):
            folder.mkdir(parents=True)
        return folder

    def add(self, row, out):
        """Append a row whose artifacts lie in out, and save; returns its index."""
        row = {**dict.fromkeys(FIELDS), **row}
        row["artifacts"] = str(out.relative_to(self.folder))
        if row["latency"]:
            row["latency"] = self._relative(row["latency"], out)
        if row["verdict"] == "pass":
            prune(out)
        self.rows.append(row)
        self.save()
        return len(self.rows) - 1

    def _relative(self, name, out):
        """The path of a file as seen from the run's folder, wherever it was seen from."""
        for base in (out, self.folder):
            if (base / name).is_file():
                return str((base / name).resolve().relative_to(self.folder.resolve()))
        return None

    def finish(self):
        """Mark the run as complete."""
        now = datetime.datetime.now(datetime.timezone.utc)
        self.meta["ended"] = now.isoformat(timespec="seconds")
        self.save()


def prune(folder):
    """Drop the big files of a condition that passed; those of a failed one are kept."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and path.stat().st_size > SMALL:
            path.unlink()
