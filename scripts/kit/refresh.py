# SPDX-License-Identifier: GPL-2.0
"""Commits of build/linux-7.3 back into patches/ and the new files; the reverse of kit.series.

All is read and checked before the first file is written.
"""

import contextlib
import re
from dataclasses import dataclass

from kit import patch
from kit.edit import BASE, BRANCH
from kit.git import DIFF
from kit.paths import PATCHES, TOP
from kit.run import Failure
from kit.series import EDITS, NEW_FILES, RESERVED, Entry, allowed, git, read_list, write_list

HEADER = ["# SPDX-License-Identifier: GPL-2.0",
          "# The order of the patches, and the new files that enter with each."]
AUTHOR_LINE = re.compile(r"author (.*<.*>) (\d+ [+-]\d{4})")
# git am would cut the message at such a line, or read it as a header.
UNSAFE = re.compile(r"(---|diff -|Index: )")
PROLOGUE = re.compile(r"(From|Date|Subject): ")
REGULAR = {"100644", "100755"}
NAME_LENGTH = 60


@dataclass
class Touched:
    """One line of git's raw diff."""
    status: str
    mode: str
    path: str


def collect():
    """The entries that base..series makes, and mode and text of the new files at its end."""
    if git().lines("rev-list", "--min-parents=2", f"{BASE}..{BRANCH}"):
        raise Failure("there is a merge in the series: it must be one line of commits")
    if not git().holds("merge-base", "--is-ancestor", BASE, BRANCH):
        raise Failure("the series does not begin at the tag base")
    names = Names()
    entries, owner = [], {}
    for commit in git().lines("rev-list", "--reverse", f"{BASE}..{BRANCH}"):
        entry = read_commit(commit, owner)
        entry.name = names.pick(entry.patch.subject)
        entry.comments = names.comments.get(entry.name, [])
        entries.append(entry)
    return entries, {path: blob(path) for path in owner}, names


def blob(path):
    """Mode and text of a file at the end of the series."""
    mode = git().text("ls-tree", BRANCH, "--", path).split()[0]
    return mode, git().raw("cat-file", "blob", f"{BRANCH}:{path}")


def read_commit(commit, owner):
    """A commit as an entry without a name; owner maps new files to the commits they came with."""
    where = f"commit {commit[:12]}"
    head, _, message = git().raw("cat-file", "commit", commit).partition(b"\n\n")
    try:
        head, message = head.decode(), message.decode()
    except UnicodeDecodeError as err:
        raise Failure(f"{where} is not UTF-8") from err
    found = AUTHOR_LINE.search(head)
    if not found or not patch.AUTHOR.fullmatch(found[1]) or "\nencoding " in head:
        raise Failure(f"{where}: the author is not 'Name <mail>' in UTF-8")
    subject, body = split_message(message, where)
    new, edits = sort_paths(f"{where} ({subject})", commit, owner)
    diff = git().raw("diff-tree", "-r", *DIFF, f"{commit}^", commit, "--", *edits) if edits else b""
    try:
        patch.read_diff(diff)
    except ValueError as err:
        raise Failure(f"{where}: {err}") from err
    owner.update(dict.fromkeys(new, commit))
    return Entry("", new, [], patch.Patch(found[1], found[2], subject, body, diff))


def split_message(message, where):
    """Subject and body; Failure for what a mail could not carry, or what must not be lost."""
    subject, _, body = message.strip("\n").partition("\n\n")
    subject = " ".join(line.strip() for line in subject.splitlines())
    body = body.strip("\n")
    if not subject:
        raise Failure(f"{where} has no subject")
    if re.search(r"^signed-off-by:", message, re.I | re.M):
        raise Failure(f"{where} ({subject}) is signed off: whoever mails the series does that "
                      "(make series SIGNOFF=...), so take the line out")
    unsafe = [line for line in body.split("\n") if UNSAFE.match(line)]
    if PROLOGUE.match(body):
        unsafe.append(body.split("\n", maxsplit=1)[0])
    if unsafe:
        raise Failure(f"{where} ({subject}): git am would stumble on the line '{unsafe[0]}'")
    if re.search(r"[\0\r]", message):
        raise Failure(f"{where} ({subject}): the message has a carriage return or a NUL")
    return subject, body


