# SPDX-License-Identifier: GPL-2.0
"""The series as commits: patches/, the new files, and the commits that both make.

New files lie in this repository in their final text. Where a later patch amends one, its
earlier text is found by taking the later hunks back, strictly. All commits are made by
one `git fast-import` after everything was found to apply, so a failure changes nothing.
"""

import contextlib
import hashlib
import os
import re
import shutil
from dataclasses import dataclass, field

from kit import base
from kit.archive import FILE, PROGRAM
from kit.git import Git
from kit.lock import locked
from kit.patch import Mismatch, Patch, apply_change, read_patch, write_patch
from kit.paths import BUILD, PATCHES, TOP
from kit.run import Failure, say, step

TREE = BUILD / "linux-7.3"
SOURCE = BUILD / "src"
LOCK = BUILD / ".lock"
REFS = "refs/seqwin"

# What may enter a kernel tree: this repository's README, scripts/ and the like never do.
NEW_FILES = ("net/", "fs/", "include/", "crypto/", "Documentation/", "tools/testing/selftests/")
EDITS = (*NEW_FILES, "MAINTAINERS", "lib/", "tools/testing/kunit/")

NAME = re.compile(r"[a-z0-9][a-z0-9._+-]*\.patch")
PATH = re.compile(r"[A-Za-z0-9_./+,=@~-]+")
RESERVED = {"base", "patched", "repairs", "saved", "tree"}
# The server's switch for lag on demand. What is in the series up to it are the repairs; what
# follows is the cure, of which they are the control.
SWITCH = "gss-stall-us"


@dataclass
class Entry:
    """A line of patches/series: the patch, its new files, and the comments above it."""
    name: str
    new: list = field(default_factory=list)
    comments: list = field(default_factory=list)
    patch: Patch = None
    changes: list = field(default_factory=list)


def git():
    """The repository in build/linux-7.3."""
    return Git(TREE)


def allowed(path, places):
    """Whether path is in one of the places, and written plainly."""
    plain = PATH.fullmatch(path) and not {"", ".", "..", ".git"} & set(path.split("/"))
    return bool(plain) and any(path == place or place.endswith("/") and path.startswith(place)
                               for place in places)


def read_list(text):
    """The comments that head patches/series, its entries, and the comments after the last."""
    head, entries, comments = [], [], []
    for number, line in enumerate(text.splitlines(), 1):
        where = f"patches/series, line {number}"
        word = line.strip()
        if not word or word.startswith("#"):
            comments.append(line)
        elif word.startswith("+ ") and line[0].isspace():
            if not entries or comments:
                raise Failure(f"{where}: a new file must follow its patch")
            entries[-1].new.append(word[2:].strip())
        elif NAME.fullmatch(line) and line.removesuffix(".patch") not in RESERVED:
            if not entries:
                head, comments = comments, []
            entries.append(Entry(line, comments=comments))
            comments = []
        else:
            raise Failure(f"{where}: neither a patch, '+ new/file' nor a comment: {word}")
    return (head, entries, comments) if entries else (comments, [], [])


def write_list(head, entries, tail):
    """The text of patches/series."""
    lines = list(head)
    for entry in entries:
        lines += [*entry.comments, entry.name, *(f"\t+ {path}" for path in entry.new)]
    return "".join(line + "\n" for line in lines + tail)


def read_series():
    """The entries with their patches, checked as far as no base is needed."""
    path = PATCHES / "series"
    _, entries, _ = read_list(path.read_text()) if path.exists() else ([], [], [])
    twice(entry.name for entry in entries)
    for entry in entries:
        file = PATCHES / entry.name
        if not file.is_file():
            raise Failure(f"patches/series names {entry.name}, but there is no such file in patches/")
        entry.patch = read_patch(file.read_bytes(), entry.name)
        try:
            entry.changes = entry.patch.changes()
        except ValueError as err:
            raise Failure(f"{entry.name}: {err}") from err
    check_paths(entries)
    return entries


def twice(names):
    """Fail for what patches/series names twice."""
    seen = set()
    for name in names:
        if name in seen:
            raise Failure(f"patches/series names {name} twice")
        seen.add(name)


def check_paths(entries):
    """Fail for a path with no place in a kernel tree, and for files that nothing lists."""
    twice(path for entry in entries for path in entry.new)
    there = {}
    for entry in entries:
        for path in entry.new:
            if not allowed(path, NEW_FILES):
                raise Failure(f"{entry.name}: new file {path} is outside {' '.join(NEW_FILES)}")
            if not (TOP / path).is_file() or (TOP / path).is_symlink():
                raise Failure(f"patches/series names {path}, but there is no such file")
        for change in entry.changes:
            if not allowed(change.path, EDITS):
                raise Failure(f"{entry.name}: {change.path} is outside {' '.join(EDITS)}")
            if change.path in entry.new or change.deleted and change.path in there:
                raise Failure(f"{entry.name}: {change.path} cannot be new and changed or deleted here")
        there.update({path: entry.name for path in entry.new})
    unlisted = sorted({str(path.relative_to(TOP)) for path in kernel_files()} - there.keys())
    if unlisted:
        raise Failure(f"{unlisted[0]} is listed nowhere in patches/series")
    stray = sorted({path.name for path in PATCHES.glob("*.patch")} - {entry.name for entry in entries})
    if stray:
        raise Failure(f"patches/{stray[0]} is listed nowhere in patches/series")


