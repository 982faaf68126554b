# SPDX-License-Identifier: GPL-2.0
"""Run commands with a limit, show progress, and fail with one line that names the cause."""

import contextlib
import os
import signal
import subprocess
import sys
import time

STARTED = time.monotonic()


class Failure(Exception):
    """A cause that the user can act on, in one line."""


def clock():
    """Elapsed time since the start of this program, as m:ss."""
    seconds = int(time.monotonic() - STARTED)
    return f"{seconds // 60}:{seconds % 60:02d}"


def say(text):
    """Progress goes to stderr, so that stdout can carry results (KTAP, tables)."""
    print(f"[{clock()}] {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def step(name):
    """Announce a piece of work and how long it took."""
    say(f"{name} ...")
    begin = time.monotonic()
    yield
    say(f"{name}: done in {time.monotonic() - begin:.0f} s")


def tail(path, lines=15):
    """The last lines of a file, indented, for an error message."""
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 16384))
            text = file.read().decode(errors="replace")
    except OSError as err:
        return f"  ({err})"
    return "\n".join("  " + line for line in text.splitlines()[-lines:])


def run(argv, what, limit, log=None, heartbeat=30, check=True, **popen):
    """Run argv, at most limit seconds, output to the file log; return its exit status.

    Raises Failure that names what was run when it fails (unless check is False) or
    when the limit is hit; the whole process group is killed then.
    """
    argv = [str(word) for word in argv]
    sink = open(log, "ab") if log else subprocess.DEVNULL
    try:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=sink,
                                 stderr=subprocess.STDOUT, start_new_session=True, **popen)
    except OSError as err:
        raise Failure(f"{what}: cannot run {argv[0]}: {err.strerror}") from err
    finally:
        if log:
            sink.close()
    begin = time.monotonic()
    try:
        while True:
            left = limit - (time.monotonic() - begin)
            try:
                status = child.wait(timeout=max(0.1, min(heartbeat, left)))
                break
            except subprocess.TimeoutExpired:
                spent = time.monotonic() - begin
                if spent >= limit:
                    raise Failure(f"{what}: no end after {limit} s, killed"
                                  + (f"; the log {log} ends:\n{tail(log)}" if log else "")) from None
                say(f"  {what}: {spent:.0f} s (limit {limit} s)")
    finally:
        if child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    if status and check:
        raise Failure(f"{what}: exit status {status}"
                      + (f"; the log {log} ends:\n{tail(log)}" if log else ""))
    return status


def output(argv, what, limit=60, **popen):
    """Run argv and return what it prints; Failure carries its last line of complaint."""
    argv = [str(word) for word in argv]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=limit, text=True,
                              errors="surrogateescape", check=False, **popen)
    except OSError as err:
        raise Failure(f"{what}: cannot run {argv[0]}: {err.strerror}") from err
    except subprocess.TimeoutExpired as err:
        raise Failure(f"{what}: no end after {limit} s, killed") from err
    if done.returncode:
        complaint = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise Failure(f"{what}: {complaint[-1]} (exit status {done.returncode})")
    return done.stdout


def main(function):
    """Call function(argv); turn a Failure, a full disk or ^C into one line and an exit status.

    SIGTERM and SIGHUP unwind the program too, so that nothing is left behind.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    try:
        status = function(sys.argv[1:])
    except Failure as err:
        print(f"{os.path.basename(sys.argv[0])}: {err}", file=sys.stderr)
        status = 1
    except OSError as err:
        print(f"{os.path.basename(sys.argv[0])}: {err.strerror}: {err.filename}", file=sys.stderr)
        status = 1
    except KeyboardInterrupt:
        print(f"{os.path.basename(sys.argv[0])}: interrupted", file=sys.stderr)
        status = 130
    sys.exit(status or 0)
