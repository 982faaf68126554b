# SPDX-License-Identifier: GPL-2.0
"""Run git so that neither the user's settings nor the git version change what comes out."""

import contextlib
import os
import shutil
import subprocess

from kit.run import Failure

# Git's own pattern for C, spelled out: the function named after @@ must not
# depend on the git version, or a refresh would not be byte-identical.
FUNCTION = ("!^[ \t]*[A-Za-z_][A-Za-z_0-9]*:[[:space:]]*($|/[/*])\n"
            "^((::[[:space:]]*)?[A-Za-z_].*)$")

SETTINGS = {
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.eol": "lf",
    "core.fileMode": "true",
    "core.symlinks": "true",
    "core.fsmonitor": "false",
    "core.quotePath": "false",
    "core.attributesFile": os.devnull,
    "core.hooksPath": os.devnull,
    "core.compression": "1",
    "checkout.workers": "0",
    "commit.gpgSign": "false",
    "diff.cpp.xfuncname": FUNCTION,
    "gc.auto": "0",
    "i18n.commitEncoding": "utf-8",
    "maintenance.auto": "false",
    "safe.directory": "*",
}

LITTLE = 1 << 20

# Plumbing output that is the same everywhere, to be stored in patches/.
DIFF = ("--patch", "--full-index", "--no-renames", "--no-color", "--no-ext-diff",
        "--no-textconv", "--unified=3", "--diff-algorithm=myers", "--indent-heuristic",
        "--src-prefix=a/", "--dst-prefix=b/")


def environment(**more):
    """The environment for git: nothing of the user's GIT_*, no system or user settings."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env.update(LC_ALL="C", GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.devnull,
               GIT_ATTR_NOSYSTEM="1", GIT_TERMINAL_PROMPT="0", GIT_LITERAL_PATHSPECS="1")
    env.update({name: str(value) for name, value in more.items()})
    return env


def identity(role, name, mail, date):
    """The variables that name an author or a committer."""
    return {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": mail, f"GIT_{role}_DATE": date}


class Git:
    """A git folder, and where asked a work tree and an index of its own."""

    def __init__(self, folder, **env):
        self.folder = folder
        self.env = env

    def argv(self, *args):
        """The command line for args."""
        settings = [word for pair in SETTINGS.items() for word in ("-c", "=".join(pair))]
        return ["git", *settings, *map(str, args)]

    def popen(self, *args, env=None, **more):
        """Start git, for those who stream."""
        more.setdefault("cwd", self.folder)
        env = environment(**{**self.env, **(env or {})})
        try:
            return subprocess.Popen(self.argv(*args), env=env, **more)
        except OSError as err:
            raise Failure(f"cannot run git in {self.folder}: {err.strerror}") from err

    def run(self, *args, data=b"", limit=300, env=None):
        """Run git on data: (exit status, stdout, its complaint)."""
        child = self.popen(*args, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
        with child:
            try:
                out, complaint = child.communicate(data, timeout=limit)
            except BaseException as err:
                child.kill()
                if isinstance(err, subprocess.TimeoutExpired):
                    raise Failure(f"git {args[0]}: no end after {limit} s, killed") from None
                raise
        lines = complaint.decode(errors="replace").strip().splitlines()
        cause = next((line for line in lines if line.startswith(("fatal:", "error:"))),
                     lines[-1] if lines else "no message")
        return child.returncode, out, cause

    def raw(self, *args, **more):
        """What git prints, as bytes; Failure where it complains."""
        status, out, complaint = self.run(*args, **more)
        if status:
            raise Failure(f"git {args[0]}: {complaint}{self.full()}")
        return out

    def full(self):
        """A remark for messages of git, which seldom says why it could not write."""
        with contextlib.suppress(OSError):
            if shutil.disk_usage(self.folder).free < LITTLE:
                return f" (the disk with {self.folder} is full)"
        return ""

    def text(self, *args, **more):
        """What git prints, as text without the last newline."""
        return self.raw(*args, **more).decode(errors="surrogateescape").rstrip("\n")

    def lines(self, *args, **more):
        """What git prints, line by line."""
        return self.text(*args, **more).splitlines()

    def holds(self, *args, **more):
        """Whether git succeeds, for the commands that are questions."""
        return self.run(*args, **more)[0] == 0

    def commit(self, name):
        """The commit id that name stands for, or None."""
        status, out, _ = self.run("rev-parse", "--verify", "--quiet", "--end-of-options",
                                  f"{name}^{{commit}}")
        return None if status else out.decode().strip()
