# SPDX-License-Identifier: GPL-2.0
"""Kernel source packages from a Debian suite, through the machine's own apt.

The package lists and downloads are private: the suite need not be among the machine's
sources, and its own lists and cache stay as they are.
"""

import os
import shutil

from kit import apt
from kit.run import Failure, output, run

UPDATE_LIMIT = 300
DOWNLOAD_LIMIT = 1800


class Suite:
    """One package in one suite, with private lists in the folder scratch."""

    def __init__(self, package, suite, scratch):
        self.package = package
        self.suite = suite
        self.scratch = scratch
        if not shutil.which("apt-get"):
            raise Failure("this machine has no apt-get")
        for name in ("lists/partial", "cache/archives/partial"):
            (scratch / name).mkdir(parents=True)
        (scratch / "sources.list").write_text(apt.sources_list([suite]))
        self.log = scratch / "log"
        try:
            run(self.apt("apt-get", "update", "-qq", "-oAPT::Update::Error-Mode=any"),
                f"the package list of {suite}", UPDATE_LIMIT, log=self.log, cwd=scratch)
        except Failure as err:
            raise Failure(f"no package list of {suite}: {self.complaint() or err}") from err

    def apt(self, tool, *args):
        """The command line of an apt tool on the private lists."""
        options = {"Dir::Etc::sourcelist": self.scratch / "sources.list",
                   "Dir::Etc::sourceparts": os.devnull,
                   "Dir::State::lists": self.scratch / "lists",
                   "Dir::Cache": self.scratch / "cache",
                   "Acquire::Languages": "none",
                   "Acquire::Retries": "3",
                   "Acquire::http::Timeout": "30",
                   "Acquire::https::Timeout": "30"}
        if os.geteuid() == 0:
            # The scratch folder is ours alone, so the user _apt could not write there.
            options["APT::Sandbox::User"] = "root"
        return [tool, *(f"-o{name}={value}" for name, value in options.items()), *args]

    def complaint(self):
        """What apt complained about last."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        bad = [line for line in lines if line.startswith(("E:", "W:", "Err:"))]
        return bad[0][2:].strip() if bad else ""

    def versions(self):
        """The versions that the suite has, newest first; often one, or none."""
        table = output(self.apt("apt-cache", "madison", self.package),
                       f"looking for {self.package} in {self.suite}")
        rows = [[part.strip() for part in line.split("|")] for line in table.splitlines()]
        return list(dict.fromkeys(row[1] for row in rows if len(row) == 3 and "Packages" in row[2]))

    def download(self, version):
        """The package file of that version, checked by apt against the signed lists."""
        folder = self.scratch / "download"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            run(self.apt("apt-get", "download", "-q", f"{self.package}={version}"),
                f"downloading {self.package} {version}", DOWNLOAD_LIMIT, log=self.log, cwd=folder)
        except Failure as err:
            raise Failure(f"{self.package} {version} did not come: {self.complaint() or err}") from err
        files = list(folder.glob("*.deb"))
        if len(files) != 1:
            raise Failure(f"apt-get download left {len(files)} packages for {self.package} {version}")
        return files[0]