def kernel_files():
    """The files of this repository that lie where new kernel files do."""
    for place in NEW_FILES:
        for folder, _, names in os.walk(TOP / place):
            for name in names:
                yield TOP / os.path.relpath(os.path.join(folder, name), TOP)


def final(path):
    """Mode and text of a new file as this repository has it."""
    full = TOP / path
    return PROGRAM if full.stat().st_mode & 0o100 else FILE, full.read_bytes()


def first_versions(entries):
    """Mode and text of each new file when it enters: its last ones, less the later hunks."""
    now = {path: final(path) for entry in entries for path in entry.new}
    first = {}
    for entry in reversed(entries):
        first.update({path: now.pop(path) for path in entry.new})
        for change in entry.changes:
            if change.path in now:
                now[change.path] = changed(entry.name, change, now[change.path], reverse=True)
            elif change.path in first:
                raise Failure(f"{entry.name} changes {change.path} before it is there")
    return first


def changed(name, change, state, reverse=False):
    """Mode and text of a file after the change (or before it), or None where it is deleted."""
    mode, text = state
    have, give = change.old_mode, change.new_mode
    if reverse:
        have, give = give, have
    if have and have != mode:
        raise Failure(f"{name} does not apply to {change.path}: mode {mode.decode()}, not {have.decode()}")
    try:
        text = apply_change(text, change, reverse)
    except Mismatch as err:
        back = " in reverse" if reverse else ""
        raise Failure(f"{name} does not apply{back} to {change.path}: {err}") from err
    return None if change.deleted else (give or mode, text)


def base_files(paths, commit):
    """Mode and text of the paths that the base has."""
    found = {}
    listed = git().raw("ls-tree", "-r", "-z", commit, "--", *paths) if paths else b""
    rows = [row.partition(b"\t") for row in listed.split(b"\0") if row]
    blobs = {path.decode(): head.split() for head, _, path in rows}
    for path, (mode, kind, blob) in blobs.items():
        if kind != b"blob":
            raise Failure(f"{path} is no file in the base")
        found[path] = mode, git().raw("cat-file", "blob", blob.decode())
    return found


def steps(entries, commit):
    """For each entry what it leaves of each file it touches; Failure where one does not apply."""
    first = first_versions(entries)
    edited = {change.path for entry in entries for change in entry.changes}
    now = base_files(sorted(edited | first.keys()), commit)
    done = []
    for entry in entries:
        touched = {}
        for path in entry.new:
            if path in now:
                raise Failure(f"{entry.name}: new file {path} exists in the base")
            touched[path] = first[path]
        for change in entry.changes:
            if now.get(change.path) is None:
                raise Failure(f"{entry.name} does not apply to {change.path}: no such file")
            touched[change.path] = changed(entry.name, change, now[change.path])
        if not touched:
            raise Failure(f"{entry.name} changes nothing")
        now.update(touched)
        done.append(touched)
    return done


def obstacle(commit):
    """Why the series does not apply to a commit, or None."""
    try:
        steps(read_series(), commit)
    except Failure as err:
        return str(err)
    return None


def stream(entries, done, commit):
    """The commits in the language of fast-import."""
    parent = commit.encode()
    for mark, (entry, touched) in enumerate(zip(entries, done, strict=True), 1):
        who = f"{entry.patch.author} {entry.patch.date}".encode()
        message = entry.patch.message.encode()
        yield b"commit %s\nmark :%d\nauthor %s\ncommitter %s\ndata %d\n%s\nfrom %s\n" % (
            ref(entry.name).encode(), mark, who, who, len(message), message, parent)
        for path, state in touched.items():
            if state is None:
                yield b"D %s\n" % path.encode()
            else:
                yield b"M %s inline %s\ndata %d\n%s\n" % (state[0], path.encode(), len(state[1]), state[1])
        parent = b":%d" % mark
    yield b"done\n"


def ref(name):
    """The ref of a patch."""
    return f"{REFS}/{name.removesuffix('.patch')}"


def fingerprint(entries):
    """A word for everything in this repository that the commits are made from."""
    digest = hashlib.sha256()
    for entry in entries:
        for part in (entry.name.encode(), write_patch(entry.patch)):
            digest.update(b"%d:%s" % (len(part), part))
        for path in entry.new:
            mode, text = final(path)
            digest.update(b"%s %s %d:%s" % (path.encode(), mode, len(text), text))
    return digest.hexdigest()


