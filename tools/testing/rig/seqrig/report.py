# SPDX-License-Identifier: GPL-2.0
"""One self-contained HTML page of a run: headline, table, plots, and how it was made."""

import html
import string
from pathlib import Path

from seqrig import claims, plots, table
from seqrig.results import disk, load, write_atomic

HERE = Path(__file__).resolve().parent
BARS = (("errors", "I/O errors"), ("seqno_low", "Requests dropped: sequence number too low"),
        ("reconnects", "Reconnects"), ("closes", "Connections closed by the server"),
        ("retrans", "Retransmits"), ("bad_mic", "Checksums rejected (bad MIC)"))


def esc(value):
    """Text that is safe inside HTML."""
    return html.escape(str(value))


def split(rows):
    """{kind: {condition: rows}}: base/base, and the pairing under test."""
    pairs = {"base": "base/base", "patched": plots.tested(rows)}
    tested = [row for row in rows if row.get("role") != "control"]
    return {kind: {condition: members for condition, pair, members in
                   claims.groups(rows if kind == "base" else tested) if pair == wanted}
            for kind, wanted in pairs.items()}


def failed(conditions, fault="errors"):
    """How many conditions show a fault, and how often in all."""
    sums = [claims.total(rows, fault) or 0 for rows in conditions.values()]
    return sum(bool(count) for count in sums), sum(sums)


def broken(conditions):
    """How many conditions have a run without a verdict."""
    return sum(any(row.get("broken") for row in rows) for rows in conditions.values())


def headline(rows):
    """(sentence, good): the outcome of the run in one sentence."""
    kinds = split(rows)
    base, new = kinds["base"], kinds["patched"]
    if not new:
        bad, errors = failed(base)
        return (f"The base alone: {bad} of {_conditions(base)} failed, with {errors:,} I/O errors.",
                not bad and bool(base))
    who = {"patched/patched": "With the series on both sides"}.get(
        plots.tested(rows), f"With {plots.tested(rows)} as client/server")
    passed = sum(all(row.get("verdict") == "pass" for row in members) for members in new.values())
    good = passed == len(new)
    bad, errors = failed(new)
    did = (f"all {_conditions(new)} ran" if good and len(new) > 1 else f"{passed} of"
           f" {_conditions(new)} passed") + (" without an I/O error" if not errors
                                             else f", with {errors:,} I/O errors")
    return f"{who}, {did}{_against(base)}.", good


def _conditions(conditions):
    count = len(conditions)
    return f"{count} condition{'' if count == 1 else 's'}"


def _against(base):
    """The clause that compares with the base."""
    if not base:
        return "; the base was not run beside it"
    bad, errors = failed(base)
    if not errors:
        return "; the base shows none in these conditions either"
    return f"; the base failed {bad} of {len(base)}, with {errors:,} I/O errors"


def remains(rows):
    """What did not go away: said, not hidden."""
    kinds = split(rows)
    if not kinds["patched"]:
        return ""
    parts = []
    for fault, title in claims.TITLES.items():
        now, before = failed(kinds["patched"], fault)[1], failed(kinds["base"], fault)[1]
        if now and fault != "errors":
            parts.append(f"{now:,} {title} (base {before:,})")
    warned = failed({**kinds["patched"]}, "warnings")[1]
    text = "Still there: " + ", ".join(parts) + "." if parts else "No loss of any kind is left."
    if warned:
        text += f" The guests' kernels warned {warned} times."
    if broken(kinds["patched"]):
        text += f" In {broken(kinds['patched'])} conditions a guest broke."
    return f"<p>{esc(text)}</p>"


def _count(line, fault):
    """A table cell of a count; a proven zero is marked for eye and ear."""
    text = line[fault]
    if text.endswith("*"):
        return ('<td class="proven">0<span title="proven by the control"'
                ' aria-label=" proven">*</span></td>')
    return f"<td>{esc(text)}</td>"


def table_html(rows):
    """The table; a row group per condition."""
    heads = "".join(f'<th scope="col">{esc(title)}</th>' for _, title in table.COUNTS)
    out = ['<p class="soft" id="sums">Counts are sums over the repeats, IOPS and latency their'
           " medians.</p>", '<div class="scroll" role="region" aria-label="Table of counts"'
           ' tabindex="0"><table aria-labelledby="counts" aria-describedby="sums">',
           f'<thead><tr><th scope="col">client/server</th>{heads}<th scope="col">IOPS<br>read/write'
           '</th><th scope="col">latency, ms<br>p50/p99/p99.99</th><th scope="col">verdict</th>'
           "</tr></thead>"]
    last, width = None, len(table.COUNTS) + 4
    for line in table.lines(rows):
        if line["condition"] != last:
            out.append("</tbody>" if last else "")
            last = line["condition"]
            out.append(f'<tbody><tr><th class="cond" scope="rowgroup" colspan="{width}">'
                       f'{esc(last)} <span class="soft">{esc(table.length(line))}</span></th></tr>')
        out.append(_row(line))
    return "\n".join(out + ["</tbody></table></div>"])


