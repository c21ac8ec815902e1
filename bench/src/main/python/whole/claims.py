#!/usr/bin/env python3
"""Prints the lines of README that claim something measured, from the report that README links to; a test holds README against them.

usage: claims.py README            prints the lines
       claims.py --write README    puts them between its marks
"""
import json
import os
import re
import sys

BEGIN, END = "<!-- measured -->\n", "<!-- end -->\n"

# The key of a figure, and what README says of it. What a report lacks, or has not measured well enough, README does not say.
CLAIMS = (
    ("one-copy.java.plain", "{what}: **{value:.2f}**, where {peer} {peer_value:.1f}"),
    ("day.step.plain-java", "{what}: **{value:.2f} s**; where {peer} {peer_value:.1f} s"),
    ("day.step.plain-python", "{what}: **{value:.2f} s**; where {peer} {peer_value:.1f} s"),
    ("day.memory.plain-python", "a grid of 8 Python runs, peak of memory: **{value:.1f} GiB**; where {peer} {peer_value:.1f} GiB"),
    ("gather.784", "{what}: **{ratio:.1f}×** {peer}"),
    ("ingest.large", "{what}: {value:.1f} GB/s, **{ratio:.1f}×** {peer}"),
    ("ingest.small", "{what}: **{ratio:.1f}×** {peer}"),
    ("loader.alone.djl", "{what}: **{ratio:.1f}×** {peer}"),
    ("loader.torch.samples.0", "{what}: **{ratio:.1f}×** {peer}"),
    ("collectives.gloo", "{what}: **{ratio:.1f}×** {peer}"),
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
    return text, BEGIN + "| measured here | again |\n|---|---|\n" + claims + END


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
