# SPDX-License-Identifier: GPL-2.0
"""The client's throttle: what its kernel calls its knobs and counters, and what a row says of it.

Every name of the client's kernel is here and nowhere else; the guests find them in their
environment. What the server 'responder' saw of the client, and the slow reads, belong to it.
"""

from seqrig import counters, tools

# Parameters of MODULE by the field of a condition; each has a twin of its name in SYSCTL.
MODULE, SYSCTL = "auth_rpcgss", "/proc/sys/sunrpc"
KNOBS = {"throttle": "gss_seq_throttle", "margin": "gss_seq_margin",
         "guard_ms": "gss_seq_guard_ms", "giveup_ms": "gss_seq_stall_ms"}
# Lines "name value". Name: whether it counts up, so that the load's share is a difference.
COUNTERS = "/proc/net/rpc/gss-client"
RULES = tuple(f"retired_r{rule}" for rule in range(1, 8))
LINES = {"contexts": False, "issued": True, "throttled": True, "waited_us": True,
         "spread_max": False, **dict.fromkeys(RULES, True)}
# Of these a number leaves the ledger though nobody knows that it was judged.
CONCEDED = RULES[3:]
# The event of a waiter that gets its number, and the field with its wait. A kernel without
# it has no such counts.
EVENT, WAITED = "rpcgss/rpcgss_seq_handoff", "waited_us"
STEP_US = 1000          # how exact the longest wait is

RESPONDER = ("rsp_answered", "rsp_newest", "rsp_max_lag", "rsp_low", "rsp_seen", "rsp_lost",
             "rsp_pause_ms")
FIELDS = (*(f"cli_{name}" for name in LINES), "cli_conceded", "cli_wait_max_us", *RESPONDER,
          "slow_reads")


def environment(cond):
    """Shell variables of a guest by name."""
    values = {knob: getattr(cond, field) for field, knob in KNOBS.items()}
    words = [f"{knob}={int(value)}"
             for knob, value in values.items() if value is not None]
    return {"CLIENT_MODULE": MODULE, "CLIENT_KNOBS": " ".join(words), "CLIENT_COUNTERS": COUNTERS,
            "THROTTLE_SWITCH": f"{SYSCTL}/{KNOBS['throttle']}",
            "WAIT_EVENT": EVENT, "WAIT_KEY": f"{WAITED}.buckets={STEP_US}"}


def by_hand(cond):
    """Does the condition set anything that comes with the throttle?"""
    return bool(cond.toggle_ms) or any(getattr(cond, field) is not None for field in KNOBS)


def client(raw):
    """The fields cli_* of the counters; None each where the client's kernel does not count."""
    old, new = (counters.pairs_of(raw / f"client.{when}/gss-client") or {}
                for when in ("before", "after"))
    fields = {f"cli_{name}": new[name] - (old.get(name, 0) if counts_up else 0)
              if name in new else None for name, counts_up in LINES.items()}
    late = [fields[f"cli_{name}"] for name in CONCEDED]
    fields["cli_conceded"] = None if None in late else sum(late)
    return fields


def longest_wait(raw):
    """The longest wait for a number in usec, rounded up; None if waits were not counted."""
    path = raw / "client.hist" / EVENT.rpartition("/")[2]
    if not path.exists():
        return None
    return max((end for end, _ in counters.buckets(path.read_text(errors="replace"))), default=0)


def fields(cond, raw):
    """All fields of FIELDS."""
    found = {**dict.fromkeys(FIELDS), **client(raw), "cli_wait_max_us": longest_wait(raw)}
    if cond.load == "silent":
        counts = tools.summary(raw)
        found.update((name, counts.get(name)) for name in RESPONDER)
    found["slow_reads"] = (counters.pairs_of(raw / "slow") or {}).get("slow_reads")
    return found


def facts(row):
    """What the table does not show of the throttle, in one line; '' where there is none."""
    found = []
    if row.get("cli_issued"):
        waited, issued = row["cli_throttled"], row["cli_issued"]
        share = "" if waited is None else f" ({100 * waited / issued:.1f} %)"
        found.append(f"{waited} of {issued} numbers waited{share}, {row['cli_waited_us']} us in all;"
                     f" widest spread {row['cli_spread_max']}; retired by rule 1 to {len(RULES)}: "
                     + " ".join(str(row[f"cli_{name}"]) for name in RULES))
    if row.get("cli_wait_max_us"):
        found.append(f"longest wait {row['cli_wait_max_us'] / 1000:.0f} ms")
    if row.get("rsp_newest") is not None:
        found.append(f"the responder answered {row['rsp_answered']} Calls up to number"
                     f" {row['rsp_newest']}, highest lag {row['rsp_max_lag']}, dropped"
                     f" {row['rsp_low']} for it, lost {row['rsp_lost']} Replies; no READ for"
                     f" {row['rsp_pause_ms']} ms at most")
    if row.get("slow_reads") is not None:
        found.append(f"{row['slow_reads']} slow reads")
    return "; ".join(found)


def cause(cond, row):
    """Why the experiment of this condition failed or proves nothing; empty when it did not."""
    if cond.throttle is False and row["cli_throttled"]:
        return f"{row['cli_throttled']} numbers waited, though the throttle is off"
    if cond.load == "silent" and row["rsp_newest"] is None:
        return "the responder left no report"
    if cond.lose and not row["rsp_lost"]:
        return "the responder lost no Reply"
    if cond.slow_every and not row["slow_reads"]:
        return "no read was slow"
    return ""
