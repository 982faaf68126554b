# SPDX-License-Identifier: GPL-2.0
"""The kernel that the series stands on: pinned, fetched by apt, or what LINUX= names.

In order: LINUX=/path (a folder, tarball or package, only read), KERNEL_URL=address, the
pinned package, the newest package of the same kernel series to which the patches apply,
the upstream tarball. Which one was taken is noted in the git folder, so that the network
is asked once.
"""

import functools
import hashlib
import json
import os
import tempfile
from pathlib import Path

from kit import archive, importer
from kit.fetch import download, keep, sha256
from kit.paths import BUILD, TOP, cache
from kit.run import Failure, say, step
from kit.suite import Suite

REF = "refs/seqwin/base"
CONF = TOP / "scripts/base.conf"


def conf():
    """The pins, from base.conf."""
    pins = {}
    for line in CONF.read_text().splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            pins[name.strip()] = value.strip()
    missing = {"PACKAGE", "VERSION", "SUITE", "SHA256", "UPSTREAM", "UPSTREAM_URL",
               "UPSTREAM_SHA256"} - pins.keys()
    if missing:
        raise Failure(f"{CONF} lacks {', '.join(sorted(missing))}")
    return pins


def notes_file(git):
    """Where the machinery notes what it did in this repository."""
    return git.folder / ".git/seqwin.json"


def notes(git):
    """What was noted; nothing where that cannot be read."""
    try:
        found = json.loads(notes_file(git).read_text())
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}


def note(git, **more):
    """Note more."""
    part = notes_file(git).with_suffix(".part")
    part.write_text(json.dumps({**notes(git), **more}, indent=1) + "\n")
    part.rename(notes_file(git))


def linux():
    """The path in LINUX=, checked to exist, or None."""
    named = os.environ.get("LINUX")
    if not named:
        return None
    path = Path(named).expanduser().absolute()
    if not path.exists():
        raise Failure(f"LINUX={named}: no such file or folder")
    return path


def key():
    """What the choice of a base depends on, in one word."""
    path = linux()
    if path:
        return f"linux:{path}:{stamp(path)}"
    address = os.environ.get("KERNEL_URL")
    if address:
        return f"url:{address}"
    pins = conf()
    return f"pin:{pins['VERSION']}:{pins['SHA256']}"


@functools.cache
def stamp(path):
    """A word that changes when the source at path does; looked at once per program."""
    digest = hashlib.sha256()
    top = os.fsencode(path)
    for name in archive.list_folder(path) if path.is_dir() else [b""]:
        state = os.lstat(os.path.join(top, name)) if name else os.stat(top)
        digest.update(b"%s\0%d %d %d\0" % (name, state.st_mode, state.st_size, state.st_mtime_ns))
    return digest.hexdigest()[:24]


def ensure(git, obstacle):
    """The commit id of the base, imported if missing.

    obstacle(commit) tells why the series does not apply there, or None; it is asked only
    where a base other than the pinned one is chosen.
    """
    wanted = key()
    known = notes(git).get("bases", {}).get(wanted)
    if not known or not git.holds("cat-file", "-e", f"{known['commit']}^{{tree}}"):
        known = dict(zip(("commit", "version"), choose(git, obstacle), strict=True))
        note(git, bases={**notes(git).get("bases", {}), wanted: known})
    if git.commit(REF) != known["commit"]:
        git.raw("update-ref", REF, known["commit"])
    return known["commit"]


def version(git):
    """The version of the base in use, for reports."""
    return notes(git).get("bases", {}).get(key(), {}).get("version", "unknown")


def choose(git, obstacle):
    """Import the base that the environment and the pins ask for: (commit id, version)."""
    path = linux()
    if path:
        with step(f"importing {path}"):
            try:
                return importer.load(git, path, "import")
            except Failure as err:
                raise Failure(f"LINUX={path}: {err}") from err
    pins = conf()
    if os.environ.get("KERNEL_URL"):
        return upstream(git, pins)
    return pinned(git, pins, obstacle)


class Gone(Failure):
    """The pinned package is no longer to be had."""


