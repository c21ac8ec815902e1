#!/usr/bin/env python3
"""Prints the figures of loads of one large file beside cp as a Markdown table.

usage: ingest_report.py INGEST-HUGE_WORD-BYTES.json [...]

A ratio is the median of those of the rounds, in which cp and larder take turns. The checksum's cost is that of the copying alone.
"""
import json
import os
import statistics
import sys

CONTENDERS = ("cp", "larder", "checksummed", "unchecked")


def read(path):
    """Returns a row: the word of huge=, the file's size, GB/s of each, and ratios."""
    with open(path) as file:
        run = json.load(file)
    row = {name: run["bytes"] / statistics.median(run[name]) / 1e9 for name in CONTENDERS}
    plain = run.get("plain", [])
    plain_ratios = [c / alone for c, alone in zip(plain, run["unchecked"])]
    ratios = [cp / larder for cp, larder in zip(run["cp"], run["larder"])]
    return row | {
        "huge": os.path.basename(path).removesuffix(".json").removeprefix("ingest-").rpartition("-")[0],
        "bytes": run["bytes"],
        "rounds": len(run["cp"]),
        "threads": run["threads"],
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "plain": run["bytes"] / statistics.median(plain) / 1e9 if plain else None,
        "plainRatio": statistics.median(plain_ratios) if plain else None,
        "plainRatios": plain_ratios,
        "checksumCost": statistics.median(c / u for c, u in zip(run["checksummed"], run["unchecked"])) - 1,
    }


def main():
    rows = sorted((read(path) for path in sys.argv[1:]), key=lambda row: (row["huge"], row["bytes"]))
    print(f"One .npy file in page cache, {rows[0]['threads']} threads, medians, GB/s\n")
    print("| tmpfs huge= | MiB | rounds | cp | larder load | ratio | copying alone | without checksum | checksum costs | plain C "
          "| without checksum / plain C |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        print(
            f"| {row['huge']} | {row['bytes'] >> 20:,} | {row['rounds']} | {row['cp']:.2f} | {row['larder']:.2f} | {row['ratio']:.2f}"
            f" | {row['checksummed']:.2f} | {row['unchecked']:.2f} | {100 * row['checksumCost']:.0f} % |"
            + (f" {row['plain']:.2f} | {row['plainRatio']:.2f} |" if row["plain"] else " - | - |")
        )


if __name__ == "__main__":
    main()
