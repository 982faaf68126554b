# SPDX-License-Identifier: GPL-2.0
"""Turn a kernel source into one git commit whose id depends on its content alone.

The files are streamed into `git fast-import`, which makes one pack without a work tree;
.gitignore has no say there. Level 1 of zlib was measured: level 0 is no quicker (the time
goes into SHA-1) and its pack is four times as large. The pack of a fetched source is kept
in the cache under the checksum of that source, with checksums of its own; it is linked
into a repository, never borrowed by alternates, so the cache may go at any time.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from kit import archive
from kit.fetch import sha256
from kit.git import Git, identity
from kit.paths import BUILD, cache
from kit.run import Failure, say

LIMIT = 900
NEWS = 10
WHO = ("gss-seqwin base", "base@gss-seqwin.invalid", "1767225600 +0000")
PACK_PARTS = (".pack", ".idx")


def load(git, source, what):
    """Bring the files of source into git; return (commit id, kernel version)."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".import-", dir=BUILD) as scratch:
        tree, pack = pack_source(source, Path(scratch), what)
        install(git, pack)
        return commit(git, tree)


def load_kept(git, key, source, what):
    """The same for a source with the checksum key, through the cache; source is called if needed."""
    folder = cache("base") / key
    manifest = verified(folder)
    if manifest:
        say(f"{what}: from the cache")
        install(git, folder / manifest["pack"])
        with contextlib.suppress(Failure):
            return commit(git, manifest["tree"])
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".import-", dir=BUILD) as scratch:
        tree, pack = pack_source(source(), Path(scratch), what)
        install(git, pack)
        done = commit(git, tree)
        remember(folder, tree, pack)
    return done


def verified(folder):
    """The manifest of a pack in the cache, or None where anything about it is wrong."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
        pack = folder / manifest["pack"]
        for suffix in PACK_PARTS:
            if sha256(pack.with_suffix(suffix)) != manifest[suffix]:
                say(f"{folder} is damaged, so it is made again")
                return None
        return manifest
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remember(folder, tree, pack):
    """Keep a pack in the cache; a cache that cannot be written is no reason to fail."""
    try:
        with tempfile.TemporaryDirectory(prefix=".part-", dir=folder.parent) as scratch:
            new = Path(scratch) / "new"
            new.mkdir()
            manifest = {"tree": tree, "pack": pack.name}
            for suffix in PACK_PARTS:
                link(pack.with_suffix(suffix), new / pack.with_suffix(suffix).name)
                manifest[suffix] = sha256(pack.with_suffix(suffix))
            (new / "manifest.json").write_text(json.dumps(manifest) + "\n")
            new.rename(folder)
    except (OSError, Failure) as err:
        say(f"the base is not kept in the cache: {err}")


def link(old, new):
    """A second name for a file, or a copy where that cannot be."""
    try:
        os.link(old, new)
    except OSError:
        try:
            shutil.copyfile(old, new)
        except OSError as err:
            raise Failure(f"{new}: {err.strerror}") from err


def install(git, pack):
    """Add a pack to a repository; its index last, for it is what makes git look."""
    folder = git.folder / ".git/objects/pack"
    folder.mkdir(parents=True, exist_ok=True)
    for suffix in PACK_PARTS:
        target = folder / pack.with_suffix(suffix).name
        part = target.with_suffix(".part")
        part.unlink(missing_ok=True)
        try:
            link(pack.with_suffix(suffix), part)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


def commit(git, tree):
    """Commit a tree the same way whenever it is done; return (commit id, kernel version)."""
    version = kernel_version(git, tree)
    env = {**identity("AUTHOR", *WHO), **identity("COMMITTER", *WHO)}
    return git.text("commit-tree", "-m", f"Linux {version}", tree, env=env), version


def kernel_version(git, tree):
    """The version in the top Makefile of a tree; Failure where it is no kernel."""
    status, text, _ = git.run("cat-file", "blob", f"{tree}:Makefile")
    found = dict(re.findall(rb"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *= *(\S*)", text, re.M))
    if status or not {b"VERSION", b"PATCHLEVEL"} <= found.keys():
        raise Failure("this is no kernel tree: its Makefile names no VERSION")
    numbers = [found.get(name, b"") for name in (b"VERSION", b"PATCHLEVEL", b"SUBLEVEL")]
    return (b".".join(filter(None, numbers)) + found.get(b"EXTRAVERSION", b"")).decode()


def pack_source(source, scratch, what):
    """Import the files of source into a repository in scratch; return (tree id, pack file)."""
    git = Git(scratch)
    git.raw("init", "--quiet", "--bare", "--template=")
    with open(scratch / "complaints", "w+b") as complaints:
        child = git.popen("-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--depth=0",
                          stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=complaints)
        timer = threading.Timer(LIMIT, child.kill)
        timer.start()
        try:
            with contextlib.suppress(BrokenPipeError):
                feed(child.stdin, archive.members(source), what)
                child.stdin.close()
            status = child.wait()
        finally:
            timer.cancel()
            child.kill()
            child.wait()
            with contextlib.suppress(BrokenPipeError):
                child.stdin.close()
        if status:
            complaints.seek(0)
            lines = complaints.read().decode(errors="replace").strip().splitlines()
            why = next((line for line in lines if line.startswith("fatal: ")), "killed")
            raise Failure(f"{what}: git fast-import: {why}")
    packs = list(scratch.glob("objects/pack/*.pack"))
    if len(packs) != 1:
        raise Failure(f"{what}: {source} holds no files")
    return top_tree(git), packs[0]


def feed(sink, files, what):
    """Write the files as one commit in the language of fast-import."""
    sink.write(b"commit refs/heads/import\ncommitter x <x> 0 +0000\ndata 0\n")
    last = time.monotonic()
    for count, (path, mode, data) in enumerate(files):
        quoted = b'"' + path.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
        if b"\n" in path:
            raise Failure(f"{what}: a file name with a line break: {path!r}")
        sink.write(b"M %s inline %s\ndata %d\n%s\n" % (mode, quoted, len(data), data))
        if time.monotonic() - last > NEWS:
            last = time.monotonic()
            say(f"  {what}: {count} files so far")


def top_tree(git):
    """The tree of the import, below the one folder that release tarballs wrap all files in."""
    entries = git.lines("ls-tree", "refs/heads/import")
    if len(entries) == 1 and " tree " in entries[0]:
        return entries[0].split("\t")[0].split()[2]
    return git.text("rev-parse", "refs/heads/import^{tree}")
