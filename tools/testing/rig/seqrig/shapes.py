# SPDX-License-Identifier: GPL-2.0
"""The shapes of a condition: token, what it changes, and one line of text."""

import dataclasses
import re
from typing import Callable


@dataclasses.dataclass
class Shape:
    """A row of SHAPES; change(cond, match) and text(match) see the match of the token."""

    kind: str            # two shapes of one kind contradict each other
    pattern: str
    example: str
    explain: str         # {n}: the number of the token or its default
    default: int | None
    change: Callable
    notable: bool = True  # False: the line of the condition says it anyway

    def number(self, match):
        """The number in the token, or the default."""
        digits = match.groupdict().get("n")
        return int(digits) if digits else self.default

    def text(self, match):
        """The explanation with the numbers and directions of this token."""
        line = self.explain.format(n=self.number(match))
        return line + _where(match)


def _where(match):
    """Which packets a netem token touches, in words."""
    groups = match.groupdict()
    way = {"up": " to the server", "down": " to the client"}.get(groups.get("way"), "")
    return way + (", every second connection" if groups.get("half") else "")


def _set(**fields):
    """A change that sets fixed fields."""
    def change(cond, _match):
        for field, value in fields.items():
            setattr(cond, field, value)
    return change


def _number(field, default=None):
    """A change that stores the token's number in a field."""
    def change(cond, match):
        digits = match.groupdict().get("n")
        setattr(cond, field, int(digits) if digits else default)
    return change


def _netem(spec, default):
    """A change that adds one netem rule per direction."""
    def change(cond, match):
        number = int(match["n"]) if match["n"] else default
        ways = {"up": ["c2s"], "down": ["s2c"]}.get(match["way"], ["c2s", "s2c"])
        for way in ways:
            cond.netem = cond.netem + [{"direction": way, "half": bool(match["half"]),
                                        "spec": spec(number)}]
    return change


def _stop(daemon, default=40):
    """A change that freezes a daemon 5 s into the load."""
    def change(cond, match):
        cond.stop = (daemon, 5, int(match["n"]) if match["n"] else default)
    return change


def _row(kind, head, explain, change, number=None, notable=True):
    """A shape whose token is head, followed by a number: 'must', a default, or none."""
    pattern = head + {None: "", "must": r"(?P<n>[1-9]\d{0,5})"}.get(
        number, r"(?P<n>[1-9]\d{0,5})?")
    must = number == "must"
    example = head.replace("\\", "") + ("16" if must else "")
    return Shape(kind, pattern, example, explain, None if must else number, change, notable)


def _packets(head, explain, spec, default):
    """A netem shape: a number, a direction (up, down) and 'half' may follow its name."""
    return Shape(head, head + r"(?P<n>[1-9]\d{0,3})?(?P<way>up|down)?(?P<half>half)?", head,
                 explain, default, _netem(spec, default))


def _vers(token, vers):
    return _row("version", re.escape(token), f"NFS version {vers}", _set(vers=vers), notable=False)


def _enctype(token, name):
    return _row("enctype", token, f"enctype {name}", _set(enctype=name))


def _daemon(word, daemon):
    return _row("stop", "stop" + word, f"{daemon} gets SIGSTOP for {{n}} s, 5 s into the load",
                _stop(daemon), 40)


