# SPDX-License-Identifier: GPL-2.0
"""The table of a run as text, at most 120 columns wide."""

import statistics

from seqrig import claims, throttle, window

COUNTS = (("errors", "errors"), ("bad_mic", "bad mic"), ("bad_seqno", "bad seq"),
          ("seqno_low", "seq low"), ("closes", "closes"), ("reconnects", "reconn"),
          ("retrans", "retrans"))
MARKS = {"shown": "*"}


def median(rows, field):
    """The median over repeats of a measured figure, or None."""
    values = [row[field] for row in rows if row.get(field) is not None]
    return statistics.median(values) if values else None


def millis(usec):
    """Microseconds as milliseconds, three digits that matter."""
    if usec is None:
        return "-"
    value = usec / 1000
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def whole(value):
    """A figure without decimals, or a dash."""
    return "-" if value is None else f"{value:.0f}"


def cells(condition, pair, rows, everything):
    """One line of the table as a dict of texts; the HTML page shows the same."""
    sums = claims.summed(rows, everything)
    line = {"condition": condition, "pair": pair, "runs": len(rows), "rows": rows}
    for fault, _ in COUNTS:
        count = claims.total(rows, fault)
        line[fault] = ("-" if count is None else str(count)) + MARKS.get(sums.get(fault), "")
    line["iops"] = f"{whole(median(rows, 'iops_read'))}/{whole(median(rows, 'iops_write'))}"
    line["latency"] = "/".join(millis(median(rows, field))
                               for field in ("p50_us", "p99_us", "p9999_us"))
    line["verdict"] = verdict(rows)
    return line


def verdict(rows):
    """pass, FAIL, or 'expected' for the faults of a control."""
    if any(row.get("broken") for row in rows):
        return "BROKE"
    if all(row.get("verdict") == "pass" for row in rows):
        return "pass"
    return "FAIL" if rows[0].get("role", "subject") == "subject" else "faults"


def lines(rows):
    """All table lines, a condition's pairings together, base first."""
    order = list(dict.fromkeys(row["condition"] for row in rows))
    found = sorted(claims.groups(rows), key=lambda group: (
        order.index(group[0]), group[1] != "base/base", group[2][0].get("role") != "control"))
    return [cells(*group, rows) for group in found]


def render(summary):
    """The whole table with its legend."""
    rows = summary["rows"]
    head = f"  {'client/server':<17}" + "".join(f"{title:>9}" for _, title in COUNTS)
    text = [head + f"{'IOPS r/w':>11}{'p50/p99/p99.99 ms':>18}  verdict"]
    last = None
    for line in lines(rows):
        if line["condition"] != last:
            last = line["condition"]
            text.append(last + f"  ({length(line)})")
        text.append(_text(line))
    return "\n".join(text + [""] + legend(rows) + notes(rows))


def length(line):
    """How long and how often."""
    runs = f"{line['runs']} runs of " if line["runs"] > 1 else ""
    return f"{runs}{line['rows'][0].get('seconds')} s"


def _text(line):
    """One pairing; a mark stands right of its number, which stays aligned."""
    counts = "".join(f"{line[fault].rstrip('*'):>8}{'*' if '*' in line[fault] else ' '}"
                     for fault, _ in COUNTS)
    return (f"  {line['pair']:<17}{counts}{line['iops']:>11}{line['latency']:>18}"
            f"  {line['verdict']}").rstrip()


def legend(rows):
    """What the marks mean, and which control each subject leans on."""
    text = []
    if any("*" in line[fault] for line in lines(rows) for fault, _ in COUNTS):
        text.append(f"0*  proven: the interleaved control shows this fault at least"
                    f" {claims.ENOUGH} times; 0 without a mark proves nothing")
    leaning = dict.fromkeys((claims.pairing(row), *_leans_on(row))
                            for row in rows if row.get("control"))
    text += [f"{pair} leans on {control} of the same condition{shape}, run beside it"
             " (see 'control')" for pair, control, shape in leaning]
    return text


def _leans_on(row):
    """(pairing, what is different in the condition) of a row's control."""
    control = row["control"]
    shape = control["condition"].removeprefix(row["condition"]).lstrip("-")
    return control["pairing"], f" with {shape}" if shape else ""


def crypto(rows):
    """{drivers that ran: [pairings]}; plain C drivers are called so."""
    found = {}
    for row in rows:
        names = sorted(set(row.get("crypto") or []))
        if names:
            found.setdefault(", ".join(names), set()).add(f"{row['sec']} {claims.pairing(row)}")
    return found


def notes(rows):
    """Which crypto ran, and what kept a row from passing."""
    text = []
    drivers = crypto(rows)
    for names, users in drivers.items():
        text.append(f"crypto: {names}" + (f" ({', '.join(sorted(users))})"
                                          if len(drivers) > 1 else ""))
    for index, row in enumerate(rows):
        for line in filter(None, (window.facts(row), throttle.facts(row))):
            text.append(f"{row['condition']} {claims.pairing(row)}: {line}")
        if row.get("cause") and (row.get("role") == "subject" or row.get("broken")):
            text.append(f"{row['condition']} {claims.pairing(row)}: {row['cause']}"
                        f" (row {index}, {row.get('artifacts')})")
    return text