def raw_diff(commit):
    """What a commit touches."""
    words = git().raw("diff-tree", "-r", "-z", "--raw", "--no-renames", f"{commit}^", commit).split(b"\0")
    for head, path in zip(words[0::2], words[1::2], strict=False):
        parts = head.decode().split()
        yield Touched(parts[4], parts[1], path.decode(errors="surrogateescape"))


def sort_paths(where, commit, owner):
    """The new files of a commit, and the paths that it edits; Failure for what may not be."""
    new, edits = [], []
    for item in raw_diff(commit):
        shown = item.path.encode(errors="surrogateescape").decode(errors="replace")
        places = NEW_FILES if item.status == "A" else EDITS
        if not allowed(item.path, places):
            raise Failure(f"{where}: {shown} is outside {' '.join(places)}")
        if item.status == "T" or item.status != "D" and item.mode not in REGULAR:
            raise Failure(f"{where}: {shown} is not a regular file")
        if item.status == "A" and git().holds("cat-file", "-e", f"{BASE}:{item.path}"):
            raise Failure(f"{where}: {shown} was deleted and comes back; let one commit edit it")
        if item.status == "D" and item.path in owner:
            raise Failure(f"{where}: {shown} came with commit {owner[item.path][:12]} and goes again; "
                          "take it out of that one")
        (new if item.status == "A" else edits).append(item.path)
    if not new and not edits:
        raise Failure(f"{where} changes nothing")
    return new, edits


class Names:
    """The names of patch files: kept while the subject stays, else made from the subject."""

    def __init__(self):
        file = PATCHES / "series"
        text = file.read_text() if file.exists() else "".join(line + "\n" for line in HEADER)
        self.head, self.old, self.tail = read_list(text)
        self.comments = {entry.name: entry.comments for entry in self.old}
        self.free = [(self.subject(entry.name), entry.name) for entry in self.old]
        self.used = set()

    @staticmethod
    def subject(name):
        """The subject in an existing patch file, or None."""
        with contextlib.suppress(Failure, OSError):
            return patch.read_patch((PATCHES / name).read_bytes(), name).subject
        return None

    def pick(self, subject):
        """A name for the commit with this subject."""
        for pair in self.free:
            if pair[0] == subject and pair[1] not in self.used:
                self.free.remove(pair)
                self.used.add(pair[1])
                return pair[1]
        stem = re.sub(r"[^a-z0-9]+", "-", subject.lower()).strip("-") or "patch"
        if len(stem) > NAME_LENGTH:
            stem = stem[:NAME_LENGTH].rpartition("-")[0] or stem[:NAME_LENGTH]
        taken = self.used | {name for _, name in self.free}
        name, count = stem, 1
        while f"{name}.patch" in taken or name in RESERVED:
            count += 1
            name = f"{stem}-{count}"
        self.used.add(f"{name}.patch")
        return f"{name}.patch"


def store(entries, files, names):
    """Write it all, and remove what is gone; return the paths that changed."""
    kept = {entry.name for entry in entries}
    wanted = {PATCHES / entry.name: (patch.write_patch(entry.patch), None) for entry in entries}
    wanted[PATCHES / "series"] = (write_list(names.head, entries, names.tail).encode(), None)
    wanted.update({TOP / path: (text, mode) for path, (mode, text) in files.items()})
    gone = [PATCHES / entry.name for entry in names.old if entry.name not in kept]
    gone += [TOP / path for entry in names.old for path in entry.new if path not in files]
    return [path for path in wanted if put(path, *wanted[path])] + [path for path in gone if drop(path)]


def put(path, text, mode):
    """Write a file where its text or mode differs; return whether it did."""
    same = path.is_file() and path.read_bytes() == text
    if not same:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        try:
            part.write_bytes(text)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    program = bool(path.stat().st_mode & 0o100)
    if mode and program != (mode == "100755"):
        path.chmod(0o755 if mode == "100755" else 0o644)
        return True
    return not same


def drop(path):
    """Remove a file and the folders that it leaves empty; return whether it was there."""
    if not path.is_file():
        return False
    path.unlink()
    with contextlib.suppress(OSError):
        for folder in path.parents:
            if folder in (TOP, PATCHES):
                break
            folder.rmdir()
    return True
