# SPDX-License-Identifier: GPL-2.0
"""Run a load in the client and turn what it left into results."""

import json
import time

from kit.run import Failure
from seqrig import tools

# How long the server's replies are held: from before the client's first retransmit
# (timeo=50, 5 s) to past it.
HOLDS = ("4.5", "4.8", "5.1", "5.4", "5.7", "6.0", "6.3")
STALL = 150          # seconds a load may need past its own time
FIO = ("fio", *tools.LOADS)     # loads that measure with fio
SELFTESTS = ("drc", "storm")    # loads that are programs of tools/testing/selftests/sunrpc
MOUNTS = ("main", "v3")         # of the load mixed
POINTS = 5000        # of the latency curve
RESULTS = ("errors", "iops_read", "iops_write", "mbps", "p50_us", "p99_us", "p9999_us")


def _late_replies(cond, client, server, slow):
    """Hold the replies for each time in turn, and again until the seconds are over."""
    begin = time.monotonic()
    load = client.start("load-latereply", cond.seconds + 120 + STALL * slow)
    client.call("load-latereply", 60, "progress")
    while True:
        for hold in HOLDS:
            server.call("hold", 30, hold)
            client.call("load-latereply", 120, "progress")
        if time.monotonic() - begin >= cond.seconds:
            break
    client.call("load-latereply", 10, "stop")
    client.wait(load)


def run(cond, client, server, slow=1):
    """The load, from its start to its end; Failure when it hangs or cannot run.

    slow: how much longer its last operations may take than on a plain kernel.
    """
    if cond.load == "latereply":
        _late_replies(cond, client, server, slow)
    else:
        client.call(f"load-{cond.load}", cond.seconds + (cond.outage_s or 0) + STALL * slow)


def _number(value, digits=1):
    return round(value, digits)


def _fio(raw):
    """The numbers in fio's own report."""
    try:
        text = (raw / "fio.json").read_text()
        # fio writes complaints into the same stream, before the report
        job = json.loads(text[text.index("{\n"):])["jobs"][0]
    except (OSError, ValueError, KeyError, IndexError) as err:
        raise Failure(f"fio left no report that can be read ({err})") from err
    mixed = job.get("mixed", {})
    percentile = mixed.get("clat_ns", {}).get("percentile", {})
    micro = [round(percentile.get(f"{share:.6f}", 0) / 1000) for share in (50, 99, 99.99)]
    return {"errors": job.get("total_err", 0),
            "iops_read": _number(job["read"]["iops"]),
            "iops_write": _number(job["write"]["iops"]),
            "mbps": _number((job["read"]["bw_bytes"] + job["write"]["bw_bytes"]) / 1e6, 2),
            "p50_us": micro[0], "p99_us": micro[1], "p9999_us": micro[2]}


def _shell(raw, percentiles):
    """The numbers that a load of load.sh reported; latencies are those of the RPCs."""
    try:
        lines = (raw / "load").read_text().split()
        found = {name: int(value) for name, value in (line.split("=") for line in lines)}
        mbps = found["bytes"] / max(1, found["usec"])
    except (OSError, ValueError, KeyError) as err:
        raise Failure(f"the load left no result that can be read ({err})") from err
    return {"errors": found["errors"], "iops_read": None, "iops_write": None,
            "mbps": _number(mbps, 2), "p50_us": percentiles[0], "p99_us": percentiles[1],
            "p9999_us": percentiles[2]}


def _mixed(raw, percentiles):
    """The sums of the four loads; latencies are those of the RPCs."""
    fio = [_fio(raw / f"mixed.{part}.fio") for part in MOUNTS]
    files = [_shell(raw / f"mixed.{part}.files", percentiles) for part in MOUNTS]
    total = lambda name, rows: sum(row[name] for row in rows)
    return {**files[0], "errors": total("errors", fio + files),
            **{name: _number(total(name, fio)) for name in ("iops_read", "iops_write")},
            "mbps": _number(total("mbps", fio + files), 2)}


def results(cond, raw, percentiles):
    """The row fields of RESULTS."""
    if cond.load == "mixed":
        return _mixed(raw, percentiles)
    if cond.load not in FIO:
        return _shell(raw, percentiles)
    found = _fio(raw)
    found["errors"] += tools.summary(raw).get("errors", 0)
    return found


def _points(load, raw):
    """(ms, usec, kind) of each operation."""
    if load == "mixed":
        for part in ("fio", "files"):
            for mount in MOUNTS:
                yield from _points(part, raw / f"mixed.{mount}.{part}")
    elif load in FIO:
        path, kinds = raw / "fio.log", {"0": "read", "1": "write"}
        for line in path.read_text().splitlines() if path.exists() else []:
            words = line.replace(",", " ").split()
            if len(words) >= 3 and words[2] in kinds:
                yield int(words[0]), int(words[1]) // 1000, kinds[words[2]]
    else:
        path = raw / "latency"
        for line in path.read_text().splitlines() if path.exists() else []:
            ms, usec, kind = line.split()
            yield int(ms), int(usec), kind


def latency(cond, raw, path):
    """Write the latency curve as CSV: at most POINTS points, the worst of each stretch."""
    points = sorted(_points(cond.load, raw))
    step = -(-len(points) // POINTS) or 1
    with open(path, "w", encoding="ascii") as file:
        file.write("ms,usec,kind\n")
        for first in range(0, len(points), step):
            ms, usec, kind = max(points[first:first + step], key=lambda point: point[1])
            file.write(f"{ms},{usec},{kind}\n")
