# SPDX-License-Identifier: GPL-2.0
"""build/linux-7.3 as a place to work: branch `series`, and what must not be lost there."""

import os
import time

from kit import base
from kit.git import identity
from kit.run import Failure, say, step
from kit.series import REFS, TREE, fingerprint, git, read_series

BRANCH = "refs/heads/series"
BASE = "refs/tags/base"
# The tip as `make tree` or `make refresh` left it: all up to there is in patches/.
MARK = f"{REFS}/tree"
SAVED = f"{REFS}/saved"

UNDER_WAY = {"rebase-merge": "a rebase", "rebase-apply": "a rebase or git am", "MERGE_HEAD": "a merge",
             "CHERRY_PICK_HEAD": "a cherry-pick", "REVERT_HEAD": "a revert"}


def forced():
    """Whether the user asked to go on regardless."""
    return os.environ.get("FORCE", "") not in ("", "0", "n", "no")


def laid():
    """Whether the work tree was ever laid out."""
    return bool(git().commit(BRANCH) and git().commit(MARK))


def under_way():
    """The operation that git is in the middle of, or None."""
    return next((what for name, what in UNDER_WAY.items() if (TREE / ".git" / name).exists()), None)


def uncommitted():
    """The paths with edits that are in no commit."""
    rows = git().raw("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    return [row[3:].decode(errors="replace") for row in rows.split(b"\0") if row]


def obstacles():
    """What a new layout would lose, as text for the user, or None."""
    if not laid():
        return None
    edits = uncommitted()
    if under_way():
        return f"{under_way()} under way"
    if edits:
        return f"uncommitted edits ({edits[0]}{' and more' if len(edits) > 1 else ''})"
    known = git().commit(MARK)
    for name in (BRANCH, "HEAD"):
        if not git().holds("merge-base", "--is-ancestor", name, known):
            return "commits that were not refreshed"
    if git().commit(BRANCH) != known:
        return "a series that was cut short and not refreshed"
    return None


def save():
    """Keep the tips and the uncommitted edits under refs/seqwin/saved/."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    kept = {"": git().commit(BRANCH), "-head": git().commit("HEAD")}
    who = ("gss-seqwin", "saved@gss-seqwin.invalid", f"{int(time.time())} +0000")
    kept["-edits"] = git().text("stash", "create",
                                env={**identity("AUTHOR", *who), **identity("COMMITTER", *who)})
    if kept["-head"] == kept[""]:
        del kept["-head"]
    for suffix, commit in kept.items():
        if commit:
            git().raw("update-ref", f"{SAVED}/{stamp}{suffix}", commit)
            say(f"kept {SAVED}/{stamp}{suffix}")


def lay(start, tip, force):
    """Put the series, base start and last commit tip, into the work tree."""
    why = obstacles()
    if why and not force:
        raise Failure(f"{TREE} has {why}: make refresh takes commits over, FORCE=1 discards "
                      f"(the old tip stays under {SAVED}/)")
    if why:
        save()
        for tool in ("rebase", "am", "cherry-pick", "revert"):
            git().run(tool, "--quit")
    with step(f"laying out {TREE}"):
        git().raw("checkout", "--quiet", "--force", "-B", "series", tip, limit=900)
    settle(start, tip)


def settle(start, tip):
    """Note that all up to tip is in this repository."""
    git().raw("update-ref", BASE, start)
    git().raw("update-ref", MARK, tip)
    base.note(git(), tree=fingerprint(read_series()))


def changed_here():
    """Whether patches/ or the new files changed since the tree was laid out or refreshed."""
    try:
        return base.notes(git()).get("tree") != fingerprint(read_series())
    except Failure as err:
        say(str(err))
        return True
