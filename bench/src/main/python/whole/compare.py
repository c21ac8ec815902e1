#!/usr/bin/env python3
"""Compares the figures of two reports, and fails if one has become worse.

usage: compare.py OLD NEW [--tolerance PERCENT]    folders that ops/bench has filled

Ratios to a peer of the same run are compared if there are any, else values, if both are of one kind of machine. A figure is worse if it
changes by more than the tolerance (25 % by default) and by more than the spread of either run. The tolerance is twice as large for an unknown
spread, and four times in quick reports. A figure that was disturbed in either run is not compared: its spread is too wide for a statement. A
figure that only some machines can measure may be gone.
"""
import argparse
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from harness import WIDE, widest

# Figures of old reports, which JMH measured, and the keys that replace them.
REPLACED = {f"gather.{length}": f"gather.small.{length}" for length in (64, 256, 784, 3072, 153600)} | {
    "gather.heap": "gather.heap.small.784", "gather.channel": "gather.channel.small.784"}
# The beginnings and ends of keys of figures that need a peer or memory that not every machine has.
OPTIONAL = ("gather.memcpy.", "loader.torch.", "collectives.gloo", "one-copy.java", "one-copy.python", "day.parquet.")
OPTIONAL_ENDS = (".huggingface", ".ray")
SAME_MACHINE = ("processor", "cores", "java")
UNITS = ("B", "KiB", "MiB", "GiB", "ms", "s")


def load(folder):
    path = os.path.join(folder, "figures.json")
    try:
        with open(path) as file:
            report = json.load(file)
    except (OSError, ValueError) as e:
        sys.exit(f"ops/bench: no report: folder={folder} cause={e}; make one with ops/bench --keep {folder}")
    if report.get("lacks"):
        print(f"{folder}: not everything was measured: {report['lacks']}\n")
    return report["machine"], {figure["key"]: figure for figure in report["figures"]}


def is_quick(machine):
    return machine.get("pace") == "quick"


def is_disturbed(figure):
    return figure["spread"] is not None and figure["spread"] > WIDE


def is_optional(key):
    return key.startswith(OPTIONAL) or key.endswith(OPTIONAL_ENDS)


def size(figure):
    """Returns the numbers with their units, and the settings, of a figure's description: its other words may change between two reports."""
    words = [word.strip(",") for word in figure["what"].split()]
    return [
        f"{word} {after}" if after in UNITS else word for word, after in zip(words, [*words[1:], ""]) if re.search(r"[\d=]", word)
    ]


def change(old, new):
    """Returns how many times better the new figure is."""
    if old["ratio"] and new["ratio"]:
        return new["ratio"] / old["ratio"]
    return old["value"] / new["value"] if new["less_is_better"] else new["value"] / old["value"]


def compare(old, new, is_same_machine, tolerance, unrepeated):
    """Yields (key, old, new, change or None, verdict); unrepeated is the tolerance of figures without repetitions."""
    for key in [*old, *(key for key in new if key not in old)]:
        before, after = old.get(key), new.get(key)
        if not after and REPLACED.get(key) in new:
            yield key, before, after, None, f"not compared: now {REPLACED[key]}"
            continue
        if not before or not after:
            is_missed = is_same_machine and not is_optional(key)
            yield key, before, after, None, "new" if after else "gone" if is_missed else "not there"
        elif size(before) != size(after):
            yield key, before, after, None, "not compared: of another size"
        elif is_disturbed(before) or is_disturbed(after):
            yield key, before, after, None, "not measured"
        elif not (before["ratio"] and after["ratio"]) and not is_same_machine:
            yield key, before, after, None, "not compared: another machine"
        elif not (before["ratio"] and after["ratio"]) and not (before["value"] and after["value"]):
            yield key, before, after, None, "not compared: nothing to divide by"
        else:
            times = change(before, after)
            own = widest(before["spread"], after["spread"])
            noise = unrepeated if own is None else max(tolerance, own)
            verdict = "**worse**" if times < 1 / (1 + noise) else "better" if times > 1 + noise else "the same"
            yield key, before, after, times, verdict


def shown(figure):
    if not figure:
        return ""
    return f"{figure['ratio']:.2f}×" if figure["ratio"] else f"{figure['value']:.4g} {figure['unit']}"


def main():
    parser = argparse.ArgumentParser(prog="ops/bench --compare")
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--tolerance", type=float, default=25, metavar="PERCENT")
    arguments = parser.parse_args()
    (old_machine, old), (new_machine, new) = load(arguments.old), load(arguments.new)
    if is_quick(old_machine) != is_quick(new_machine):
        quick, whole = (arguments.old, arguments.new) if is_quick(old_machine) else (arguments.new, arguments.old)
        sys.exit(f"ops/bench: only one report is quick, of less data: quick={quick} whole={whole}; compare two of a kind")
    is_same = all(old_machine[key] == new_machine[key] for key in SAME_MACHINE)
    print(f"{old_machine['commit']} to {new_machine['commit']}, {'one kind of machine' if is_same else 'another machine: only ratios are compared'}\n")
    print("| figure | old | new | change | |\n|---|--:|--:|--:|---|")
    worse = compared = 0
    tolerance = arguments.tolerance / 100
    for key, before, after, times, verdict in compare(old, new, is_same, tolerance, (4 if is_quick(new_machine) else 2) * tolerance):
        worse += verdict in ("**worse**", "gone")
        compared += times is not None
        print(f"| {key} | {shown(before)} | {shown(after)} | {f'{times:.2f}' if times else ''} | {verdict} |")
    if worse:
        sys.exit(f"\nops/bench: {worse} figures are worse or gone")
    if not compared:
        sys.exit("\nops/bench: no figure of one can be compared with one of the other")


if __name__ == "__main__":
    main()
