# SPDX-License-Identifier: GPL-2.0
"""Which patches of the series stand alone: a stable team may take any subset of them.

What the text of a patch cannot show stands in patches/series: '# needs other.patch' above its name.
"""

import re
import tempfile
from pathlib import Path

from kit.git import DIFF, identity
from kit.run import Failure
from kit.series import TREE, Git, git, read_series

WHO = ("gss-seqwin", "alone@gss-seqwin.invalid", "1767225600 +0000")
TESTS = ("/tests/", "/selftests/", "_kunit")


class Stack:
    """An index of its own that holds the base, on which patches are tried."""

    def __init__(self, start, scratch):
        self.start = start
        self.git = Git(TREE, GIT_INDEX_FILE=Path(scratch) / "index")

    def takes(self, patches):
        """Whether the base takes these patches, in this order."""
        self.git.raw("read-tree", self.start)
        return all(self.git.holds("apply", "--cached", "-", data=patch) for patch in patches)

    def commit(self, patches):
        """A commit of the base with these patches."""
        if not self.takes(patches):
            raise Failure("patches that stand alone do not apply together")
        tree = self.git.text("write-tree")
        who = {**identity("AUTHOR", *WHO), **identity("COMMITTER", *WHO)}
        return self.git.text("commit-tree", tree, "-p", self.start, "-m", "stands alone", env=who)


def declared():
    """Name -> the patch that patches/series says it needs."""
    entries = read_series()
    told = {entry.name: found[1] for entry in entries for line in entry.comments
            if (found := re.fullmatch(r"# needs (\S+\.patch)", line.strip()))}
    lost = set(told.values()) - {entry.name for entry in entries}
    if lost:
        raise Failure(f"patches/series says that something needs {min(lost)}, which it does not name")
    return told


def touched(commit):
    """The files that a commit changes."""
    return git().lines("diff-tree", "-r", "--no-commit-id", "--name-only", commit)


def brings_tests(paths):
    """Whether one of these files belongs to a test."""
    return any(mark in path for path in paths for mark in TESTS)


def fixes(pairs):
    """The (name, patch) of those that are not tests."""
    for name, commit in pairs:
        if not brings_tests(touched(commit)):
            yield name, git().raw("diff-tree", "-r", "--no-commit-id", *DIFF, commit)


def sort_out(start, pairs):
    """(alone, needs): the names that stand alone, and name -> the earlier patch that it goes on top of.

    Those that stand alone must also apply together from the last to the first: each patch then
    neither needs one before it nor one after it. One that does not fit in goes to needs, with None.
    """
    found = list(fixes(pairs))
    alone, needs, told = [], {}, declared()
    with tempfile.TemporaryDirectory(prefix=".alone-") as scratch:
        stack = Stack(start, scratch)
        for number, (name, patch) in enumerate(found):
            if name in told:
                needs[name] = told[name]
            elif stack.takes([patch]):
                alone.append((name, patch))
            else:
                needs[name] = next((other for other, below in reversed(found[:number])
                                    if stack.takes([below, patch])), None)
        taken = []
        for name, patch in reversed(alone):
            if stack.takes([*taken, patch]):
                taken.append(patch)
            else:
                needs[name] = None
    return [name for name, _ in alone if name not in needs], needs
