# SPDX-License-Identifier: GPL-2.0
"""Zeros that are worth something: an absence counts only beside a control that shows the fault.

A row says "no drop" or "no EIO" by a zero.  That proves nothing unless the same load, under
the same condition and for as long, shows the fault often enough on the control kernels.
"""

FAULTS = ("errors", "seqno_low", "closes", "reconnects", "retrans", "bad_mic", "bad_seqno")
TITLES = {"errors": "I/O errors", "seqno_low": "low sequence numbers",
          "closes": "closed connections", "reconnects": "reconnects",
          "retrans": "retransmits", "bad_mic": "rejected checksums",
          "bad_seqno": "bad sequence numbers in replies"}
ENOUGH = 20             # how often the control has to show a fault

PLAIN = ("base", "base")


def pairing(row):
    """client/server of a row."""
    return f"{row['client']}/{row['server']}"


def is_plain(row):
    """True for base on both sides: such a row shows faults and claims nothing."""
    return (row["client"], row["server"]) == PLAIN


def verdicts(row, control):
    """{fault: 'shown' | why not} for every zero of a row."""
    zeros = [fault for fault in FAULTS if row.get(fault) == 0]
    if control is None:
        return dict.fromkeys(zeros, "no control")
    return {fault: _verdict(control.get(fault) or 0) for fault in zeros}


def _verdict(seen):
    return "shown" if seen >= ENOUGH else f"not shown by the control ({seen})"


def link(row, control, index):
    """Note in a row which control it leans on and what that control shows."""
    row["control"] = None
    if control is not None:
        row["control"] = {"pairing": pairing(control), "condition": control["condition"],
                          "row": index}
    row["claims"] = {} if is_plain(row) else verdicts(row, control)


def total(rows, fault):
    """The sum over repeats; None when no row counted it."""
    counts = [row[fault] for row in rows if row.get(fault) is not None]
    return sum(counts) if counts else None


def controls_of(rows, everything):
    """The control rows that some rows lean on, each once."""
    indices = {row["control"]["row"] for row in rows if row.get("control")}
    return [everything[index] for index in sorted(indices)]


def summed(rows, everything):
    """The claims of all repeats of one condition and pairing, taken together.

    As many control runs stand beside them, of the same load and length, so the sums
    compare like the single rows do.
    """
    if not rows or is_plain(rows[0]):
        return {}
    sums = {fault: total(rows, fault) for fault in FAULTS}
    leaning = controls_of(rows, everything)
    control = {fault: total(leaning, fault) for fault in FAULTS} if leaning else None
    return verdicts(sums, control)


def groups(rows):
    """[(condition, pairing, rows)] in order of first appearance."""
    found = {}
    for row in rows:
        found.setdefault((row["condition"], pairing(row)), []).append(row)
    return [(*key, members) for key, members in found.items()]


def findings(everything):
    """[(condition, pairing, {what: faults})] of the subjects: which absences this run proves,
    which not, and what is still there."""
    found = []
    for condition, pair, rows in groups(everything):
        if rows[0].get("role") != "subject" or is_plain(rows[0]) or total(rows, "errors") is None:
            continue
        found.append((condition, pair, _finding(rows, summed(rows, everything), everything)))
    return found


def closing(everything):
    """The findings as lines."""
    return [f"{condition} {pair}: {what}: {', '.join(faults)}"
            for condition, pair, finding in findings(everything)
            for what, faults in finding.items()]


def _finding(rows, claims, everything):
    """{what: faults} of one condition and pairing, without empty ones."""
    leaning = controls_of(rows, everything)
    where = f" beside {pairing(leaning[0])}" if leaning else ""
    control = {fault: total(leaning, fault) or 0 for fault in FAULTS}
    zeros = [fault for fault, verdict in claims.items() if verdict != "shown"]
    few = [f"{fault} ({control[fault]})" for fault in zeros if control[fault]]
    none = [fault for fault in zeros if not control[fault]]
    found = {
        f"absence proven{where}": [fault for fault in claims if fault not in zeros],
        "zero, not proven, too few in the control": few,
        "zero, not proven, " + ("none in the control either" if leaning else "no control"): none,
        "still there": [f"{fault} {total(rows, fault)}" for fault in FAULTS if total(rows, fault)],
    }
    return {what: faults for what, faults in found.items() if faults}


def ratios(everything):
    """Throughput of patched/patched over base/base, for the flavour that has no faults."""
    lines = []
    speed = {(condition, pair): [row["mbps"] for row in rows if row.get("mbps")]
             for condition, pair, rows in groups(everything) if rows[0]["sec"] == "sys"}
    for (condition, pair), patched in speed.items():
        base = speed.get((condition, "base/base"))
        if pair == "patched/patched" and patched and base:
            new, old = sum(patched) / len(patched), sum(base) / len(base)
            lines.append(f"{condition}: throughput patched/base {new / old:.2f}"
                         f" ({new:.1f} / {old:.1f} MB/s)")
    return lines
