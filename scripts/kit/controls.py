# SPDX-License-Identifier: GPL-2.0
"""Controls: faults put back into the patched tree, and the KUnit cases that must then fail."""

import configparser
import subprocess
from typing import NamedTuple

from . import kunit, series
from .paths import TOP
from .run import Failure, output, say, step

TABLE = TOP / "scripts/controls/kunit.conf"

class Control(NamedTuple):
    """A section of the table."""

    how: str        # revert or mutate
    what: str       # the patch
    fails: list     # cases that must fail
    may: list       # cases that may, as threads happen to meet
    clock: str = "travel"   # nobody waits for the many Calls that never end; real: cases measure time

    def suites(self):
        """The suites in which cases may fail."""
        return {case.partition(".")[0] for case in (*self.fails, *self.may)}


def listed(section, key):
    """The cases of a key, a line each."""
    return sorted(line.strip() for line in section.get(key, "").splitlines() if line.strip())


def table():
    """Name -> Control."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.read(TABLE)
    found = {}
    for name in parser.sections():
        how, what = parser[name]["fault"].split(maxsplit=1)
        cases = listed(parser[name], "fails")
        clock = parser[name].get("clock", "travel")
        if how not in ("revert", "mutate") or not cases or clock not in ("travel", "real"):
            raise Failure(f"{TABLE.name}: [{name}] needs 'fault = revert|mutate X' and 'fails =', "
                          "and takes 'clock = real'")
        found[name] = Control(how, what, cases, listed(parser[name], "may"), clock)
    return found


def put_back(src, how, what):
    """Re-create the fault in the work tree src."""
    if how == "revert":
        patch = output(["git", "-C", src, "show", "--format=", "--full-index", series.resolve(what)], "git show")
        argv = ["git", "-C", src, "apply", "-R", "-"]
    else:
        patch = (TABLE.parent / what).read_text()
        argv = ["git", "-C", src, "apply", "-"]
    done = subprocess.run(argv, input=patch, text=True, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise Failure(f"cannot {how} {what}: {done.stderr.strip().splitlines()[0]}")


def failures(names, arch):
    """(cases that fail with these controls' faults in place, number of cases)."""
    rows = table()
    src = series.checkout(series.resolve("patched"))
    try:
        for name in names:
            put_back(src, rows[name].how, rows[name].what)
        with step(f"control {', '.join(names)}"):
            cases = kunit.run_suites(src, arch, travel=rows[names[0]].clock == "travel")
    finally:
        series.checkout(series.resolve("patched"))
    return sorted(case for case, status in cases.items() if status not in ("PASS", "SKIP")), len(cases)


def batches(rows):
    """The names of rows in groups that share a build: one clock, no two expect failures in one suite."""
    groups = []
    for name, row in rows.items():
        suites = row.suites()
        for members, taken in groups:
            if not taken & suites and rows[members[0]].clock == row.clock:
                members.append(name)
                taken |= suites
                break
        else:
            groups.append(([name], suites))
    return [members for members, _ in groups]


def verdict(row, failed):
    """What is wrong with a control, or None."""
    passed = [case for case in row.fails if case not in failed]
    surplus = [case for case in failed if case not in row.fails and case not in row.may]
    return "; ".join(filter(None, (
        passed and f"passed with the fault in place: {', '.join(passed)}",
        surplus and f"failed beside the point: {', '.join(surplus)}"))) or None


def check(name, arch="um"):
    """Run one control; return what is wrong with it, or None."""
    failed, number = failures([name], arch)
    wrong = verdict(table()[name], failed)
    if not wrong:
        say(f"  {len(failed)} of {number} cases fail, as they must")
    return wrong


def check_batch(names, arch="um"):
    """Run controls of different suites in one go; yield (name, what is wrong or None).

    Those whose suites do not fail exactly as they say run once more by themselves; all of them when
    another suite fails, which nobody accounts for.
    """
    rows, settled = table(), set()
    if len(names) > 1:
        try:
            failed, number = failures(names, arch)
        except Failure as err:
            say(f"  not together: {str(err).splitlines()[0]}")
        else:
            settled = agreed({name: rows[name] for name in names}, failed)
            say(f"  {len(failed)} of {number} cases fail, {len(settled)} of {len(names)} controls are as they must be")
    for name in names:
        yield name, None if name in settled else check(name, arch)


def agreed(rows, failed):
    """The names of the rows that these failures settle."""
    owned = set().union(*(row.suites() for row in rows.values()))
    if any(case.partition(".")[0] not in owned for case in failed):
        return set()
    return {name for name, row in rows.items()
            if not verdict(row, [case for case in failed if case.partition(".")[0] in row.suites()])}
