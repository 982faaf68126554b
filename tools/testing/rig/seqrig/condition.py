# SPDX-License-Identifier: GPL-2.0
"""A condition: what two guests are made to do, as one name, e.g. krb5i-tcp-fio-v3.

The grammar is <sec>-<transport>-<load>[-<shape>...].  Every shape is a row of the table
SHAPES: a token (some take a number), what it changes, and the line that explains it.
"""

import dataclasses
import difflib
import fnmatch
import re

from kit.run import Failure
from seqrig import throttle
from seqrig.shapes import SHAPES, find

SECS = ("sys", "krb5", "krb5i", "krb5p")
TRANSPORTS = ("tcp", "rdma")
LOADS = {
    "fio": "fio, 8 KiB random 70/30, direct, 4 jobs x 32 in flight",
    "stream": "sequential write and read of large blocks, with fsync",
    "files": "many small files: untar, stat, rm",
    "mixed": "fio and files at once, each on a mount of v3 and one of the condition's version",
    "latereply": "replies held 4.5 to 6.3 s, past the first retransmit, in 0.3 s steps",
    "drc": "mkdir, rename, link, exclusive create and the like, each result compared with a model",
    "storm": "small reads, writes, renames and syncs of many processes, every byte compared",
    "outage": "buffered writes while the server is away and the ticket expires and is renewed",
    "replay": "small reads, and some of their Calls sent again by a stranger: at once, past N, past H",
    "silent": "small reads from a responder that drops late Calls without a word, v3",
    "flood": "a few small reads and writes beside 1000 junk Calls a second, with unknown GSS handles",
    "script": "a reproducer of the user's (LOAD=path)",
}
# What a load needs of the mount and of the tickets unless a shape says otherwise. The outage
# begins when the ticket is 5 s old at most, and ends after it has expired.
LOAD_FIELDS = {
    "latereply": {"mount_opts": "timeo=50"},
    "silent": {"vers": "3", "window": 8,
               "mount_opts": "port=2049,mountport=2049,mountvers=3,noacl,timeo=50"},
    "outage": {"mount_opts": "wsize=65536", "ticket_s": 40, "outage_s": 45, "key_expire_timeo": 1},
}
FILES = ("fio", "latereply", "replay", "flood", "silent")     # loads with files laid out before
AES_SHA1 = "aes256-cts-hmac-sha1-96"


@dataclasses.dataclass
class Condition:
    """One condition, spelled out; the engine looks at nothing but these fields."""

    name: str
    sec: str
    transport: str
    load: str
    load_path: str | None = None
    vers: str = "4.2"
    nconnect: int = 8
    seconds: int = 60
    enctype: str = AES_SHA1
    mount_opts: str = ""
    vcpus: int = 4
    nfsd: int = 8
    slots: int | None = None
    gssd_t: int | None = None
    key_expire_timeo: int | None = None
    netem: list = dataclasses.field(default_factory=list)
    kill_ms: int | None = None
    hogs: int = 0
    stall_us: int | None = None
    lag: int | None = None
    window: int | None = None
    lose: int | None = None
    slow_every: int | None = None
    throttle: bool | None = None
    toggle_ms: int | None = None
    margin: int | None = None
    guard_ms: int | None = None
    giveup_ms: int | None = None
    signals_ms: int | None = None
    gone: bool = False
    unload: bool = False
    mempress_mb: int = 0
    stop: tuple | None = None
    restart_after: int | None = None
    ticket_s: int | None = None
    outage_s: int | None = None
    seed: int | None = None


def _pick(word, valid, what, name):
    """word, if it is valid; otherwise a Failure that names the bad part and the nearest."""
    if word in valid:
        return word
    near = difflib.get_close_matches(word, valid, n=1, cutoff=0) or list(valid)[:1]
    raise Failure(f"condition '{name}': no {what} '{word}', nearest is '{near[0]}'"
                  " (make rig-list shows all)")


def parse(name, **defaults):
    """The Condition of a name; defaults are fields that a shape may still override."""
    words = name.split("-")
    words += [""] * (3 - len(words))
    sec = _pick(words[0], SECS, "security flavour", name)
    transport = _pick(words[1], TRANSPORTS, "transport", name)
    load = _pick(words[2], LOADS, "load", name)
    if load == "script" and not defaults.get("load_path"):
        raise Failure(f"condition '{name}': the load 'script' needs LOAD=path")
    cond = Condition(name, sec, transport, load, nconnect=_connections(transport, load))
    for field, value in defaults.items():
        setattr(cond, field, value)
    _shape(cond, words[3:])
    return cond