SHAPES = (
    _vers("v3", "3"), _vers("v4.0", "4.0"), _vers("v4.1", "4.1"),
    _row("nconnect", "nc", "{n} connections", _number("nconnect"), "must", notable=False),
    _packets("delay", "packets delayed {n} ms, with jitter",
             lambda n: f"delay {n}ms {max(1, n * 2 // 5)}ms", 5),
    _packets("loss", "{n} % of packets lost", lambda n: f"loss {n}%", 1),
    _packets("reorder", "{n} % of packets overtake the others",
             lambda n: f"delay 5ms reorder {n}% 50%", 25),
    _row("kill", "kill", "the client's connections are killed every {n} ms",
         _number("kill_ms", 200), 200),
    _row("hogs", "hogs", "{n} busy loops beside nfsd", _number("hogs", 2), 2),
    _row("stall", "stall", "one accepted Call in 200 sleeps {n} us on the server before its sequence"
         " number is checked", _number("stall_us", 20000), 20000),
    _row("stall", "lag", "one accepted Call in 200 sleeps on the server until about {n} others have"
         " passed it", _number("lag", 400), 400),
    _row("win", "win", "the server advertises a window of {n} and keeps no more", _number("window"),
         "must"),
    _row("lose", "lose", "the responder loses every {n}th Reply", _number("lose", 500), 500),
    _row("slowop", "slowop", "one read in about {n} RPCs takes 1.5 s on the server, after all checks",
         _number("slow_every", 5000), 5000),
    _row("throttle", "nothrottle", "the client's throttle is off", _set(throttle=False)),
    _row("throttle", "toggle", "the client's throttle goes off and on every {n} ms",
         _number("toggle_ms", 500), 500),
    _row("margin", "margin", "the client keeps {n} numbers off the end of the window",
         _number("margin"), "must"),
    _row("guard", "guard", "the client lets {n} ms pass after evidence of a number",
         _number("guard_ms"), "must"),
    _row("giveup", "giveup", "the client gives a number up after {n} ms if the window is full",
         _number("giveup_ms"), "must"),
    _row("signals", "signals", "four readers on the mount are killed every {n} ms",
         _number("signals_ms", 300), 300),
    _row("gone", "gone", "the server cannot be reached when the client unmounts", _set(gone=True)),
    _row("unload", "unload", "the client's modules are unloaded at the end (LAYER=debug)",
         _set(unload=True)),
    _row("mem", "mem", "{n} MiB of the server's memory taken", _number("mempress_mb", 1024), 1024),
    _row("vcpu", "vcpu", "{n} vCPUs per guest", _number("vcpus"), "must"),
    _row("nfsd", "nfsd", "{n} nfsd threads", _number("nfsd"), "must"),
    _row("slots", "slots", "at most {n} session slots", _number("slots"), "must"),
    _row("gssd", "t", "rpc.gssd -t {n}", _number("gssd_t"), "must"),
    _row("expire", "expire", "gss_key_expire_timeo {n} s", _number("key_expire_timeo"), "must"),
    _row("life", "life", "the user's ticket lives {n} s", _number("ticket_s"), "must"),
    _row("outage", "outage", "the server cannot be reached for NFS for {n} s, 5 s into the load",
         _number("outage_s", 20), 20),
    _daemon("gssd", "rpc.gssd"), _daemon("svcgssd", "rpc.svcgssd"),
    _daemon("mountd", "rpc.mountd"), _daemon("kdc", "krb5kdc"),
    _row("restart", "restart", "nfsd restarted {n} s into the load",
         _number("restart_after", 5), 5),
    _enctype("sha1", "aes256-cts-hmac-sha1-96"), _enctype("aes128", "aes128-cts-hmac-sha1-96"),
    _enctype("sha2", "aes256-cts-hmac-sha384-192"),
    _enctype("sha256", "aes128-cts-hmac-sha256-128"),
    _enctype("camellia", "camellia256-cts-cmac"),
)


def find(token):
    """The shape and the match of a token, or (None, None)."""
    for shape in SHAPES:
        match = re.fullmatch(shape.pattern, token)
        if match:
            return shape, match
    return None, None


def legend():
    """(token, one line) of every shape, with N for a number that it takes."""
    for shape in SHAPES:
        token = shape.pattern.split("(")[0].replace("\\", "")
        if "(?P<n>" in shape.pattern:
            token += "N" if shape.default is None else "[N]"
        if "(?P<way>" in shape.pattern:
            token += "[up|down][half]"
        text = shape.explain.format(n="N")
        yield token, text + (f" (N: {shape.default})" if shape.default else "")
