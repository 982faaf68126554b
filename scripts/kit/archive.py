# SPDX-License-Identifier: GPL-2.0
"""Read the files of a kernel source, be it a folder, a tarball or a Debian package.

Everything comes as a stream of (path, mode, content), path and content in bytes, mode
as git spells it. The tar reader is our own since the one in Python's library needs
18 s of processor time for a kernel, and this one less than a second.
"""

import contextlib
import os
import stat
import subprocess
import tempfile
import threading
from pathlib import Path

from kit.git import Git
from kit.run import Failure

LIMIT = 900
BLOCK = 512
FILE, PROGRAM, LINK = b"100644", b"100755", b"120000"

UNPACKERS = (
    (b"\xfd7zXZ\0", ("xz", "-dc", "-T0")),
    (b"\x1f\x8b", ("gzip", "-dc")),
    (b"\x28\xb5\x2f\xfd", ("zstd", "-dcq")),
    (b"BZh", ("bzip2", "-dc")),
)


def members(path):
    """The files of the source at path."""
    if path.is_dir():
        return folder_members(path, list_folder(path))
    with open(path, "rb") as file:
        head = file.read(BLOCK)
    return tar_members(path, pipeline(path, head))


def pipeline(path, head):
    """The commands that turn the archive at path, which begins with head, into a tar stream."""
    if head.startswith(b"!<arch>\n"):
        inner = "./usr/src/linux-source-*.tar.xz"
        return [("dpkg-deb", "--fsys-tarfile", path), ("tar", "-xO", "--wildcards", inner),
                ("xz", "-dc", "-T0")]
    for magic, command in UNPACKERS:
        if head.startswith(magic):
            return [(*command, path)]
    if head[257:262] == b"ustar":
        return [("cat", path)]
    raise Failure(f"{path} is neither a folder, a tarball nor a Debian package")


@contextlib.contextmanager
def piped(path, commands):
    """The output of commands joined by pipes; all of them ended, and checked, afterwards."""
    with contextlib.ExitStack() as stack:
        errors = stack.enter_context(tempfile.TemporaryFile())
        children, source = [], subprocess.DEVNULL
        expired = threading.Event()
        stack.callback(lambda: [end(child) for child in children])
        for command in commands:
            try:
                child = subprocess.Popen([str(word) for word in command], stdin=source,
                                         stdout=subprocess.PIPE, stderr=errors)
            except OSError as err:
                raise Failure(f"unpacking {path}: cannot run {command[0]}: {err.strerror}") from err
            if children:
                source.close()
            children.append(child)
            source = child.stdout
        timer = threading.Timer(LIMIT, lambda: (expired.set(), [c.kill() for c in children]))
        timer.daemon = True
        timer.start()
        stack.callback(timer.cancel)
        try:
            yield source
        except Failure as err:
            raise expiry(path) if expired.is_set() else err
        source.close()
        failed = [child for child in children if child.wait()]
        if expired.is_set():
            raise expiry(path)
        if failed:
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines()
            raise Failure(f"unpacking {path}: {lines[-1] if lines else failed[0].args[0] + ' failed'}")


def expiry(path):
    """What to say when the limit was hit."""
    return Failure(f"unpacking {path}: no end after {LIMIT} s, killed")


def end(child):
    """Leave no process behind."""
    if child.poll() is None:
        child.kill()
    child.wait()
    child.stdout.close()


def tar_members(path, commands):
    """The files of the tar stream that commands make out of the archive at path."""
    with piped(path, commands) as stream:
        try:
            yield from read_tar(stream)
        except ValueError as err:
            raise Failure(f"unpacking {path}: {err}") from err


def exactly(stream, size):
    """The next size bytes, or ValueError."""
    data = stream.read(size)
    if len(data) != size:
        raise ValueError("the archive ends early")
    return data


