# SPDX-License-Identifier: GPL-2.0
"""Find the Debian mirror and keyring that this machine's own apt uses.

Nothing here names a host: the address comes from the machine's configuration (or from
the variable MIRROR), so private mirrors and frozen archives keep working.
"""

import os
import re
from pathlib import Path

from kit.run import Failure, output

KEYRINGS = ("/usr/share/keyrings/debian-archive-keyring.gpg",
            "/usr/share/keyrings/debian-archive-keyring.pgp")
RELEASES = {"oldoldstable", "oldstable", "stable", "testing", "unstable", "sid",
            "bullseye", "bookworm", "trixie", "forky"}
SCHEMES = ("http://", "https://", "file:", "copy:")


def _stanzas(text):
    """The stanzas of a deb822 file as dicts with lower-case keys."""
    for block in re.split(r"\n\s*\n", text):
        fields, key = {}, None
        for line in block.splitlines():
            if line.startswith("#"):
                continue
            if line[:1].isspace() and key:
                fields[key] += "\n" + line.strip()
            elif ":" in line:
                key, value = line.split(":", 1)
                key = key.strip().lower()
                fields[key] = value.strip()
        if fields:
            yield fields


def _deb822(text):
    """Entries (uri, suite, components, keyring) of a .sources file."""
    for fields in _stanzas(text):
        if fields.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        if "deb" not in fields.get("types", "").split():
            continue
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield (uri, suite, fields.get("components", "").split(),
                       fields.get("signed-by", ""))


def _one_line(text):
    """Entries (uri, suite, components, keyring) of a sources.list."""
    for line in text.splitlines():
        found = re.match(r"\s*deb\s+(?:\[([^]]*)\]\s*)?(\S+)\s+(\S+)\s*([^#]*)", line)
        if found:
            options, uri, suite, components = found.groups()
            signed = re.search(r"signed-by=(\S+)", options or "")
            yield uri, suite, components.split(), signed.group(1) if signed else ""


def entries(root="/etc/apt"):
    """All binary package sources that apt is configured with."""
    root, found = Path(root), []
    parts = root / "sources.list.d"
    for path in [root / "sources.list", *sorted(parts.glob("*.list"))]:
        if path.is_file():
            found += _one_line(path.read_text(errors="replace"))
    for path in sorted(parts.glob("*.sources")):
        found += _deb822(path.read_text(errors="replace"))
    return found


def _keyring(named):
    """A keyring file: the one that the entry names, else Debian's own."""
    for path in [named.split(",")[0], *KEYRINGS]:
        if path.startswith("/") and Path(path).is_file():
            return path
    raise Failure("no Debian keyring found: install the package debian-archive-keyring")


def mirror(root="/etc/apt"):
    """(uri, keyring) of the Debian archive that this machine uses."""
    chosen = os.environ.get("MIRROR")
    if chosen:
        return chosen, _keyring("")
    for uri, suite, components, named in entries(root):
        if suite in RELEASES and "main" in components and uri.startswith(SCHEMES):
            return uri.rstrip("/"), _keyring(named)
    raise Failure(f"{root} names no Debian archive with component main: set MIRROR=address")


def sources_list(suites, root="/etc/apt"):
    """The text of a private sources.list for the given suites."""
    uri, keyring = mirror(root)
    return "".join(f"deb [signed-by={keyring}] {uri} {suite} main\n" for suite in suites)


def proxy_options():
    """The proxies of the machine's apt, as option strings for another apt run."""
    dump = output(["apt-config", "dump"], "reading apt's configuration")
    return [f"{key} \"{value}\";" for key, value in
            re.findall(r'^(Acquire::https?::Proxy\S*) "([^"]+)";$', dump, re.M)]
