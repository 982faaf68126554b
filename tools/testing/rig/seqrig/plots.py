# SPDX-License-Identifier: GPL-2.0
"""Plots as inline SVG, by gnuplot: latency over time, and counted faults as bars.

The colours are CSS variables of the page, so that a plot follows its light or dark look.
"""

import csv
import re
import shutil
import subprocess

from kit.run import Failure
from seqrig import claims

BUCKETS = 160           # points along the time axis; more cannot be told apart
GROUPS = 6              # conditions in one picture of bars
GNUPLOT_LIMIT = 60      # seconds

# Colours that gnuplot is asked for, and what they become in the page.
COLOURS = {"#000001": "var(--base)", "#000002": "var(--patched)", "#000003": "var(--grid)",
           "#000004": "var(--base-soft)", "#000005": "var(--patched-soft)"}
STYLE = {"base": ("#000001", "#000004"), "patched": ("#000002", "#000005")}


def need():
    """The path of gnuplot; worth asking for before a long run."""
    tool = shutil.which("gnuplot")
    if not tool:
        raise Failure("the report needs gnuplot: install the package gnuplot-nox")
    return tool


def gnuplot(script, title):
    """Run a gnuplot script; returns an <svg> element that a screen reader can name."""
    tool = need()
    try:
        done = subprocess.run([tool, "-"], input=script, capture_output=True, text=True,
                              timeout=GNUPLOT_LIMIT, check=False)
    except subprocess.TimeoutExpired as err:
        raise Failure(f"gnuplot: no end after {GNUPLOT_LIMIT} s ({title})") from err
    if done.returncode or "<svg" not in done.stdout:
        lines = done.stderr.strip().splitlines() or ["no picture came out"]
        raise Failure(f"gnuplot: {lines[-1].strip()} ({title})")
    return tidy(done.stdout, title)


