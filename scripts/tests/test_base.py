# SPDX-License-Identifier: GPL-2.0
"""Where the base comes from: apt, the cache, an upstream address; and what may go wrong there."""

import functools
import hashlib
import http.server
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from kit import apt
import test_series
from toy import TEXT, kernel, write

PACKAGE = "linux-source-7.3"


def checksum(path):
    """The sha256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Archive:
    """A Debian archive in a folder, unsigned, with kernel packages."""

    def __init__(self, toy):
        self.toy = toy
        self.top = toy.root / "archive"
        self.index = self.top / "dists/trixie-backports/main/binary-all/Packages"
        self.entries = {}
        write(toy.root / "apt.conf", 'Acquire::AllowInsecureRepositories "1";\n'
              'APT::Get::AllowUnauthenticated "1";\n')
        toy.env.update(MIRROR=f"file:{self.top}", APT_CONFIG=str(toy.root / "apt.conf"))
        toy.env.pop("LINUX")

    def add(self, version, source):
        """Make a package of the folder source; its sha256."""
        folder = self.toy.root / "package"
        shutil.rmtree(folder, ignore_errors=True)
        write(folder / "DEBIAN/control", f"Package: {PACKAGE}\nVersion: {version}\nArchitecture: all\n"
              "Maintainer: Toy <t@toy.invalid>\nDescription: toy\n")
        (folder / "usr/src").mkdir(parents=True)
        subprocess.run(["tar", "-cJf", folder / f"usr/src/{PACKAGE}.tar.xz", "-C", source.parent, source.name],
                       check=True)
        deb = self.top / f"pool/{PACKAGE}_{version}_all.deb"
        deb.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["dpkg-deb", "--build", folder, deb], check=True, stdout=subprocess.DEVNULL)
        self.entries[version] = ((folder / "DEBIAN/control").read_text()
                                 + f"Filename: pool/{deb.name}\nSize: {deb.stat().st_size}\n"
                                   f"SHA256: {checksum(deb)}\n\n")
        self.publish()
        return checksum(deb)

    def publish(self):
        """Write the index, for every architecture that apt may ask for."""
        text = "".join(self.entries.values())
        for arch in ("all", subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip()):
            write(self.index.parent.with_name(f"binary-{arch}") / "Packages", text)

    def remove(self, version):
        """Take a package away."""
        del self.entries[version]
        self.publish()


def pin(toy, **values):
    """Change pins in the toy's base.conf."""
    path = toy.top / "scripts/base.conf"
    lines = [line for line in path.read_text().splitlines() if line.partition("=")[0] not in values]
    write(path, "\n".join(lines + [f"{name}={value}" for name, value in values.items()]) + "\n")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server that keeps no log, but counts."""
    served = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.served.append(self.path)
        super().do_GET()


class Base(test_series.ToyCase):
    """Helpers to serve a base and to see which one was taken."""

    def serve(self):
        """An address that serves the toy's folder `web`."""
        web = self.toy.root / "web"
        web.mkdir()
        Quiet.served.clear()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=web))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(lambda: (server.shutdown(), thread.join(10), server.server_close()))
        return f"http://127.0.0.1:{server.server_address[1]}", web

    def forget(self):
        """What a fresh clone has: no build folder."""
        shutil.rmtree(self.toy.top / "build", ignore_errors=True)

    def base(self):
        """The commit id of the base."""
        return self.toy.git("rev-parse", "base")

    def nothing_left(self):
        """No scratch of any kind."""
        left = [str(path) for top in (self.toy.top / "build", self.toy.root / "cache")
                for pattern in (".import*", ".apt*", ".fetch*", "**/.part*", "**/*.part") for path in top.glob(pattern)]
        self.assertEqual(left, [])