def prepare():
    """The commit id of the base in build/linux-7.3, made if missing. Needs the lock."""
    TREE.mkdir(parents=True, exist_ok=True)
    if not (TREE / ".git/HEAD").exists():
        shutil.rmtree(TREE / ".git", ignore_errors=True)
        git().raw("init", "--quiet", "--template=", "--initial-branch=series")
        for name, value in (("gc.auto", "0"), ("maintenance.auto", "false"), ("core.autocrlf", "false")):
            git().raw("config", name, value)
    commit = base.ensure(git(), obstacle)
    if not git().commit("refs/heads/series") or not git().commit("refs/tags/base"):
        git().raw("update-ref", "refs/tags/base", commit)
    return commit


def materialise(commit):
    """The commits of the series on the base commit: a list of (name, id). Needs the lock."""
    entries = read_series()
    word = fingerprint(entries)
    known = base.notes(git()).get("series", {})
    if known.get("word") != word or known.get("base") != commit or not intact(known["commits"]):
        done = steps(entries, commit)
        if entries:
            git().raw("fast-import", "--quiet", "--force", "--done",
                      data=b"".join(stream(entries, done, commit)))
        known = {"word": word, "base": commit,
                 "commits": [(entry.name, git().commit(ref(entry.name))) for entry in entries]}
        base.note(git(), series=known)
        drop_stale(entries)
    return [tuple(pair) for pair in known["commits"]]


def intact(pairs):
    """Whether each ref is where it was left."""
    refs = dict(line.split() for line in git().lines(
        "for-each-ref", "--format=%(refname) %(objectname)", REFS))
    return all(refs.get(ref(name)) == commit for name, commit in pairs)


def drop_stale(entries):
    """Remove the refs of patches that are no more."""
    keep = {ref(entry.name) for entry in entries} | {base.REF, f"{REFS}/tree"}
    for name in git().lines("for-each-ref", "--format=%(refname)", REFS):
        if name not in keep and not name.startswith(f"{REFS}/saved/"):
            git().raw("update-ref", "-d", name)


def repo():
    """The path of build/linux-7.3; its git folder has the base."""
    with locked(LOCK):
        prepare()
    return TREE


def base_commit():
    """The commit id of the base."""
    with locked(LOCK):
        return prepare()


def base_version():
    """The version of the base in use, for reports: of the package, or of the kernel."""
    base_commit()
    return base.version(git())


def commits():
    """The commits of the series, made if missing: a list of (patch name, commit id)."""
    with locked(LOCK):
        return materialise(prepare())


def last_repair():
    """The name of the patch that ends the repairs."""
    for entry in read_series():
        text = (PATCHES / entry.name).read_text(encoding="utf-8", errors="replace")
        if re.search(rf"(?m)^\+.*{SWITCH}", text):
            return entry.name
    raise Failure(f"no patch of the series adds {SWITCH}, so there is no side 'repairs'")


def resolve(side):
    """The commit id of a side: base, patched, repairs, a patch (all up to it), or a commit of the
    tree."""
    start = base_commit()
    if side == "base":
        return start
    pairs = commits()
    if side == "patched":
        return pairs[-1][1] if pairs else start
    names = {name.removesuffix(".patch"): commit for name, commit in pairs}
    if side == "repairs":
        side = last_repair()
    found = names.get(side.removesuffix(".patch")) or (side and git().commit(side))
    if not found:
        raise Failure(f"no side '{side}': there are {', '.join(['base', 'patched', 'repairs', *names])}, "
                      "and the commits of build/linux-7.3")
    return found


def checkout(commit):
    """Put a commit into build/src and return that path.

    The tree is the builds' own: edits there are lost. Only files that differ are written,
    so that the next build compiles little.
    """
    repo()
    with locked(BUILD / ".src-lock"):
        tree = work_tree()
        fresh = not (SOURCE / "Makefile").exists()
        with step(f"checking out {commit[:12]} into {SOURCE}") if fresh else contextlib.nullcontext():
            tree.raw("checkout", "--quiet", "--force", "--detach", commit, limit=900)
        tree.raw("clean", "-f", "-d", "--quiet")
    return SOURCE


def work_tree():
    """build/src as a work tree of build/linux-7.3; one that is broken is made anew."""
    tree = Git(SOURCE)
    status, where, _ = tree.run("rev-parse", "--path-format=absolute", "--git-common-dir") \
        if SOURCE.is_dir() else (1, b"", "")
    if status or where.decode().strip() != str((TREE / ".git").resolve()):
        if SOURCE.exists():
            say(f"{SOURCE} is no work tree of {TREE}, so it is made anew")
            shutil.rmtree(SOURCE)
        git().raw("worktree", "prune", "--expire=now")
        git().raw("worktree", "add", "--quiet", "--detach", "--no-checkout", SOURCE, base.REF)
    # We hold the lock, so an index lock is what a killed checkout left behind.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(tree.text("rev-parse", "--path-format=absolute", "--git-path", "index.lock"))
    return tree