def _row(line):
    """One pairing."""
    kind = "base" if line["pair"] == "base/base" else "patched"
    mood = {"pass": "pass", "FAIL": "fail", "BROKE": "fail"}.get(line["verdict"], "soft")
    counts = "".join(_count(line, fault) for fault, _ in table.COUNTS)
    return (f'<tr><th scope="row" class="{kind}">{esc(line["pair"])}</th>{counts}'
            f'<td>{esc(line["iops"])}</td><td>{esc(line["latency"])}</td>'
            f'<td class="{mood}">{esc(line["verdict"])}</td></tr>')


def legend_html(rows):
    """The notes under the table."""
    lines = table.legend(rows) + table.notes(rows)
    return '<ul class="soft">' + "".join(f"<li>{esc(line)}</li>" for line in lines) + "</ul>"


def key_html(rows):
    """What the two colours mean."""
    return ('<p class="key soft">'
            '<span><i style="background:var(--base)"></i>base/base</span>'
            f'<span><i style="background:var(--patched)"></i>{esc(plots.tested(rows))}</span></p>')


def bars_html(rows):
    """Figures of bars for every fault that was seen at all, some conditions in each."""
    names = list(dict.fromkeys(row["condition"] for row in rows))
    parts = [names[first:first + plots.GROUPS] for first in range(0, len(names), plots.GROUPS)]
    out = []
    for fault, title in BARS:
        counts = [plots.counted(rows, part, fault) for part in parts]
        if any(any(column) for count in counts for column in count.values()):
            out += [f"<figure>{plots.bars(fault, title, part, count)}</figure>"
                    for part, count in zip(parts, counts)]
    return "\n".join(out) or "<p>No fault was counted in any condition.</p>"


def latency_html(folder, rows):
    """A figure per condition: base above the pairing under test."""
    kinds, out = split(rows), []
    for condition in dict.fromkeys(row["condition"] for row in rows):
        panels = []
        for kind, conditions in kinds.items():
            row = next((row for row in conditions.get(condition, [])
                        if row.get("latency") and (folder / row["latency"]).is_file()), None)
            if row:
                panels.append((kind, claims.pairing(row),
                               plots.read_latency(folder / row["latency"])))
        if panels:
            picture = plots.latency(condition, panels)
            out.append(f"<figure><figcaption>{esc(condition)}</figcaption>{picture}</figure>")
    return "\n".join(out) or "<p>No latency was recorded.</p>"


def claims_html(rows):
    """Which absences are proven, which are not, and what is left."""
    items = []
    for condition, pair, finding in claims.findings(rows):
        lines = "<br>".join(f"{esc(what)}: {esc(', '.join(faults))}"
                            for what, faults in finding.items())
        items.append(f'<dt>{esc(condition)}<br><span class="patched">{esc(pair)}</span></dt>'
                     f"<dd>{lines}</dd>")
    ratios = "".join(f"<p>{esc(line)}</p>" for line in claims.ratios(rows))
    found = f"<dl>{''.join(items)}</dl>" if items else "<p>This run claims no absence.</p>"
    return found + ratios


def how_html(summary):
    """Machine, kernels, drivers."""
    meta, machine = summary["meta"], summary["meta"].get("machine", {})
    facts = {"Started": meta.get("started"), "Ended": meta.get("ended", "ended early"),
             "Base": meta.get("base_version"),
             "Machine": ", ".join(str(machine[key]) for key in ("cpu", "cores", "memory", "host")
                                  if machine.get(key)),
             "Guests run by": machine.get("accelerator"),
             "Crypto": meta.get("crypto_note")}
    for side, commit in (meta.get("commits") or {}).items():
        facts[f"Kernel '{side}'"] = commit
    items = "".join(f"<dt>{esc(name)}</dt><dd>{esc(value)}</dd>"
                    for name, value in facts.items() if value)
    return f"<dl>{items}</dl>"


def render(folder):
    """Write report.html into a results folder; returns its path."""
    folder = Path(folder)
    summary = load(folder)
    rows = summary["rows"]
    text, good = headline(rows) if rows else ("The run ended before its first result.", False)
    page = string.Template((HERE / "report.html").read_text(encoding="utf-8")).substitute(
        title=esc("NFS with Kerberos, base against series"
                  f" (make {summary['meta'].get('what', 'run')},"
                  f" {summary['meta'].get('started', '')[:10]})"),
        css=(HERE / "report.css").read_text(encoding="utf-8"),
        mood="good" if good else "bad", headline=esc(text), remains=remains(rows),
        table=table_html(rows), legend=legend_html(rows), key=key_html(rows),
        bars=bars_html(rows), latency=latency_html(folder, rows), claims=claims_html(rows),
        how=how_html(summary), repeat=esc(summary["meta"].get("repeat", "make run")))
    path = folder / "report.html"
    with disk("report.html"):
        write_atomic(path, page)
    return path
