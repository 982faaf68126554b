# SPDX-License-Identifier: GPL-2.0
"""Checks on what the series adds: checkpatch, compiler warnings, sparse and kernel-doc.

Files that the base has come with complaints of their own. Each tool therefore runs on the base
too, and only a complaint that the base does not have counts.
"""

import collections
import os
import re
import subprocess
import tempfile
from pathlib import Path

from . import selftests, series
from .kernel import check_symbols, compiler_env, configure, wanted_symbols
from .kunit import KUNITCONFIG
from .paths import BUILD, TOP
from .run import Failure, output, run, step

# No patch carries a sign-off here, MAINTAINERS has the folders of every new file, and the base
# comes without the history in which a commit id could be looked up.
CHECKPATCH_IGNORE = "MISSING_SIGN_OFF,FILE_PATH_CHANGES,UNKNOWN_COMMIT_ID"
# Tracepoints are laid out in a way of their own, which checkpatch takes for function calls.
TRACE_EVENTS = "include/trace/events/"
TRACE_IGNORE = ("PARENTHESIS_ALIGNMENT", "OPEN_ENDED_LINE")
LIMIT = 15 * 60
SPARSE = f"CHECK=sparse -include {TOP / 'scripts/sparse.h'}"
PLANTED = "\nstatic __be32 lint_control(void);\nstatic __be32 lint_control(void)\n{\n\treturn 5;\n}\n"
PLANTED_USER = "\nstatic int lint_control(int nothing)\n{\n\treturn 5;\n}\n"
USER_FLAGS = "USERCFLAGS=-Wall -Wextra -Wshadow -Wwrite-strings"
PLACE = re.compile(r"^(?:\.\./)*(?:\S*/build/src/)?(\S+?):(\d+)(?::\d+)?: *(.*)$")


