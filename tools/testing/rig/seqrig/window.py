# SPDX-License-Identifier: GPL-2.0
"""What a row says about the server's sequence window: its own counters, stalls, junk, replays.

The server's file /proc/net/rpc/gss-server has lines "key value". Two of its counts can be
checked: the tracepoints count the same refusals on their own.
"""

from seqrig import counters, tools

# Key in the file: whether it counts up, so that the load's share is a difference.
SERVER = {"accepted": True, "low": True, "seen": True, "large": True, "closes": True,
          "max_lag": False, "contexts": False, "bytes": False}
TRACED = {"srv_low": "seqno_low", "srv_seen": "seqno_seen"}
# An entry of the server's context cache for an unknown handle: struct rsc in its 192 bytes, and
# a copy of the flooder's longest handle in 512.
JUNK_BYTES = 192 + 512
# KiB by which the slab of a server may move beside a load that leaves nothing.
SLAB_NOISE = 1024

FIELDS = (*(f"srv_{key}" for key in SERVER), "stalls", "junk_calls", "junk_growth",
          "replay_near", "replay_mid", "replay_far", "note")


def server(raw):
    """The fields srv_*; None each where the server's kernel has no such file or line."""
    old, new = (counters.pairs_of(raw / f"server.{when}/gss-server") or {}
                for when in ("before", "after"))
    fields = {}
    for key, counts_up in SERVER.items():
        value = new.get(key)
        if value is not None and counts_up:
            value -= old.get(key, 0)
        fields[f"srv_{key}"] = value
    return fields


def growth(raw):
    """KiB of slab that the server cannot take back, more than before the load; None if unknown."""
    sizes = []
    for when in ("before", "after"):
        path = raw / f"server.{when}/slab"
        words = path.read_text().split() if path.exists() else []
        if len(words) < 2:
            return None
        sizes.append(int(words[1]))
    return sizes[1] - sizes[0]


def fields(cond, raw):
    """All fields of FIELDS but the note."""
    found = {**dict.fromkeys(FIELDS), **server(raw)}
    found["stalls"] = (counters.pairs_of(raw / "stalls") or {}).get("stalls")
    if cond.load in tools.STRANGERS:
        counts = tools.summary(raw)
        found.update((name, counts[name]) for name in FIELDS if name in counts)
    if cond.load == "flood":
        found["junk_growth"] = growth(raw)
    return found


def note(row):
    """Where the server's counters and the trace disagree, in one line, or None."""
    wrong = [f"{ours} {row[ours]}, but the trace has {traced} {row[traced]}"
             for ours, traced in TRACED.items()
             if row.get(ours) is not None and row.get(traced) is not None
             and row[ours] != row[traced]]
    return "; ".join(wrong) or None


def facts(row):
    """What the table does not show of the experiment, in one line; '' when there was none."""
    found = []
    if row.get("stalls") is not None:
        found.append(f"{row['stalls']} calls stalled")
        if row.get("srv_max_lag") is not None:
            found.append(f"highest lag accepted {row['srv_max_lag']}")
    if row.get("junk_calls") is not None:
        found.append(f"{row['junk_calls']} junk calls, the server's slab grew by"
                     f" {row.get('junk_growth')} KiB")
    if row.get("replay_near") is not None:
        found.append(f"sent again and refused: {row['replay_near']} inside N,"
                     f" {row['replay_mid']} past N, {row['replay_far']} past H")
    return "; ".join(found + ([row["note"]] if row.get("note") else []))


def most(calls):
    """KiB of slab growth past which junk Calls do leave something behind.

    A tenth of what an entry for each would take.
    """
    return calls * JUNK_BYTES // 1024 // 10 + SLAB_NOISE


def _flood_cause(row):
    calls, grown = row["junk_calls"] or 0, row["junk_growth"]
    if grown is None:
        return "the server did not tell the size of its slab"
    if calls * JUNK_BYTES // 1024 < 4 * SLAB_NOISE:
        return f"{calls} junk calls are too few to show a growth"
    if grown > most(calls):
        return f"the server's slab grew by {grown} KiB in {calls} junk calls"
    return ""


def _replay_cause(row):
    inside = (row["replay_near"] or 0) + (row["replay_mid"] or 0)
    past = row["replay_far"] or 0
    if row["seqno_seen"] < inside or row["seqno_low"] < past:
        return (f"{inside} calls sent again inside H and {past} past it, but the window refused"
                f" {row['seqno_seen']} as seen and {row['seqno_low']} as low")
    return ""


def cause(cond, row):
    """Why the experiment of this condition failed or proves nothing; empty when it did not."""
    if (cond.stall_us or cond.lag) and not row["stalls"]:
        return "the stall switch never fired"
    if cond.load not in tools.STRANGERS:
        return ""
    if row["reconnects"]:
        return f"the mount lost connections ({row['reconnects']})"
    return _flood_cause(row) if cond.load == "flood" else _replay_cause(row)