def tidy(svg, title):
    """Cut gnuplot's SVG down to what an HTML page needs."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<(desc|title)>.*?</\1>|<!--.*?-->", "", svg, flags=re.S)
    svg = re.sub(r"<defs>.*?</defs>", "", svg, flags=re.S)
    svg = re.sub(r' (id|xmlns(:xlink)?)="[^"]*"', "", svg)
    for colour, variable in COLOURS.items():
        number = int(colour[1:], 16)
        svg = re.sub(rf"rgb\( *0, *0, *{number}\)|{colour}", variable, svg)
    svg = re.sub(r'(stroke|fill)\s*=\s*"black"', r'\1="currentColor"', svg)
    svg = re.sub(r"rgb\( *0, *0, *0\)", "currentColor", svg)
    svg = re.sub(r' color="[^"]*"', "", svg)          # would decide what currentColor is
    svg = re.sub(r"stroke='black'", "stroke='currentColor'", svg)
    svg = re.sub(r"<g [^>]*>\s*</g>\n?", "", svg)     # empty groups
    svg = re.sub(r"\n\s*\n+", "\n", svg)
    label = title.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def read_latency(path):
    """[(seconds, milliseconds)] of a CSV 'ms,usec,kind', in order of time."""
    points = []
    try:
        with open(path, newline="", encoding="utf-8") as file:
            for line in csv.reader(file):
                if line and line[0].strip().replace(".", "", 1).isdigit():
                    points.append((float(line[0]) / 1000, float(line[1]) / 1000))
    except (OSError, ValueError, IndexError) as err:
        raise Failure(f"{path}: not a latency CSV ({err})") from err
    return sorted(points)


def buckets(points, end):
    """[(time, median, worst)] per slice of time; a slice in which nothing ended is None."""
    slices = [[] for _ in range(BUCKETS)]
    for when, value in points:
        slices[min(BUCKETS - 1, int(when / end * BUCKETS))].append(value)
    out = []
    for index, values in enumerate(slices):
        when = (index + 0.5) * end / BUCKETS
        values.sort()
        out.append((when, values[len(values) // 2], values[-1]) if values else (when, None, None))
    return out


def _block(name, series):
    """A gnuplot data block; an empty line breaks the curve where nothing ended."""
    lines = [f"{when:.3f} {mid:.4f} {worst:.4f}" if mid is not None else ""
             for when, mid, worst in series]
    return f"${name} << EOD\n" + "\n".join(lines) + "\nEOD\n"


def _panel(kind, name, heading, end, low, high):
    """One panel: a faint band from median to worst of each slice, the median as a line."""
    line, soft = STYLE[kind]
    return (f'set title "{heading}, ms" offset 0,-0.7\n'
            f"plot [0:{end}] [{low}:{high}] ${name} using 1:2:3 with filledcurves"
            f" fs solid 1 noborder lc rgb '{soft}' notitle,"
            f" ${name} using 1:2 with lines lw 2 lc rgb '{line}' notitle\n")


def latency(condition, panels):
    """panels: [(kind, heading, points)], base first; all share both axes."""
    end = max((points[-1][0] for *_, points in panels if points), default=0) or 1
    values = [value for *_, points in panels for _, value in points] or [1]
    low = 10 ** _floor10(max(0.001, min(values)))
    high = 10 ** (_floor10(max(values)) + 1)
    data = [_block(f"d{index}", buckets(points, end)) for index, (*_, points) in enumerate(panels)]
    plots = [_panel(kind, f"d{index}", heading, end, low, high)
             for index, (kind, heading, _) in enumerate(panels)]
    script = "".join(data) + (
        f"set term svg size 480,{20 + 140 * len(panels)} dynamic font 'sans-serif,12'\n"
        "set border 3; set tics nomirror; set logscale y; set format y '%.0s%c'; unset mytics\n"
        "set grid y lc rgb '#000003' lt 1 lw 0.5; set lmargin 6; set rmargin 2\n"
        "set tmargin 1.6; set bmargin 2.2; set format x '%g s'\n"
        f"set multiplot layout {len(panels)},1\n") + "".join(plots) + "unset multiplot\n"
    return gnuplot(script, f"Latency over time, {condition}: "
                   + ", ".join(spoken(heading, points) for _, heading, points in panels))


def spoken(heading, points):
    """A panel in words, for those who do not see it."""
    if not points:
        return f"{heading} has no samples"
    values = sorted(value for _, value in points)
    return f"{heading} median {values[len(values) // 2]:.2f} ms, worst {values[-1]:.0f} ms"


def _floor10(value):
    """The power of ten at or below a value."""
    power = 0
    while 10 ** power > value:
        power -= 1
    while 10 ** (power + 1) <= value:
        power += 1
    return power


def bars(fault, heading, conditions, counts):
    """Grouped bars; counts: {'base': [...], 'patched': [...]} with None for 'not run'."""
    lines = [f'"{name}" ' + " ".join(str(counts[kind][index] or 0) for kind in STYLE)
             for index, name in enumerate(_label(name) for name in conditions)]
    labels = "".join(_number(index, kind, counts[kind][index])
                     for index in range(len(conditions)) for kind in STYLE)
    words = max(name.count("-") + 1 for name in conditions)
    top = max((count or 0 for kind in STYLE for count in counts[kind]), default=0)
    script = (
        "$d << EOD\n" + "\n".join(lines) + "\nEOD\n"
        f"set term svg size 480,{200 + 14 * words} dynamic font 'sans-serif,12'\n"
        "set border 3; set tics nomirror; set xtics scale 0 font ',11'; set style data histograms\n"
        "set style histogram clustered gap 1; set style fill solid 1 noborder; set boxwidth 0.9\n"
        "set nonlinear y via asinh(y) inverse sinh(y)\n"
        "set ytics (0, 1, 10, 100, 1000, '10k' 10000, '100k' 100000, '1M' 1000000)\n"
        "set grid y lc rgb '#000003' lt 1 lw 0.5\n"
        f"set lmargin 6; set rmargin 1; set tmargin 1.8; set bmargin {words + 0.6}\n"
        f'set title "{heading}" offset 0,-0.5\n{labels}'
        f"plot [-0.6:{len(conditions) - 0.4}] [0:{max(10, top * 4)}]"
        " $d using 2:xtic(1) lc rgb '#000001' notitle, '' using 3 lc rgb '#000002' notitle\n")
    spoke = "; ".join(f"{name} base {_said(counts['base'][index])},"
                      f" patched {_said(counts['patched'][index])}"
                      for index, name in enumerate(conditions))
    return gnuplot(script, f"{heading} ({fault}) per condition: {spoke}")


def _said(count):
    return "not run" if count is None else str(count)


def _number(index, kind, count):
    """The figure above a bar, so that a zero is seen as a zero."""
    text = "" if count is None else f"{count / 1000:.0f}k" if count >= 10000 else str(count)
    where = index + (-0.17 if kind == "base" else 0.17)
    return (f"set label '{text}' at first {where}, first {count or 0} center offset 0,0.6"
            f" font ',10'\n")


def _label(name):
    """A condition's name, a word per line: there is no room for more."""
    return name.replace("-", "\\n")


def tested(rows):
    """The pairing that stands against base/base: patched on both sides, or what was run."""
    pairs = [claims.pairing(row) for row in rows
             if not claims.is_plain(row) and row.get("role", "subject") == "subject"]
    return "patched/patched" if "patched/patched" in pairs or not pairs else pairs[0]


def counted(rows, conditions, fault):
    """Sums of a fault per condition, for base/base and for the pairing under test."""
    found = {(condition, pair): claims.total(members, fault)
             for condition, pair, members in claims.groups(rows)}
    pairs = {"base": "base/base", "patched": tested(rows)}
    return {kind: [found.get((name, pair)) for name in conditions] for kind, pair in pairs.items()}
