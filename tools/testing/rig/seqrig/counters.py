# SPDX-License-Identifier: GPL-2.0
"""Turn the raw files that the guests left into numbers.

raw/ holds, per role: <role>.before/ and <role>.after/ with mountstats and RDMA counters,
<role>.hist/ with one histogram per event, dmesg.<role>, crypto.<role>.before and .after.
"""

import re

# A report in the kernel's log. An oops follows the line that says why; see warnings().
REPORT = re.compile(
    r"WARNING: |BUG: |kernel BUG at|\bOops: |general protection fault|Internal error|"
    r"INFO: task .* blocked for more than|\brcu: INFO: .*(?:stall|starved)|KASAN: |UBSAN: |"
    r"possible (?:circular|recursive|irq) lock|inconsistent lock state|suspicious RCU usage|"
    r"refcount_t: |unreferenced object|kmemleak: \d+ new suspected|page allocation failure|"
    r"sysfs: cannot create duplicate|list_(?:add|del) corruption|Kernel panic")
SAME_REPORT = re.compile(r"\bOops: |KASAN: |general protection fault|WARNING: .*\.[ch]:\d+")
SPAN = 6    # lines within which a second headline belongs to the first report


def _read(path):
    """The text of a file, empty when the guest did not write it."""
    return path.read_text(errors="replace") if path.exists() else ""


def events(folder):
    """{event: (hits, dropped)} of a folder of histograms."""
    found = {}
    for path in sorted(folder.glob("*")):
        text = _read(path)
        hits = re.search(r"Hits: (\d+)", text)
        dropped = re.search(r"Dropped: (\d+)", text)
        found[path.name] = (int(hits[1]) if hits else 0, int(dropped[1]) if dropped else 0)
    return found


def bins(text):
    """[(key, hits)] of a histogram with one integer or log2 key, smallest key first."""
    found = re.findall(r"^\{ [^:]+:\s*(?:~ 2\^)?(\d+)\s*\} hitcount:\s+(\d+)", text, re.M)
    return sorted((int(key), int(hits)) for key, hits in found)


def log2_percentiles(text, shares):
    """Upper bounds in usec from a log2 histogram of microseconds; None when it is empty."""
    rows = bins(text)
    total = sum(hits for _, hits in rows)
    result = []
    for share in shares:
        seen, bound = 0, None
        for power, hits in rows:
            seen += hits
            if total and seen >= share * total:
                bound = 2 ** power
                break
        result.append(bound)
    return result


def buckets(text):
    """[(end, hits)] of a histogram with one key in buckets; the end belongs to the bucket."""
    found = re.findall(r"^\{ [^:]+:\s*~ \d+-(\d+)\s*\} hitcount:\s+(\d+)", text, re.M)
    return sorted((int(end), int(hits)) for end, hits in found)


def file_sync(text):
    """WRITEs with stable=FILE_SYNC (2) in the histogram of nfs_initiate_write."""
    return sum(hits for key, hits in bins(text) if key == 2)


def mountstats(text):
    """(calls, transmissions, failed calls, [(kind, connect count) of each transport])."""
    calls = sent = failed = 0
    connects = []
    for line in text.splitlines():
        words = line.split()
        if line.startswith("\txprt:") and len(words) > 4:
            # "tcp": source port and bind count come first, and likewise for "rdma"
            connects.append((words[1], int(words[4])))
        elif re.match(r"\t\s*[A-Z_0-9]+: \d", line) and len(words) >= 9:
            calls, sent = calls + int(words[1]), sent + int(words[2])
            failed += int(words[9]) if len(words) > 9 else 0
    return calls, sent, failed, connects


def _reconnects(_kind, then, kind, now):
    """Connections of one transport during the load, without its very first.

    TCP transports count a connection twice: when it is started and when it stands.
    """
    each = 1 if kind == "rdma" else 2
    return -(-max(0, now - max(each, then)) // each)


def rpc(before, after):
    """What the mount did during the load: rpcs, retransmissions, reconnections."""
    old, new = mountstats(before), mountstats(after)
    firsts = old[3] + [("", 0)] * (len(new[3]) - len(old[3]))
    again = sum(_reconnects(*then, *now) for then, now in zip(firsts, new[3]))
    calls = new[0] - old[0]
    return {"rpcs": calls, "retrans": max(0, new[1] - old[1] - calls), "reconnects": again}


def pairs(text):
    """{name: number} of lines 'name number'."""
    return {name: int(value) for name, value in re.findall(r"^(\S+)\s+(-?\d+)$", text, re.M)}


def pairs_of(path):
    """{name: number} of a file of pairs; None when the guest did not write it."""
    return pairs(path.read_text(errors="replace")) if path.exists() else None


def rdma(raw):
    """The RDMA counters that moved on either guest."""
    moved = {}
    for role in ("client", "server"):
        old = pairs(_read(raw / f"{role}.before/rdma"))
        new = pairs(_read(raw / f"{role}.after/rdma"))
        for name, value in new.items():
            if value != old.get(name, 0):
                moved[f"{role}.{name}"] = value - old.get(name, 0)
    return moved


def _crypto(text):
    """{driver: reference count} of /proc/crypto."""
    found = {}
    for block in text.split("\n\n"):
        fields = dict(re.findall(r"^(\w+)\s*: (.*)$", block, re.M))
        if "driver" in fields:
            found[fields["driver"]] = int(fields.get("refcnt", 0))
    return found


def crypto(raw):
    """The drivers that gained users with the mount on either guest, by name."""
    ran = set()
    for role in ("client", "server"):
        old = _crypto(_read(raw / f"crypto.{role}.before"))
        new = _crypto(_read(raw / f"crypto.{role}.after"))
        ran |= {name for name, users in new.items() if users > max(1, old.get(name, 0))}
    return sorted(ran)


def warnings(text):
    """The headlines of the reports in a kernel log, one per report."""
    found, last = [], None
    for number, line in enumerate(text.splitlines()):
        if "[ cut here ]" in line:
            last = None
        if not REPORT.search(line):
            continue
        follows = last is not None and number - last <= SPAN and SAME_REPORT.search(line)
        if not follows:
            found.append(line.strip())
            last = number
    return found


def kernel_reports(raw):
    """The reports of both guests: their logs, and what kmemleak found."""
    found = []
    for role in ("client", "server"):
        text = _read(raw / f"dmesg.{role}")
        leaks = re.findall(r"^unreferenced object .*$", _read(raw / f"kmemleak.{role}"), re.M)
        lines = warnings(text)
        if leaks:   # the log only says how many there are
            lines = [line for line in lines if "kmemleak: " not in line] + leaks
        found += [f"{role}: {line}" for line in lines]
    return found
