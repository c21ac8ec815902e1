#!/usr/bin/env python3
"""Makes one report of a folder that ops/bench has filled: report.md, charts/*.svg and figures.json.

usage: report.py FOLDER [SECONDS]
"""
import collections
import contextlib
import dataclasses
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import charts
import parts
from harness import WIDE, lines, load
from parts import TITLES

LOG_LINES = 12


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def heading(machine, seconds, lacks):
    changed = " with changes" if machine["changed"] else ""
    yield "# Measurements\n"
    yield (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memoryGiB']} GiB, Linux {machine['kernel']}, JDK {machine['java']},"
        f" Python {machine['python']}; /dev/shm {machine['shm']}, huge pages of shared memory: {machine['hugePages']};"
        f" commit {machine['commit']}{changed}; load before: {machine['loadBefore']:.2f}"
        + (f"; {seconds} s in all" if seconds else "")
        + ".\n"
    )
    if lacks:
        yield f"**Not everything was measured**: {lacks}.\n"
    if machine.get("pace") == "quick":
        yield "**A quick run**, with less data, fewer shapes and shorter measurements. For figures to keep, run `ops/bench` without `--quick`.\n"
    if "note" in machine:  # put there by hand
        yield machine["note"] + "\n"
    yield (
        "Read the ratios. Each compares two figures of this run, measured in turns or one after the other, so the speed of the machine cancels"
        " out. If other programs used the machine meanwhile, the spread shows it: (most - least) / median of the repetitions in this run. A"
        " difference between two reports that is smaller than the spread means nothing, and a ratio whose spread is over"
        f" {100 * WIDE:.0f} % counts as not measured. Where the spread is unknown, one side was measured once or its repetitions were"
        " not kept: that ratio is an indication, and README does not quote it. `ops/bench --compare OLD NEW` compares two reports."
        " GB are 10⁹ bytes, GiB 2³⁰.\n"
    )


def summary(found):
    yield "| what | larder | peer | | times better | spread | command |"
    yield "|---|--:|---|--:|--:|--:|---|"
    for figure in found:
        ratio = f"**{figure.ratio:.2f}**" if figure.ratio else ""
        if not figure.measured:
            ratio = "not measured" if figure.spread is not None else f"{figure.ratio:.2f}" if figure.ratio else ""
        peer_value = f"{number(figure.peer_value)} {figure.unit}" if figure.peer else ""
        own_spread = "unknown" if figure.spread is None else f"{100 * figure.spread:.0f} %"
        yield (
            f"| {figure.what} | {number(figure.value)} {figure.unit} | {figure.peer} | {peer_value} | {ratio} | {own_spread} | `{figure.command}` |"
        )


def part(folder, name, row, drawn, wrong):
    """Yields the section of a part; `row` shows how it ended, and is None if it did not run."""
    yield f"\n## {TITLES[name]}\n"
    if not row:
        yield f"**Not run**; `ops/bench --{name}` does."
        return
    code = row.get("exitCode", 0)
    if code:
        yield f"**Failed** after {row['seconds']} s with exit code {code}; what follows was measured until then. Its last lines:\n"
        yield "```\n" + last_lines(os.path.join(folder, name, "log.txt")) + "\n```\n"
    for file, title in drawn:
        yield f"![{title}](charts/{file})\n"
    if wrong:
        yield f"**Figures are missing**: {wrong}\n"
    with contextlib.suppress(FileNotFoundError), open(os.path.join(folder, name, "report.md")) as file:
        for line in file.read().rstrip().splitlines():
            yield "#" + line if line.startswith("##") else line


def last_lines(path):
    with contextlib.suppress(FileNotFoundError), open(path, errors="replace") as file:
        return "".join(collections.deque(file, LOG_LINES)).rstrip()
    return ""


def problems(folder, rows, wrong):
    """Yields the gaps of the report in words."""
    failed = [name for name in TITLES if rows.get(name, {}).get("exitCode")]
    missing = [name for name in TITLES if name not in rows]
    whole = [name for name in rows if name not in failed]
    incomplete = [name for name in whole if name in wrong or not os.path.exists(os.path.join(folder, name, "report.md"))]
    for state, names in (("failed", failed), ("not run", missing), ("without all figures", incomplete)):
        if names:
            yield f"{state}: {', '.join(names)}"


def main():
    folder = sys.argv[1]
    found, without_figures = parts.collected(folder, "figures")
    drawn, without_charts = charts.draw_all(folder)
    wrong = without_charts | without_figures
    found = [dataclasses.replace(figure, command=f"ops/bench --{name}") for name, figures in found.items() for figure in figures]
    machine = load(folder, "machine.json")
    rows = {row["part"]: row for row in lines(folder, "parts.jsonl")}
    lacks = "; ".join(problems(folder, rows, wrong))
    text = [*heading(machine, sys.argv[2] if len(sys.argv) > 2 else "", lacks), *summary(found)]
    for name in TITLES:
        text += part(folder, name, rows.get(name), drawn.get(name, []), wrong.get(name))
    with open(os.path.join(folder, "report.md"), "w") as file:
        file.write("\n".join(text) + "\n")
    with open(os.path.join(folder, "figures.json"), "w") as file:
        json.dump({"machine": machine, "lacks": lacks, "figures": [figure.json() for figure in found]}, file, indent=1, ensure_ascii=False)
        file.write("\n")
    if lacks:
        sys.exit(f"ops/bench: {lacks}; report={folder}/report.md")


if __name__ == "__main__":
    main()
