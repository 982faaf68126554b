# SPDX-License-Identifier: GPL-2.0
"""A toy kernel and a copy of the scripts beside it, so that the real ones run in seconds."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1]
TEXT = "".join(f"line {n}\n" for n in range(1, 41))
MAKEFILE = "VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = {}\nEXTRAVERSION =\nNAME = Toy\n"


def write(path, text, mode=0o644):
    """Write a file, folders included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def kernel(folder, sublevel=4, text=TEXT):
    """A tree that passes for a kernel."""
    write(folder / "Makefile", MAKEFILE.format(sublevel))
    write(folder / "net/sunrpc/xprt.c", text)
    write(folder / "fs/nfsd/vfs.c", TEXT)
    write(folder / "MAINTAINERS", TEXT)
    write(folder / "scripts/tool.sh", "#!/bin/sh\n", 0o755)
    write(folder / ".gitignore", "*.o\n")
    write(folder / "net/hidden.o", "kept although .gitignore names it\n")
    os.symlink("../Makefile", folder / "net/link")
    return folder


class Toy:
    """A repository in a temporary folder, with the scripts, a cache and a base of its own."""

    def __init__(self):
        self.keep = tempfile.TemporaryDirectory(prefix="seqwin-test-")
        self.root = Path(self.keep.name)
        self.top = self.root / "repo"
        self.tree = self.top / "build/linux-7.3"
        self.linux = kernel(self.root / "linux")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        for name in ("FORCE", "KERNEL_URL", "MIRROR", "SIGNOFF", "MAKEFLAGS", "GOOD", "BAD", "TEST",
                     "KUNIT", "COND", "REPO", "LIMIT"):
            self.env.pop(name, None)
        self.env.update(XDG_CACHE_HOME=str(self.root / "cache"), HOME=str(self.root),
                        LINUX=str(self.linux), GIT_AUTHOR_NAME="Jürgen Toy", GIT_AUTHOR_EMAIL="j@toy.invalid",
                        GIT_COMMITTER_NAME="Other", GIT_COMMITTER_EMAIL="o@toy.invalid",
                        PYTHONDONTWRITEBYTECODE="1", PYTHONUTF8="1")
        # What users set for themselves must not matter.
        write(self.root / ".gitconfig", "[core]\n\tautocrlf = true\n[diff]\n\tnoprefix = true\n"
              "\talgorithm = patience\n[commit]\n\tgpgsign = true\n")
        self.copy_scripts()

    def copy_scripts(self):
        """The scripts find all else from where they lie."""
        for name in ("tree", "refresh", "series", "bisect", "base.conf"):
            (self.top / "scripts").mkdir(parents=True, exist_ok=True)
            shutil.copy(SCRIPTS / name, self.top / "scripts" / name)
        shutil.copytree(SCRIPTS / "kit", self.top / "scripts/kit", ignore=shutil.ignore_patterns("__pycache__"))
        write(self.top / "patches/series", "# SPDX\n# A comment that stays.\n")
        write(self.top / "patches/cover-letter", "sunrpc: a für series\nIt does this.\n\nAnd that.\n")

    def close(self):
        """Remove it all."""
        self.keep.cleanup()

    def script(self, name, **env):
        """Run a script: (status, stdout, stderr)."""
        done = subprocess.run([self.top / "scripts" / name], env={**self.env, **env}, text=True, cwd=self.root,
                              capture_output=True, timeout=120, check=False, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr

    def git(self, *args, folder=None, **env):
        """Run the user's git in the tree."""
        done = subprocess.run(["git", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false", *args],
                              cwd=folder or self.tree, env={**self.env, **env}, text=True,
                              capture_output=True, timeout=120, check=False, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise AssertionError(f"git {args}: {done.stderr}")
        return done.stdout.strip()

    def commit(self, message, files, day=1):
        """Commit files, a dict of path -> text (None removes), in the tree."""
        for path, text in files.items():
            if text is None:
                (self.tree / path).unlink()
            else:
                write(self.tree / path, text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message, GIT_AUTHOR_DATE=f"2026-11-{day:02d}T12:00:00+0100")

    def snapshot(self):
        """All files of the repository outside build/: path -> (mode, content)."""
        found = {}
        for path in self.top.rglob("*"):
            inside = path.relative_to(self.top)
            if path.is_file() and inside.parts[0] not in ("build", "scripts"):
                found[str(inside)] = (path.stat().st_mode, path.read_bytes())
        return found
