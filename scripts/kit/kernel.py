# SPDX-License-Identifier: GPL-2.0
"""Guest kernels: one bundle (image, release, config, modules) per side and config layer.

A bundle is kept in the cache by the content it was made from: the tree of the commit, the
config fragments and the compiler. Only one build runs at a time.
"""

import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path

from . import series
from .lock import locked
from .paths import BUILD, RIG, cache
from .run import Failure, output, run, step

LAYERS = {
    "guest": ("guest.config",),
    "debug": ("guest.config", "debug.config"),
}
BUILD_LIMIT = 45 * 60
NO_KERNEL = ("Documentation/", "MAINTAINERS", "tools/testing/selftests/")


def compiler_env():
    """Environment of every kernel build: compiler cache and reproducible stamps."""
    env = dict(os.environ)
    env.update(CCACHE_DIR=str(cache("ccache")), CCACHE_BASEDIR=str(BUILD), CCACHE_NOHASHDIR="1",
               CCACHE_MAXSIZE="4G", CCACHE_DEPEND="1",
               KBUILD_BUILD_TIMESTAMP="2026-01-01", KBUILD_BUILD_USER="seqwin",
               KBUILD_BUILD_HOST="rig", LC_ALL="C", LOCALVERSION="")
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "KCONFIG_CONFIG", "O", "ARCH", "CROSS_COMPILE"):
        env.pop(name, None)
    return env


def make(src, obj, *targets, what, log):
    """Run the kernel's make."""
    run(["make", "-C", src, f"O={obj}", f"-j{(os.cpu_count() or 1) + 1}", "CC=ccache gcc", *targets],
        what, BUILD_LIMIT, log=log, env=compiler_env())


def fragments(layer):
    """The config fragments of a layer, in the order in which they are merged."""
    if layer not in LAYERS:
        raise Failure(f"no kernel layer '{layer}'; there are: {', '.join(LAYERS)}")
    return [RIG / "config" / name for name in LAYERS[layer]]


def wanted_symbols(paths):
    """Symbol -> value; a later fragment overrides an earlier one."""
    symbols = {}
    for path in paths:
        for line in path.read_text().splitlines():
            match = re.fullmatch(r"(CONFIG_\w+)=(.+)", line.strip())
            if match:
                symbols[match[1]] = match[2]
    return symbols


def check_symbols(config, wanted):
    """Fail with the names of the requested symbols that olddefconfig dropped."""
    got = dict(re.findall(r"^(CONFIG_\w+)=(.*)$", config.read_text(), re.M))
    lost = [name for name, value in wanted.items() if got.get(name, "n") != value]
    if lost:
        raise Failure(f"olddefconfig did not keep {', '.join(lost)}")


def configure(src, obj, layer, log):
    """tinyconfig plus the layer's fragments; rewritten only when it differs."""
    paths = fragments(layer)
    with tempfile.TemporaryDirectory(dir=obj.parent) as scratch:
        scratch = Path(scratch)
        make(src, scratch, "tinyconfig", what="tinyconfig", log=log)
        with open(scratch / ".config", "a", encoding="ascii") as config:
            for name, value in wanted_symbols(paths).items():
                config.write(f"{name}={value}\n" if value != "n" else f"# {name} is not set\n")
        make(src, scratch, "olddefconfig", what="olddefconfig", log=log)
        new = scratch / ".config"
        check_symbols(new, wanted_symbols(paths))
        old = obj / ".config"
        if not old.exists() or old.read_text() != new.read_text():
            shutil.copyfile(new, old)


# Every folder whose objects depend on a header that the series edits.
FOLDERS = ("net/sunrpc/", "crypto/krb5/", "fs/nfs/", "fs/nfs_common/", "fs/nfsd/", "fs/lockd/")


def compile_folders(src, folders=FOLDERS):
    """Compile these folders with the guest's configuration."""
    obj, log = BUILD / "obj/commits", BUILD / "obj/commits.log"
    obj.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    configure(src, obj, "guest", log)
    make(src, obj, *folders, what="compiling", log=log)


def same_kernel(sha):
    """The oldest commit from which the same kernel is built.

    A commit that touches nothing else than documents and tests in user space needs no
    kernel of its own.
    """
    start, git = series.base_commit(), series.git()
    while sha != start:
        parent = git.commit(f"{sha}^")
        names = git.lines("diff", "--name-only", "--no-renames", parent, sha) if parent else [""]
        if not all(name.startswith(NO_KERNEL) for name in names):
            break
        sha = parent
    return sha


def bundle_key(sha, layer):
    """What a bundle is made from."""
    tree = output(["git", "-C", series.repo(), "rev-parse", f"{sha}^{{tree}}"], "git rev-parse").strip()
    digest = hashlib.sha256(tree.encode())
    for path in fragments(layer):
        digest.update(path.read_bytes())
    digest.update(output(["gcc", "--version"], "gcc").splitlines()[0].encode())
    return digest.hexdigest()[:24]


def build(sha, layer, target):
    """Build commit sha with the layer's config into the folder target."""
    src = series.checkout(sha)
    obj = BUILD / "obj" / layer
    obj.mkdir(parents=True, exist_ok=True)
    log = BUILD / "obj" / f"{layer}.log"
    log.unlink(missing_ok=True)
    configure(src, obj, layer, log)
    modules = "CONFIG_MODULES=y" in (obj / ".config").read_text()
    make(src, obj, "bzImage", *(["modules"] if modules else []),
         what=f"{layer} kernel", log=log)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        scratch = Path(scratch) / "bundle"
        scratch.mkdir()
        shutil.copyfile(obj / "arch/x86/boot/bzImage", scratch / "bzImage")
        shutil.copyfile(obj / ".config", scratch / "config")
        shutil.copyfile(obj / "include/config/kernel.release", scratch / "release")
        (scratch / "commit").write_text(sha + "\n")
        if modules:
            make(src, obj, "modules_install", f"INSTALL_MOD_PATH={scratch}/modules",
                 "INSTALL_MOD_STRIP=1", what="modules_install", log=log)
        scratch.rename(target)


def bundle(side, layer="guest"):
    """The folder with bzImage, config, release, commit and, for debug, modules/ of a side."""
    sha = same_kernel(series.resolve(side))
    store = cache("kernel")
    target = store / f"{layer}-{bundle_key(sha, layer)}"
    if target.is_dir():
        return target
    with locked(store / "lock", BUILD_LIMIT):
        if not target.is_dir():
            with step(f"building the {layer} kernel of {side} ({sha[:12]})"):
                build(sha, layer, target)
    return target