def pinned(git, pins, obstacle):
    """The pinned package, or what stands in for it."""
    what = f"{pins['PACKAGE']} {pins['VERSION']}"
    with tempfile.TemporaryDirectory(prefix=".apt-", dir=BUILD) as scratch:
        try:
            commit = load_package(git, what, pins["SHA256"],
                                  lambda: pinned_package(pins, what, Path(scratch) / "pinned"))
            return commit, pins["VERSION"]
        except Gone as err:
            say(str(err))
        return newest(git, pins, Path(scratch) / "newest", obstacle)


def pinned_package(pins, what, scratch):
    """The file of the pinned package, from the cache or by apt; its checksum holds."""
    package = cache("deb") / f"{pins['SHA256']}.deb"
    if intact(package, pins["SHA256"]):
        return package
    try:
        suite = Suite(pins["PACKAGE"], pins["SUITE"], scratch)
        versions = suite.versions()
    except Failure as err:
        raise Gone(str(err)) from err
    if pins["VERSION"] not in versions:
        raise Gone(f"{what} is gone from {pins['SUITE']}, which has {', '.join(versions) or 'none'}")
    with step(f"downloading {what}"):
        got = suite.download(pins["VERSION"])
    if sha256(got) != pins["SHA256"]:
        raise Failure(f"{what}: sha256 {sha256(got)}, but base.conf pins {pins['SHA256']}")
    keep(got, package)
    return package


def intact(package, checksum):
    """Whether the package is there with its checksum; a damaged one is removed."""
    if not package.exists():
        return False
    if sha256(package) == checksum:
        return True
    say(f"{package} is damaged, so it is fetched again")
    package.unlink()
    return False


def load_package(git, what, checksum, source):
    """Import the package with a known checksum that source() gives, by way of the cache."""
    with step(f"importing {what}"):
        return importer.load_kept(git, checksum, source, "import")[0]


def newest(git, pins, scratch, obstacle):
    """The newest package of the same kernel series to which the patches apply."""
    series = pins["UPSTREAM"].rsplit(".", 1)[0]
    try:
        suite = Suite(pins["PACKAGE"], pins["SUITE"], scratch)
        fitting = [name for name in suite.versions() if name.startswith((f"{series}.", f"{series}-"))]
    except Failure as err:
        return last_resort(git, pins, str(err))
    for name in fitting:
        with step(f"downloading {pins['PACKAGE']} {name}"):
            got = suite.download(name)
        commit = load_package(git, f"{pins['PACKAGE']} {name}", sha256(got), lambda file=got: file)
        why = obstacle(commit)
        if not why:
            say(f"NOTE: the base is {pins['PACKAGE']} {name}, not the pinned {pins['VERSION']}")
            return commit, name
        say(f"{name} will not do: {why}")
    return last_resort(git, pins, f"{pins['SUITE']} has no {series}.y that the series applies to")


def last_resort(git, pins, reason):
    """The upstream tarball, after apt could not help."""
    say(f"no package of the kernel ({reason}), trying the upstream release")
    try:
        return upstream(git, pins)
    except Failure as err:
        raise Failure(f"no base: {reason}; {err}") from err


def upstream(git, pins):
    """The upstream tarball: (commit id, version)."""
    url = os.environ.get("KERNEL_URL") or pins["UPSTREAM_URL"]
    name = hashlib.sha256(url.encode()).hexdigest()[:24]
    tarball = cache("upstream") / name
    noted = tarball.with_suffix(".sha256")
    checksum = pins["UPSTREAM_SHA256"] or (noted.read_text().strip() if noted.exists() else "")
    if not (checksum and intact(tarball, checksum)):
        checksum = fetch_upstream(url, tarball, pins["UPSTREAM_SHA256"])
        noted.write_text(checksum + "\n")
    with step(f"importing {url}"):
        commit, found = importer.load_kept(git, checksum, lambda: tarball, "import")
    if found != pins["UPSTREAM"]:
        say(f"NOTE: the base is Linux {found}, not the pinned {pins['UPSTREAM']}")
    return commit, found


def fetch_upstream(url, tarball, checksum):
    """Download the tarball into the cache; return its checksum, which is pinned or said."""
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=BUILD) as scratch:
        got = Path(scratch) / "tarball"
        with step(f"downloading {url}"):
            download(url, got)
        found = sha256(got)
        if checksum and found != checksum:
            raise Failure(f"{url}: sha256 {found}, but base.conf pins {checksum}")
        if not checksum:
            say(f"NOTE: no checksum is pinned for {url}; it has sha256 {found}")
        keep(got, tarball)
    return found
