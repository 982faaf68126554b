# SPDX-License-Identifier: GPL-2.0
"""The series as mails for git am and git send-email, and the proof that they apply."""

import email.header
import os
import re
import shutil
import tempfile
from pathlib import Path

from kit.git import Git, identity
from kit.paths import BUILD, PATCHES
from kit.patch import AUTHOR
from kit.run import Failure
from kit.series import TREE, git

FIELDS = "--format=%T%x00%an%x00%ae%x00%ad%x00%s"


def cover_letter():
    """Subject and body of the cover letter."""
    path = PATCHES / "cover-letter"
    if not path.exists():
        raise Failure("there is no patches/cover-letter")
    subject, _, body = path.read_text().partition("\n")
    if not subject.strip() or not body.strip():
        raise Failure("patches/cover-letter needs a subject in the first line, and a text")
    return subject.strip(), body.strip("\n")


def signer():
    """The (name, mail) of SIGNOFF=, or None."""
    text = os.environ.get("SIGNOFF", "")
    if not text:
        return None
    found = AUTHOR.fullmatch(text)
    if not found:
        raise Failure(f"SIGNOFF='{text}' is not 'Name <mail>'")
    return found["name"], found["mail"]


def format_series(start, tip, folder):
    """Write base..tip as mails with a cover letter into folder; return their paths."""
    sign = signer()
    last = git().text("log", "-1", "--format=%an%n%ae%n%ad", "--date=raw", tip).split("\n")
    env = identity("COMMITTER", *(sign or last[:2]), last[2])
    subject, body = cover_letter()
    git().raw("format-patch", "--quiet", "--cover-letter", "--no-signature", "--no-thread",
              "--no-renames", "--output-directory", folder, *(["--signoff"] if sign else []),
              f"{start}..{tip}", env=env)
    files = sorted(folder.glob("*.patch"))
    fill_cover(files[0], subject, body)
    return files


def fill_cover(path, subject, body):
    """Put subject and text where git left room for them."""
    text = path.read_text()
    head, _, rest = text.partition("\n\n")
    if not (subject + body).isascii() and "Content-Type:" not in head:
        head += ("\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8"
                 "\nContent-Transfer-Encoding: 8bit")
    shown = subject if subject.isascii() else email.header.Header(subject, "utf-8").encode()
    head = head.replace("*** SUBJECT HERE ***", shown)
    path.write_text(f"{head}\n\n{rest.replace('*** BLURB HERE ***', body)}")


def prove(start, tip, files):
    """Apply the mails with git am to a pristine base of their own, and compare every commit.

    The proof has its own repository, which only reads the objects of build/linux-7.3. Its
    index is the whole base, so git am writes just the files that it touches.
    """
    with tempfile.TemporaryDirectory(prefix=".am-", dir=BUILD) as scratch:
        proof = Git(Path(scratch))
        proof.raw("init", "--quiet", "--template=")
        (proof.folder / ".git/objects/info").mkdir(exist_ok=True)
        (proof.folder / ".git/objects/info/alternates").write_text(f"{TREE.resolve()}/.git/objects\n")
        proof.raw("update-ref", "HEAD", start)
        proof.raw("read-tree", start)
        who = identity("COMMITTER", "proof", "proof@gss-seqwin.invalid", "1767225600 +0000")
        status, out, complaint = proof.run("am", "--quiet", *files, env=who, limit=600)
        if status:
            told = re.findall(r"^(?:Patch failed|error).*", out.decode(errors="replace"), re.M)
            raise Failure(f"git am does not take the series: {(told or [complaint])[0]}")
        got, want = (proof.lines("log", "--date=raw", "--reverse", FIELDS, f"{start}..{end}")
                     for end in ("HEAD", tip))
        for mine, theirs in zip(want, got, strict=False):
            if mine != theirs:
                raise Failure(f"git am makes another commit of '{mine.split(chr(0))[-1]}'")
        if len(got) != len(want):
            raise Failure(f"git am makes {len(got)} commits out of {len(want)}")


def replace(folder, files):
    """Let the mails be all that folder holds; return their new paths."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return [Path(shutil.move(file, folder / file.name)) for file in files]
