# SPDX-License-Identifier: GPL-2.0
"""Find the first commit of a line at which a test turns bad."""

from kit.run import Failure, say

GOOD, BAD, SKIP = "good", "bad", "skip"


def first_bad(commits, judge, name):
    """The first bad one of commits, whose last is known to be bad, and all before them good.

    judge(commit) says GOOD, BAD or SKIP; a skipped commit is replaced by its neighbours.
    """
    low, high, skipped = -1, len(commits) - 1, set()
    while True:
        open_ones = [at for at in range(low + 1, high) if at not in skipped]
        if not open_ones:
            break
        at = min(open_ones, key=lambda at: abs(2 * at - low - high))
        say(f"{high - low} suspects, about {(high - low - 1).bit_length()} steps; trying {name(commits[at])}")
        verdict = judge(commits[at])
        if verdict == SKIP:
            skipped.add(at)
        elif verdict == BAD:
            high = at
        else:
            low = at
    if high - low > 1:
        suspects = ", ".join(name(commit) for commit in commits[low + 1:high + 1])
        raise Failure(f"only skipped commits are left, so it is one of {suspects}")
    return commits[high]