def _connections(transport, load):
    """Eight over tcp; a late reply is about one connection, and so is rdma."""
    return 8 if transport == "tcp" and load != "latereply" else 1


def _shape(cond, tokens):
    """Apply each shape token; two of one kind contradict each other."""
    seen = {}
    for field, value in LOAD_FIELDS.get(cond.load, {}).items():
        setattr(cond, field, value)
    for token in tokens:
        shape, match = find(token)
        if not shape:
            _pick(token, [row.example for row in SHAPES], "shape", cond.name)
        if shape.kind in seen:
            raise Failure(f"condition '{cond.name}': '{seen[shape.kind]}' and '{token}'"
                          " contradict each other")
        seen[shape.kind] = token
        shape.change(cond, match)
    wrong = next((text for applies, text in _rules(cond) if applies), None)
    if wrong:
        raise Failure(f"condition '{cond.name}': {wrong}")


def _rules(cond):
    """(does it apply, what is wrong with the condition then)."""
    silent = cond.load == "silent"
    sequence = (cond.stall_us or cond.lag or cond.window or cond.load == "replay"
                or throttle.by_hand(cond))
    return (
        (cond.slots and cond.vers in ("3", "4.0"), f"v{cond.vers} has no session slots"),
        (cond.load == "mixed" and (cond.vers == "3" or cond.transport != "tcp"),
         "the load 'mixed' has its own mount of v3, over tcp"),
        ((cond.outage_s or cond.gone) and cond.netem,
         "an outage and shaped packets exclude each other"),
        (silent and (cond.sec, cond.transport, cond.vers) != ("krb5", "tcp", "3"),
         "the responder knows nothing but krb5 and v3, over tcp"),
        (silent and (cond.stall_us or cond.lag or cond.restart_after or cond.slow_every),
         "the responder is no nfsd"),
        (silent and cond.window > 65536, "the responder has no such window"),
        (cond.lose and not silent, "only the responder of the load 'silent' loses Replies"),
        (cond.sec == "sys" and sequence, "sys has no sequence numbers"),
        (cond.load == "replay" and cond.transport != "tcp", "Calls can be replayed on tcp only"),
        (cond.signals_ms and cond.load not in FILES, "this load has no file for readers to kill"),
    )


def with_shape(cond, token):
    """The same condition under one shape more."""
    return parse(f"{cond.name}-{token}", seconds=cond.seconds, enctype=cond.enctype,
                 load_path=cond.load_path, seed=cond.seed)


def describe(name):
    """One line of plain words for a name."""
    cond = parse(name, load_path="-")
    links = f"{cond.nconnect} connection{'s' if cond.nconnect > 1 else ''}"
    line = f"{cond.sec} over {cond.transport}, v{cond.vers}, {links}: {LOADS[cond.load]}"
    tokens = name.split("-")[3:]
    notes = [shape.text(match) for shape, match in map(find, tokens) if shape.notable]
    return "; ".join([line] + notes)