def checkpatch(src, name, sha):
    """Complaints of checkpatch --strict about one commit."""
    mail = output(["git", "-C", src, "format-patch", "-1", "--stdout", sha], "git format-patch")
    done = subprocess.run([src / "scripts/checkpatch.pl", "--strict", "--terse", "--show-types", "--showfile",
                           "--ignore", CHECKPATCH_IGNORE, "-"], input=mail, cwd=src, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
    lines = [line for line in done.stdout.splitlines() if re.search(r"(ERROR|WARNING|CHECK):", line)]
    if done.returncode and not lines:
        lines = done.stdout.splitlines()[-3:]
    return [f"{name}: {line}" for line in lines
            if not (line.startswith(TRACE_EVENTS) and any(f":{kind}:" in line for kind in TRACE_IGNORE))]


def touched(src, suffix):
    """Files with the suffix that the series adds or edits, as they are at its end."""
    names = output(["git", "-C", src, "diff", "--name-only", "--diff-filter=AM",
                    series.resolve("base"), series.resolve("patched")], "git diff")
    return [name for name in names.splitlines() if name.endswith(suffix)]


def complaints(text, files):
    """Multiset of (file, message) in a tool's output, without the line numbers."""
    found = collections.Counter()
    for line in text.splitlines():
        match = PLACE.match(line)
        if match and any(match[1].endswith(name) for name in files) \
                and re.search(r"warning|error", match[3], re.I):
            found[(match[1], match[3])] += 1
    return found


def like_compiler(text):
    """Lines 'Warning: file:line what' of kernel-doc as a compiler would print them."""
    return re.sub(r"(?m)^(Warning|Error): (\S+:\d+):? +", lambda found: f"{found[2]}: {found[1].lower()}: ", text)


def kernel_doc(src, files):
    """Output of kernel-doc in its checking mode."""
    tool = src / "tools/docs/kernel-doc"
    if not tool.exists():
        tool = src / "scripts/kernel-doc"
    done = subprocess.run([tool, "-none", "-Wall", *files], cwd=src, text=True, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return like_compiler(done.stdout)


def compile_objects(src, obj, sources, log):
    """Compile the sources with W=1 and sparse; return what the compiler and sparse say."""
    log.unlink(missing_ok=True)
    targets = [name[:-2] + ".o" for name in sources]
    run(["make", "-C", src, f"O={obj}", f"-j{os.cpu_count()}", "CC=ccache gcc", "W=1", "C=2", SPARSE,
         "-k", *targets],
        "sparse and W=1", LIMIT, log=log, check=False, env=compiler_env())
    text = log.read_text(errors="replace")
    if "sparse is not available" in text:
        raise Failure(f"the kernel does not accept this sparse; see {log}")
    missing = [name for name in targets if not (obj / name).exists()]
    if missing:
        raise Failure(f"did not compile: {', '.join(missing)}; see {log}")
    return text


def observe(sha, sources, docs, new_symbols):
    """All complaints about the given files at one commit."""
    src = series.checkout(sha)
    obj = BUILD / "obj/lint"
    obj.mkdir(parents=True, exist_ok=True)
    log = BUILD / "obj/lint.log"
    configure(src, obj, "guest", log)
    if new_symbols:
        with open(obj / ".config", "a", encoding="ascii") as config:
            config.writelines(f"{name}={value}\n" for name, value in new_symbols.items())
        run(["make", "-C", src, f"O={obj}", "olddefconfig"], "olddefconfig", 300, log=log,
            env=compiler_env())
        check_symbols(obj / ".config", new_symbols)
    there = [name for name in sources if (src / name).exists()]
    for name in there:
        (obj / (name[:-2] + ".o")).unlink(missing_ok=True)
    found = complaints(compile_objects(src, obj, there, log), sources + docs)
    there = [name for name in sources + docs if (src / name).exists()]
    return found + complaints(kernel_doc(src, there), there)


def control(sources):
    """Sources in which sparse and W=1 overlook a planted fault: there should be none."""
    src, obj = series.checkout(series.resolve("patched")), BUILD / "obj/lint"
    try:
        for name in sources:
            (obj / (name[:-2] + ".o")).unlink(missing_ok=True)
            with open(src / name, "a", encoding="utf-8") as file:
                file.write(PLANTED)
        seen = complaints(compile_objects(src, obj, sources, BUILD / "obj/lint-control.log"), sources)
    finally:
        series.checkout(series.resolve("patched"))
    return [name for name in sources if sum(count for (where, what), count in seen.items() if where == name
                                            and ("restricted" in what or "different base types" in what)) == 0
            or not any(where == name and "unused" in what for where, what in seen)]


def compile_selftests(sha, plant=""):
    """(suite's sources, what the compiler says), with a fault appended to each where asked for."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        suite = selftests.export(sha, scratch)
        sources = sorted(suite.glob("*.c"))
        for path in sources if plant else []:
            path.write_text(path.read_text(encoding="utf-8") + plant, encoding="utf-8")
        log = scratch / "log"
        status = selftests.build(suite, scratch / "made", USER_FLAGS, log=log)
        said = [line for line in log.read_text(errors="replace").splitlines()
                if re.match(r"\S+?:\d+:(\d+:)? (warning|error|fatal error):", line)]
        if status and not said:
            said = ["the selftests do not link"]
        return [path.name for path in sources], said


def check_selftests():
    """Complaints of the compiler about the programs for user space, and what it overlooks."""
    sha = series.resolve("patched")
    with step("compiler warnings of the selftests"):
        found = [f"{selftests.SUITE}/{line}" for line in dict.fromkeys(compile_selftests(sha)[1])]
        sources, said = compile_selftests(sha, PLANTED_USER)
    overlooked = [name for name in sources
                  if not all(any(line.startswith(name) and what in line for line in said)
                             for what in ("lint_control", "unused parameter"))]
    return found + [f"{selftests.SUITE}/{name}: a planted fault was overlooked" for name in overlooked]


def check_series():
    """All complaints about the series, one line each."""
    commits = series.commits()
    if not commits:
        return []
    found = []
    src = series.checkout(series.resolve("patched"))
    with step(f"checkpatch --strict on {len(commits)} patches"):
        for name, sha in commits:
            found += checkpatch(src, name, sha)
    sources, headers = touched(src, ".c"), touched(src, ".h")
    # Programs for user space have comments like the kernel's, but another compiler command.
    programs = [name for name in sources if name.startswith("tools/")]
    sources = [name for name in sources if name not in programs]
    headers += programs
    if programs:
        found += check_selftests()
    with step(f"sparse, W=1 and kernel-doc on {len(sources)} sources and {len(headers)} others"):
        before = observe(series.resolve("base"), sources, headers, {})
        symbols = wanted_symbols([TOP / KUNITCONFIG])
        after = observe(series.resolve("patched"), sources, headers, symbols)
    found += [f"{where}: {what}" for where, what in (after - before).elements()]
    with step("control: a fault planted into each source"):
        found += [f"{name}: a planted fault was overlooked" for name in control(sources)]
    return found