def read_tar(stream):
    """The files of a tar stream: ustar with GNU and pax long names."""
    longer, longer_link = None, None
    while True:
        head = exactly(stream, BLOCK)
        if not any(head):
            break
        kind, size = head[156:157], number(head[124:136])
        if sum(head) - sum(head[148:156]) + 8 * 32 != number(head[148:156]):
            raise ValueError("not a tar archive, or a damaged one")
        data = exactly(stream, size)
        exactly(stream, -size % BLOCK)
        if kind == b"L":
            longer = field(data)
        elif kind == b"K":
            longer_link = field(data)
        elif kind == b"x":
            extra = pax(data)
            longer = extra.get(b"path", longer)
            longer_link = extra.get(b"linkpath", longer_link)
        elif kind != b"g":
            name = clean(longer or name_of(head))
            if kind in b"0\0":
                yield name, PROGRAM if number(head[100:108]) & 0o100 else FILE, data
            elif kind == b"2":
                yield name, LINK, longer_link or field(head[157:257])
            elif kind != b"5":
                raise ValueError(f"{name.decode(errors='replace')} is neither file, link nor folder")
            longer, longer_link = None, None
    while stream.read(1 << 16):
        pass


def field(data):
    """The text of a header field."""
    return data.split(b"\0", 1)[0]


def number(data):
    """The number in a header field, octal."""
    return int(field(data).strip() or b"0", 8)


def name_of(head):
    """The path in a ustar header, which may be cut in two; GNU uses the second part otherwise."""
    prefix = field(head[345:500]) if head[257:263] == b"ustar\0" else b""
    return (prefix + b"/" if prefix else b"") + field(head[:100])


def pax(data):
    """The records of a pax header."""
    records = {}
    while data:
        size = int(data.split(b" ", 1)[0])
        name, _, value = data[:size - 1].split(b" ", 1)[1].partition(b"=")
        records[name] = value
        data = data[size:]
    return records


def clean(name):
    """A path below the top, or ValueError for one that leads out of it."""
    parts = [part for part in name.split(b"/") if part not in (b"", b".")]
    if b".." in parts or b".git" in parts or name.startswith(b"/"):
        raise ValueError(f"refused path {name.decode(errors='replace')}")
    return b"/".join(parts)


def list_folder(top):
    """The paths of the source files in the folder top, sorted; top is only read.

    In a git tree these are the files that git knows or would add; elsewhere all of them,
    so such a tree must not hold the products of a build.
    """
    if (top / ".git").exists():
        names = Git(top, GIT_OPTIONAL_LOCKS=0).raw("ls-files", "-z", "--cached", "--others",
                                                   "--exclude-standard")
        return sorted({name for name in names.split(b"\0") if name and lstat(top, name)})
    for built in (".config", "vmlinux", "include/config"):
        if (top / built).exists():
            raise Failure(f"{top} holds a build ({built}): make mrproper there first")
    names = []
    start = os.fsencode(top)
    for folder, _, files in os.walk(start):
        inside = os.path.relpath(folder, start)
        names += [os.path.normpath(os.path.join(inside, name)) for name in files]
        links = [entry.name for entry in os.scandir(folder)
                 if entry.is_symlink() and entry.is_dir()]
        names += [os.path.normpath(os.path.join(inside, name)) for name in links]
    return sorted(names)


def lstat(top, name):
    """The state of one file, or None where it is gone or a folder."""
    with contextlib.suppress(OSError):
        state = os.lstat(os.path.join(os.fsencode(top), name))
        if not stat.S_ISDIR(state.st_mode):
            return state
    return None


def folder_members(top, names):
    """The files called names in the folder top."""
    for name in names:
        full = os.path.join(os.fsencode(top), name)
        mode = os.lstat(full).st_mode
        if stat.S_ISLNK(mode):
            yield name, LINK, os.readlink(full)
        elif stat.S_ISREG(mode):
            yield name, PROGRAM if mode & 0o100 else FILE, Path(os.fsdecode(full)).read_bytes()
        else:
            raise Failure(f"{os.fsdecode(full)} is neither file, link nor folder")