# Shaped conditions that are worth a line of their own: each is a case seen in the field.
CURATED = (
    "krb5p-tcp-stream-sha2-nfsd16-delayhalf", "krb5p-tcp-stream-sha2-nfsd16-delayhalf-slots16",
    "krb5p-tcp-stream-sha2-nfsd16-delayhalf-slots128", "krb5p-tcp-fio-delayhalf",
    "krb5i-tcp-fio-delayhalf", "krb5i-tcp-fio-nc1", "krb5i-tcp-fio-nc16", "krb5p-tcp-fio-nc1",
    "krb5p-tcp-fio-delay", "krb5p-tcp-fio-loss", "krb5p-tcp-fio-reorder",
    "krb5i-tcp-fio-v3-reorder", "krb5i-tcp-fio-kill", "krb5i-tcp-fio-v3-kill",
    "krb5p-tcp-fio-kill", "krb5-tcp-mixed-kill", "krb5p-tcp-mixed-kill", "krb5p-tcp-files-vcpu2-hogs", "krb5p-rdma-files-vcpu2-hogs",
    "krb5p-tcp-fio-vcpu2", "krb5p-rdma-fio-vcpu2", "krb5p-tcp-fio-mem", "krb5p-tcp-fio-slots64",
    "krb5p-tcp-fio-nfsd16", "krb5-tcp-fio-t60-expire48", "krb5p-tcp-fio-t60-expire48-stopgssd",
    "krb5-tcp-fio-t60-expire48-stopkdc", "krb5p-tcp-fio-restart", "krb5i-tcp-fio-sha2",
    "krb5p-tcp-fio-sha2", "krb5p-rdma-fio-sha2", "krb5p-tcp-fio-camellia",
    "krb5i-tcp-drc-v3-kill", "krb5p-tcp-drc-v3-kill", "krb5i-tcp-drc-kill", "krb5p-tcp-drc-kill",
    "krb5i-tcp-storm-v3-kill", "krb5p-tcp-storm-v3-kill", "krb5i-tcp-storm-kill",
    "krb5p-tcp-storm-kill", "krb5p-rdma-storm", "krb5-tcp-outage-v3", "krb5p-tcp-outage-v3",
    "krb5-tcp-outage", "krb5p-tcp-outage", "krb5-tcp-outage-life600", "krb5p-tcp-fio-outage20",
)

# The client's throttle. A responder with a window of its own; what slows down one operation of
# many; what may not hang while numbers wait.
THROTTLED = (
    *(f"krb5-tcp-silent-win{window}" for window in (1, 2, 8, 32)),
    *(f"krb5-tcp-silent-win{window}-lose" for window in (1, 2, 8, 32)), "krb5-tcp-silent-kill",
    *(f"{sec}-tcp-fio-slowop" for sec in SECS[1:]), "krb5-tcp-fio-nothrottle",
    "krb5-tcp-fio-toggle", "krb5-tcp-fio-signals", "krb5-tcp-fio-gone", "krb5-tcp-fio-unload",
)

# Lag on demand: these need a server with the switch, so their control is no plain base.
STALLED = (
    *(f"{sec}-tcp-fio-hogs-lag" for sec in SECS[1:]),
    *(f"{sec}-rdma-fio-nc8-hogs-lag" for sec in SECS[1:]),
    "krb5-tcp-fio-hogs-stall", "krb5-tcp-fio-hogs-lag-win128", "krb5-rdma-fio-nc8-hogs-lag-win128",
)


def catalogue():
    """All listed conditions as (name, one line).  Globs match these; any name that follows
    the grammar can be run, listed or not."""
    names = [f"{sec}-{transport}-{load}" for load in ("fio", "stream", "files")
             for sec in SECS for transport in TRANSPORTS]
    names += [f"{sec}-{transport}-fio-{vers}" for vers in ("v3", "v4.0", "v4.1")
              for sec in SECS for transport in TRANSPORTS]
    names += [f"{sec}-tcp-{load}" for load in ("latereply-v3", "replay", "flood")
              for sec in SECS[1:]]
    return [(name, describe(name)) for name in (*names, *CURATED, *STALLED, *THROTTLED)]


def braces(word):
    """Expand {a,b} as a shell would: make hands the word over unexpanded."""
    match = re.search(r"\{([^{}]*)\}", word)
    if not match:
        return [word]
    return [full for part in match[1].split(",")
            for full in braces(word[:match.start()] + part + word[match.end():])]


def select(globs, **defaults):
    """The conditions that some globs or names select, each once, in the order asked for."""
    listed = [name for name, _ in catalogue()]
    chosen = {}
    for glob in (one for word in globs for one in braces(word)):
        hits = [glob]
        if any(sign in glob for sign in "*?["):
            hits = fnmatch.filter(_with_script(listed, defaults), glob)
            if not hits:
                near = difflib.get_close_matches(glob, listed, n=1, cutoff=0)
                raise Failure(f"no condition matches '{glob}', nearest is '{near[0]}'"
                              " (make rig-list shows all)")
        chosen.update((name, parse(name, **defaults)) for name in hits)
    return list(chosen.values())


def _with_script(listed, defaults):
    """A user's load joins the names that globs match when there is one."""
    if not defaults.get("load_path"):
        return listed
    return listed + [f"{sec}-{way}-script" for sec in SECS for way in TRANSPORTS]
