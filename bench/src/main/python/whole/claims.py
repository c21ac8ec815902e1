#!/usr/bin/env python3
"""Prints the measured rows of README from the report that README links to; a test compares them with README.

usage: claims.py README            prints the rows
       claims.py --write README    writes them between the marks in README
"""
import json
import os
import re
import sys

BEGIN, END = "<!-- measured -->\n", "<!-- end -->\n"

# The key of a figure, and its sentence in README, which leaves out figures that the report lacks or has not measured well enough.
CLAIMS = (
    ("one-copy.java.plain", "{what}: **{value:.2f}**; {peer_value:.1f} where {peer}"),
    ("day.step.plain-java", "{what}: **{value:.2f} s**; {peer_value:.1f} s where {peer}"),
    ("day.step.plain-python", "{what}: **{value:.2f} s**; {peer_value:.1f} s where {peer}"),
    ("day.memory.plain-python", "{what}: **{value:.1f} GiB**; {peer_value:.1f} GiB where {peer}"),
    ("ingest.large", "{what}: {value:.1f} GB/s, **{ratio:.1f}×** the speed of {peer}"),
    ("ingest.small", "{what}: **{ratio:.1f}×** the speed of {peer}"),
    ("loader.alone.djl", "{what}: **{ratio:.1f}×** the speed of {peer}"),
    ("loader.torch.samples.0", "{what}: **{ratio:.1f}×** the speed of {peer}"),
    ("collectives.gloo", "{what}: **{ratio:.1f}×** the speed of {peer}"),
    ("handles.polled", "{what}: **{value:,.0f} ns**; {peer}: {peer_value:,.0f} ns"),
)


def lines(readme):
    """Returns the lines, with their marks."""
    with open(readme) as file:
        text = file.read()
    link = re.search(r"\((bench/results/[^)]*)/report\.md\)", text)
    if not link:
        sys.exit(f"no link to a report: file={readme}")
    with open(os.path.join(os.path.dirname(os.path.abspath(readme)), link.group(1), "figures.json")) as file:
        found = {figure["key"]: figure for figure in json.load(file)["figures"]}
    claims = "".join(
        f"| {text.format(**found[key])} | `{found[key]['command']}` |\n" for key, text in CLAIMS if key in found and found[key]["measured"]
    )
    return text, BEGIN + "| measured | command |\n|---|---|\n" + claims + END


def main():
    write, readme = "--write" in sys.argv, sys.argv[-1]
    text, claims = lines(readme)
    if not write:
        sys.stdout.write(claims)
        return
    begin, end = text.index(BEGIN), text.index(END) + len(END)
    with open(readme, "w") as file:
        file.write(text[:begin] + claims + text[end:])


if __name__ == "__main__":
    main()
