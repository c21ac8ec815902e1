#!/usr/bin/env python3
"""Prints the figures of the load of one large file beside cp as a Markdown table.

usage: ingest_report.py INGEST-HUGE_WORD.json [...]

A ratio is the median of those of the rounds, in which cp and larder take turns. The checksum's cost is that of the copying alone.
"""
import json
import os
import statistics
import sys


def main():
    rows = []
    for path in sys.argv[1:]:
        with open(path) as file:
            run = json.load(file)
        rate = {key: run["bytes"] / statistics.median(run[key]) / 1e9
                for key in ("cp", "larder", "checksummed", "unchecked")}
        ratio = statistics.median(c / l for c, l in zip(run["cp"], run["larder"]))
        cost = statistics.median(c / u for c, u in zip(run["checksummed"], run["unchecked"])) - 1
        word = os.path.basename(path)[len("ingest-"):-len(".json")]
        rows.append(f"| {word} | {rate['cp']:.2f} | {rate['larder']:.2f} | {ratio:.2f} | {rate['checksummed']:.2f} |"
                    f" {rate['unchecked']:.2f} | {100 * cost:.0f} % |")
    print(f"\nOne .npy file of {run['bytes'] / (1 << 30):.2f} GiB in page cache, {run['threads']} threads,"
          f" median of {len(run['cp'])}, GB/s\n")
    print("| tmpfs huge= | cp | larder load | ratio | copying alone | without checksum | checksum costs |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
