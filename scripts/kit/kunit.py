# SPDX-License-Identifier: GPL-2.0
"""Run the KUnit suites of a source tree with the tree's own kunit.py, and read the verdicts."""

import json
import os
import re
from pathlib import Path

from .kernel import compiler_env
from .paths import BUILD, RIG
from .run import Failure, run, tail

KUNITCONFIG = "net/sunrpc/tests/.kunitconfig"
LIMIT = 40 * 60
# What a kernel for these suites can do without; it halves the build.
LEAVE_OUT = ("NFSD", "IPV6", "ETHTOOL_NETLINK", "NFS_V2", "NFS_V4", "BLOCK", "IO_URING", "AIO", "INOTIFY_USER")
LEAVE_OUT_UM = ("INPUT", "SERIO", "KUNIT_UML_PCI", "VIRTIO_UML")
# What the suites of the whole series need of the base. Every commit is built with it, so that the
# objects of one serve the next.
COMMON = ("EXPERT", "NAMESPACES", "NET_NS", "NFS_V3", "NFS_V3_ACL", "CRYPTO", "RPCSEC_GSS_KRB5", "DEBUG_KERNEL",
          "DEBUG_FS", "SUNRPC_DEBUG", "FAULT_INJECTION", "FAULT_INJECTION_DEBUG_FS", "FAIL_SUNRPC", "FAILSLAB",
          "FAIL_PAGE_ALLOC", "DEBUG_ATOMIC_SLEEP")
# A UML that need not wait: its clock jumps to the next timer when it is idle, and stands still while
# code runs.
TIME_TRAVEL = "--kernel_args=time-travel"
# kunit.py's own limit for booting and running, in seconds
TEST_LIMIT = {"um": 300, "x86_64": 900}


def arguments(arch, build_dir, report, pattern, travel=False):
    """Command line of kunit.py; travel: let time travel, where the kernel can."""
    argv = ["tools/testing/kunit/kunit.py", "run", f"--arch={arch}", f"--build_dir={build_dir}",
            f"--kunitconfig={KUNITCONFIG}", f"--jobs={(os.cpu_count() or 1) + 1}",
            f"--timeout={TEST_LIMIT[arch]}", "--make_options=CC=ccache gcc", f"--json={report}"]
    argv += [f"--kconfig_add=CONFIG_{name}=n" for name in LEAVE_OUT + (LEAVE_OUT_UM if arch == "um" else ())]
    argv += [f"--kconfig_add=CONFIG_{name}=y" for name in COMMON]
    if arch == "um":
        argv += ["--kconfig_add=CONFIG_UML_TIME_TRAVEL_SUPPORT=y"] + [TIME_TRAVEL] * travel
    if arch == "x86_64":
        # The debug kernel's checks; its modules stay built in, kunit.py loads none.
        checks = [line for line in (RIG / "config/debug.config").read_text().splitlines()
                  if line.startswith("CONFIG_") and not line.endswith("=m") and "MODULE" not in line]
        argv += [f"--kconfig_add={line}" for line in checks] + ["--qemu_args=-cpu max -smp 2"]
    return argv + ([pattern] if pattern else [])


def pattern_of(src, paths):
    """kunit.py's filter for what these files of a commit test; None: all, as they are not one suite alone."""
    parts = [path for path in paths if path.endswith((".c", ".h"))]
    if len(parts) != 1 or not parts[0].endswith("_kunit.c"):
        return None
    text = (Path(src) / parts[0]).read_text(encoding="utf-8", errors="replace")
    names = re.findall(r'struct kunit_suite \w+ = \{\s*\.name\s*= "(\w+)"', text)
    return names[0] if len(names) == 1 else None


def flatten(groups, path=()):
    """Yield (name, status) of every leaf case; names are suite.case or suite.case/parameter."""
    for group in groups:
        here = (*path, group["name"])
        yield from flatten(group.get("sub_groups", []), here)
        for case in group.get("test_cases", []):
            names = (*here, case["name"])
            yield ".".join(names[:2]) + "".join(f"/{name}" for name in names[2:]), case["status"]


def run_suites(src, arch="um", pattern=None, travel=False):
    """Build and run; return {case: status}. Failure when nothing could be run."""
    if arch not in TEST_LIMIT:
        raise Failure(f"KUNIT_ARCH={arch}: there are {', '.join(TEST_LIMIT)}")
    if not (Path(src) / KUNITCONFIG).exists():
        raise Failure(f"this tree has no {KUNITCONFIG}, thus no suite of the series")
    build_dir = BUILD / f"obj/kunit-{arch}"
    build_dir.mkdir(parents=True, exist_ok=True)
    report, log = build_dir / "report.json", BUILD / f"obj/kunit-{arch}.log"
    report.unlink(missing_ok=True)
    log.unlink(missing_ok=True)
    run(arguments(arch, build_dir, report, pattern, travel), f"kunit.py ({arch})", LIMIT,
        log=log, check=False, cwd=src, env=compiler_env())
    if not report.exists():
        raise Failure(f"kunit.py ({arch}) gave no report; {log} ends:\n{tail(log)}")
    cases = dict(flatten(json.loads(report.read_text())["sub_groups"]))
    if not cases:
        raise Failure(f"no KUnit case matches {pattern or 'the suites'}; see {log}")
    return cases
