# SPDX-License-Identifier: GPL-2.0
"""The patch files: read, written, and applied strictly, forwards or in reverse.

A patch file is a mail without a list: From, Date, Subject, the message, "---", then the
diff of the files that exist already. It is applied here and not by git, since git would
search for a hunk elsewhere in the file, and could only hint at it in its messages.
"""

import dataclasses
import email.utils
import re
from datetime import datetime, timedelta, timezone

from kit.run import Failure

AUTHOR = re.compile(r"(?P<name>[^<>\n]+) <(?P<mail>[^<>\s]+)>")
HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
# Python's parser would make a date of almost anything.
MAIL_DATE = re.compile(r"\w{3}, \d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}")
CUT = "---"


class Mismatch(Exception):
    """A hunk is not where it should be."""


@dataclasses.dataclass
class Hunk:
    """One hunk: where it begins on either side, and its lines as (tag, text)."""
    old: int
    new: int
    lines: list

    def side(self, tag):
        """The lines of the old ("-") or the new ("+") side."""
        return [text for mark, text in self.lines if mark in (b" ", tag)]


@dataclasses.dataclass
class Change:
    """What a patch does to one file; modes as git spells them, new_mode None to delete it."""
    path: str
    old_mode: bytes = None
    new_mode: bytes = None
    deleted: bool = False
    hunks: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Patch:
    """One commit: who, when ("seconds zone"), what and why, and the diff as it is stored."""
    author: str
    date: str
    subject: str
    body: str
    diff: bytes = b""

    @property
    def message(self):
        """The commit message."""
        return self.subject + "\n" + (f"\n{self.body}\n" if self.body else "")

    def changes(self):
        """The changes in the diff."""
        return read_diff(self.diff)


def mail_date(date):
    """Git's "seconds zone" as a mail has it."""
    seconds, zone = date.split()
    sign = -1 if zone[0] == "-" else 1
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:5])) * sign
    return email.utils.format_datetime(datetime.fromtimestamp(int(seconds), timezone(offset)))


def git_date(text):
    """A mail's date as git's "seconds zone"."""
    if not MAIL_DATE.fullmatch(text):
        raise ValueError("not a date")
    when = email.utils.parsedate_to_datetime(text)
    if when.tzinfo is None:
        when = when.replace(tzinfo=timezone.utc)
    minutes = int(when.utcoffset().total_seconds()) // 60
    return f"{int(when.timestamp())} {'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}{abs(minutes) % 60:02d}"


def write_patch(patch):
    """The text of a patch file."""
    head = (f"From: {patch.author}\nDate: {mail_date(patch.date)}\nSubject: {patch.subject}\n\n"
            + (f"{patch.body}\n" if patch.body else "") + f"{CUT}\n")
    return head.encode("utf-8", "surrogateescape") + patch.diff


def read_patch(data, name):
    """The patch in the text of the file name."""
    head, cut, diff = data.partition(f"\n{CUT}\n".encode())
    if not cut:
        raise Failure(f"{name}: no line '{CUT}' ends the message")
    try:
        fields, _, body = (head.decode() + "\n").partition("\n\n")
    except UnicodeDecodeError as err:
        raise Failure(f"{name}: the message is not UTF-8") from err
    found = dict(line.split(": ", 1) for line in fields.splitlines() if ": " in line)
    missing = {"From", "Date", "Subject"} - found.keys()
    if missing:
        raise Failure(f"{name}: no header {', '.join(sorted(missing))}")
    if not AUTHOR.fullmatch(found["From"]):
        raise Failure(f"{name}: From is not 'Name <mail>'")
    try:
        date = git_date(found["Date"])
    except (ValueError, TypeError) as err:
        raise Failure(f"{name}: cannot read the date '{found['Date']}'") from err
    return Patch(found["From"], date, found["Subject"], body.rstrip("\n"), diff)


def cut_lines(text):
    """The lines of a text with their ends; nothing but a line feed ends a line."""
    return re.findall(rb"[^\n]*\n|[^\n]+", text)


def read_diff(diff):
    """The changes in a git diff; ValueError for what has no place in a patch of the series."""
    changes, lines, at = [], cut_lines(diff), 0
    while at < len(lines) and not lines[at].strip():
        at += 1
    while at < len(lines):
        found = re.fullmatch(rb"diff --git a/(\S+) b/(\S+)\n", lines[at])
        if not found or found[1] != found[2]:
            raise ValueError(f"unexpected line {shown(lines[at])}")
        change = Change(found[1].decode())
        at = read_hunks(lines, read_head(lines, at + 1, change), change)
        changes.append(change)
    twice = {change.path for change in changes if [c.path for c in changes].count(change.path) > 1}
    if twice:
        raise ValueError(f"{', '.join(sorted(twice))} occurs twice")
    return changes


def shown(line):
    """A line, for a message."""
    return repr(line.decode(errors="replace").rstrip("\n"))


def read_head(lines, at, change):
    """Read the lines of git before the first hunk; return where that is."""
    while at < len(lines) and not lines[at].startswith((b"@@ ", b"diff --git ")):
        word, _, value = lines[at].rstrip(b"\n").rpartition(b" ")
        if word == b"old mode":
            change.old_mode = value
        elif word == b"new mode":
            change.new_mode = value
        elif word == b"deleted file mode":
            change.old_mode, change.deleted = value, True
        elif word == b"new file mode":
            raise ValueError(f"{change.path} is new: it belongs into the repository and patches/series")
        elif not lines[at].startswith((b"index ", b"--- ", b"+++ ")):
            raise ValueError(f"{change.path}: unexpected line {shown(lines[at])}")
        at += 1
    return at


def read_hunks(lines, at, change):
    """Read the hunks of one file; return where they end."""
    while at < len(lines) and lines[at].startswith(b"@@ "):
        found = HUNK.match(lines[at])
        if not found:
            raise ValueError(f"{change.path}: unexpected line {shown(lines[at])}")
        old, new = (int(found[n]) if found[n] else 1 for n in (2, 4))
        hunk = Hunk(start(found[1], old), start(found[3], new), [])
        at += 1
        while old > 0 or new > 0:
            if at == len(lines) or lines[at][:1] not in (b" ", b"-", b"+"):
                raise ValueError(f"{change.path}: a hunk ends early")
            mark = lines[at][:1]
            old -= mark != b"+"
            new -= mark != b"-"
            hunk.lines.append((mark, lines[at][1:]))
            at += 1
            if at < len(lines) and lines[at].startswith(b"\\ "):
                hunk.lines[-1] = (mark, hunk.lines[-1][1].removesuffix(b"\n"))
                at += 1
        if old or new:
            raise ValueError(f"{change.path}: the counts of a hunk are wrong")
        change.hunks.append(hunk)
    return at


def start(line, count):
    """How many lines precede a hunk; one without lines names the line before it."""
    return int(line) - (1 if count else 0)


def apply_change(text, change, reverse=False):
    """The text after the change, or before it; Mismatch unless each hunk is exactly there."""
    lines, out, at = cut_lines(text), [], 0
    for count, hunk in enumerate(change.hunks, 1):
        begin, other, have, give = hunk.old, hunk.new, hunk.side(b"-"), hunk.side(b"+")
        if reverse:
            begin, other, have, give = other, begin, give, have
        out += lines[at:begin]
        if begin < at or lines[begin:begin + len(have)] != have or len(out) != other:
            raise Mismatch(f"hunk {count} does not match at line {begin + 1}")
        out += give
        at = begin + len(have)
    if change.deleted and at != len(lines):
        raise Mismatch("more is left of the file than the patch deletes")
    return b"".join(out + lines[at:])
