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


def check(name, arch="um"):
    """Run one control; return what is wrong with it, or None."""
    how, what, expected = table()[name]
    src = series.checkout(series.resolve("patched"))
    put_back(src, how, what)
    try:
        with step(f"control {name}: {how} {what}"):
            cases = kunit.run_suites(src, arch)
    finally:
        series.checkout(series.resolve("patched"))
    failed = sorted(case for case, status in cases.items() if status not in ("PASS", "SKIP"))
    if failed == expected:
        say(f"  {len(failed)} of {len(cases)} cases fail, as they must")
        return None
    passed = [case for case in expected if case not in failed]
    surplus = [case for case in failed if case not in expected]
    return "; ".join(filter(None, (
        passed and f"passed with the fault in place: {', '.join(passed)}",
        surplus and f"failed beside the point: {', '.join(surplus)}")))
