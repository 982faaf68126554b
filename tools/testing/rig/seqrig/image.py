# SPDX-License-Identifier: GPL-2.0
"""The root image of the guests: Debian with an MIT KDC, nfs-utils and the load tools.

Built once by mmdebstrap and mke2fs, kept in the user's cache under a name that carries a
hash of everything that shapes it. The guest scripts are not inside: they come from the
share of each run, so that an edit of a script needs no new image.
"""

import contextlib
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from kit import apt
from kit.lock import locked
from kit.paths import RIG, cache
from kit.run import Failure, output, run, step

SUITE = "trixie"
VERSION = "1"
PACKAGES = """
    krb5-kdc krb5-admin-server krb5-user nfs-kernel-server nfs-common gssproxy keyutils
    iproute2 rdma-core kmod procps fio ethtool iputils-ping rpcbind strace busybox-static
    attr acl nfs4-acl-tools
""".split()
TOOLS = {"mmdebstrap": "mmdebstrap", "mke2fs": "e2fsprogs", "apt-get": "apt"}
UNWANTED = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")


def need(tools):
    """Fail with the name of the package when a host program is missing."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    for tool, package in tools.items():
        if not shutil.which(tool, path=path):
            raise Failure(f"{tool} is not installed on this machine: "
                          f"install the package {package}")


def key():
    """The hash of what the image is made from."""
    digest = hashlib.sha256()
    for part in (VERSION, SUITE, *sorted(PACKAGES), *UNWANTED):
        digest.update(part.encode() + b"\0")
    digest.update((RIG / "guest/init").read_bytes())
    return digest.hexdigest()[:16]


def _bootstrap(work, root, log):
    """Fill the folder root with a minimal system."""
    sources = work / "sources.list"
    sources.write_text(apt.sources_list([SUITE]))
    argv = ["mmdebstrap", "--variant=minbase", "--mode=root", "--format=directory",
            "--include=" + ",".join(PACKAGES), "--dpkgopt=force-unsafe-io"]
    argv += [f"--dpkgopt=path-exclude={pattern}" for pattern in UNWANTED]
    argv += [f"--aptopt={option}" for option in apt.proxy_options()]
    run([*argv, SUITE, root, sources], "bootstrap of the guest system", 900, log=log,
        env=dict(os.environ, TMPDIR=str(work), LC_ALL="C"))


def _pack(root, image, log):
    """Put the folder root into an ext4 image, with room for what a run writes."""
    used = int(output(["du", "-sm", root], "size of the guest system").split()[0])
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    run(["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-L", "rig",
         "-d", root, image, f"{used * 5 // 4 + 192}M"], "packing of the guest image", 300,
        log=log, env=dict(os.environ, PATH=path))


def _build(folder, image):
    """Build the image under a temporary name and move it into place as a whole."""
    if os.geteuid():
        raise Failure("building the guest image needs root (once): run this as root")
    need(TOOLS)
    work = Path(tempfile.mkdtemp(prefix="tmp-", dir=folder))
    try:
        os.chmod(work, 0o755)
        root, log = work / "root", folder / "build.log"
        log.write_text("")
        _bootstrap(work, root, log)
        shutil.copy(RIG / "guest/init", root / "init")
        os.chmod(root / "init", 0o755)
        _pack(root, work / "image", log)
        os.rename(work / "image", image)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _tidy(folder, image):
    """Remove what a killed build or an older recipe left."""
    for path in folder.iterdir():
        if path.name.startswith("tmp-"):
            shutil.rmtree(path, ignore_errors=True)
        elif path.suffix == ".ext4" and path != image:
            with contextlib.suppress(OSError):
                path.unlink()


def root_image():
    """The path of the guest image, built first if the cache has none."""
    folder = cache("image")
    image = folder / f"{SUITE}-{key()}.ext4"
    if image.exists():
        return image
    with locked(folder / "lock"):
        if not image.exists():
            _tidy(folder, image)
            with step("guest image (about a minute)"):
                _build(folder, image)
    return image