@unittest.skipUnless(shutil.which("apt-get") and shutil.which("dpkg-deb"), "no apt on this machine")
class Package(Base):
    """The pinned package by apt."""

    def setUp(self):
        super().setUp()
        self.archive = Archive(self.toy)
        self.sum = self.archive.add("7.3.4-1", self.toy.linux)
        pin(self.toy, VERSION="7.3.4-1", SHA256=self.sum, UPSTREAM_URL="http://127.0.0.1:9/none.tar.xz")

    def test_pinned_and_cached(self):
        self.assertIn("7.3.4-1", self.passes("tree"))
        first = self.base()
        self.archive.remove("7.3.4-1")
        for damage in (None, "base", "all"):
            self.forget()
            if damage == "base":
                pack = next((self.toy.root / "cache/gss-seqwin/base" / self.sum).glob("*.pack"))
                text = bytearray(pack.read_bytes())
                text[len(text) // 2] ^= 1
                pack.chmod(0o644)
                pack.write_bytes(text)
            if damage == "all":
                shutil.rmtree(self.toy.root / "cache/gss-seqwin/base")
            self.passes("tree")
            self.assertEqual(self.base(), first)
            self.toy.git("fsck", "--full")
        self.nothing_left()

    def test_damaged_package_in_the_cache_is_fetched_again(self):
        self.passes("tree")
        first = self.base()
        deb = next((self.toy.root / "cache/gss-seqwin/deb").glob("*.deb"))
        deb.write_bytes(deb.read_bytes()[:-100])
        shutil.rmtree(self.toy.root / "cache/gss-seqwin/base")
        self.forget()
        self.assertIn("damaged", self.toy.script("tree")[2])
        self.assertEqual(self.base(), first)

    def test_wrong_checksum(self):
        pin(self.toy, SHA256="0" * 64)
        self.fails("tree", "sha256", self.sum)
        self.assertFalse(self.toy.git("for-each-ref"))
        self.nothing_left()

    def test_newest_that_the_series_applies_to(self):
        self.three_patches()
        for sublevel, line in ((6, "line 20\n"), (5, "line 40\n")):
            source = kernel(self.toy.root / f"linux-7.3.{sublevel}", sublevel, TEXT.replace(line, "other\n"))
            self.archive.add(f"7.3.{sublevel}-1", source)
        self.archive.add("7.4.1-1", self.toy.linux)
        self.archive.remove("7.3.4-1")
        self.forget()
        shutil.rmtree(self.toy.root / "cache")
        status, out, err = self.toy.script("tree")
        self.assertEqual(status, 0, err)
        self.assertIn("Linux 7.3.5-1", out)
        self.assertRegex(err, r"7\.3\.6-1 will not do: sunrpc-own.*net/sunrpc/xprt.c")
        self.assertIn("NOTE: the base is linux-source-7.3 7.3.5-1, not the pinned 7.3.4-1", err)
        self.nothing_left()

    def test_upstream_when_no_suite_has_it(self):
        self.archive.remove("7.3.4-1")
        self.fails("tree", "no base", "no 7.3.y", "127.0.0.1:9")
        url, web = self.serve()
        subprocess.run(["tar", "-cJf", web / "linux-7.3.4.tar.xz", "linux"], cwd=self.toy.root, check=True)
        pin(self.toy, UPSTREAM_URL=f"{url}/linux-7.3.4.tar.xz",
            UPSTREAM_SHA256=checksum(web / "linux-7.3.4.tar.xz"))
        self.passes("tree")
        self.assertIn("Linux 7.3.4", self.toy.git("log", "-1", "--format=%s", "base"))


class Upstream(Base):
    """The upstream tarball by address."""

    def setUp(self):
        super().setUp()
        self.toy.env.pop("LINUX")
        self.url, self.web = self.serve()
        self.tarball = self.web / "linux.tar.gz"
        subprocess.run(["tar", "-czf", self.tarball, "linux"], cwd=self.toy.root, check=True)
        self.env = {"KERNEL_URL": f"{self.url}/linux.tar.gz"}

    def test_fetched_once(self):
        _, _, err = self.toy.script("tree", **self.env)
        self.assertIn(f"no checksum is pinned for {self.url}", err)
        self.assertIn(checksum(self.tarball), err)
        first = self.base()
        self.passes("tree", **self.env)
        self.forget()
        self.passes("tree", **self.env)
        self.assertEqual((self.base(), len(Quiet.served)), (first, 1))
        self.nothing_left()

    def test_checksum(self):
        pin(self.toy, UPSTREAM_SHA256="1" * 64)
        self.fails("tree", "sha256", checksum(self.tarball), **self.env)
        pin(self.toy, UPSTREAM_SHA256=checksum(self.tarball))
        self.passes("tree", **self.env)

    def test_bad_addresses(self):
        self.fails("tree", "not found", KERNEL_URL=f"{self.url}/none")
        self.fails("tree", "http://127.0.0.1:9/", KERNEL_URL="http://127.0.0.1:9/x")
        self.fails("tree", "nonsense", KERNEL_URL="nonsense")
        write(self.web / "page", "<html>" * 200)
        self.fails("tree", "neither a folder, a tarball", KERNEL_URL=f"{self.url}/page")
        self.tarball.write_bytes(self.tarball.read_bytes()[:-50])
        self.fails("tree", "unpacking", KERNEL_URL=f"{self.url}/linux.tar.gz")
        self.nothing_left()


class Sources(unittest.TestCase):
    """The machine's apt configuration, in both forms."""

    def entries(self, **files):
        """What apt.py reads out of a configuration folder with these files."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = {"list": "sources.list", "sources": "sources.list.d/debian.sources"}[name]
                write(Path(folder) / path, text)
            return apt.entries(folder)

    def test_one_line(self):
        text = ("# deb http://no.example/debian bookworm main\n"
                "deb-src http://mirror.example/debian bookworm main\n"
                "deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm main contrib # why\n")
        self.assertEqual(self.entries(list=text),
                         [("http://mirror.example/debian", "bookworm", ["main", "contrib"], "/k.gpg")])

    def test_deb822(self):
        text = ("Types: deb deb-src\nURIs: http://mirror.example/debian/\nSuites: trixie trixie-updates\n"
                "Components: main\nSigned-By: /k.pgp\n\n# a comment\nEnabled: no\nTypes: deb\n"
                "URIs: http://no.example/\nSuites: trixie\nComponents: main\n")
        self.assertEqual([entry[:2] for entry in self.entries(sources=text)],
                         [("http://mirror.example/debian/", "trixie"), ("http://mirror.example/debian/", "trixie-updates")])


if __name__ == "__main__":
    unittest.main()
