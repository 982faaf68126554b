# SPDX-License-Identifier: GPL-2.0
"""Controls: faults put back into the patched tree, and the KUnit cases that must then fail."""

import configparser
import subprocess

from . import kunit, series
from .paths import TOP
from .run import Failure, output, say, step

TABLE = TOP / "scripts/controls/kunit.conf"


def table():
    """Control name -> (how, what, sorted list of cases that must fail)."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.read(TABLE)
    found = {}
    for name in parser.sections():
        how, what = parser[name]["fault"].split(maxsplit=1)
        cases = [line.strip() for line in parser[name]["fails"].splitlines() if line.strip()]
        if how not in ("revert", "mutate") or not cases:
            raise Failure(f"{TABLE.name}: [{name}] needs 'fault = revert|mutate X' and 'fails ='")
        found[name] = (how, what, sorted(cases))
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
            put_back(src, *rows[name][:2])
        with step(f"control {', '.join(names)}"):
            cases = kunit.run_suites(src, arch)
    finally:
        series.checkout(series.resolve("patched"))
    return sorted(case for case, status in cases.items() if status not in ("PASS", "SKIP")), len(cases)


def batches(rows):
    """The names of rows in groups of which no two expect failures in one suite: they share a build."""
    groups = []
    for name, (_, _, expected) in rows.items():
        suites = {case.partition(".")[0] for case in expected}
        for members, taken in groups:
            if not taken & suites:
                members.append(name)
                taken |= suites
                break
        else:
            groups.append(([name], suites))
    return [members for members, _ in groups]


def verdict(expected, failed):
    """What is wrong with a control, or None."""
    if failed == expected:
        return None
    passed = [case for case in expected if case not in failed]
    surplus = [case for case in failed if case not in expected]
    return "; ".join(filter(None, (
        passed and f"passed with the fault in place: {', '.join(passed)}",
        surplus and f"failed beside the point: {', '.join(surplus)}")))


def check(name, arch="um"):
    """Run one control; return what is wrong with it, or None."""
    failed, number = failures([name], arch)
    wrong = verdict(table()[name][2], failed)
    if not wrong:
        say(f"  {len(failed)} of {number} cases fail, as they must")
    return wrong


def check_batch(names, arch="um"):
    """Run controls of different suites in one go; yield (name, what is wrong or None).

    When all together do not fail exactly what they expect, each runs by itself to say which.
    """
    rows = table()
    if len(names) > 1:
        try:
            failed, number = failures(names, arch)
        except Failure as err:
            say(f"  not together: {str(err).splitlines()[0]}")
        else:
            wrong = verdict(sorted(case for name in names for case in rows[name][2]), failed)
            if not wrong:
                say(f"  {len(failed)} of {number} cases fail, as they must")
                yield from ((name, None) for name in names)
                return
            say(f"  together: {wrong}")
    for name in names:
        yield name, check(name, arch)
