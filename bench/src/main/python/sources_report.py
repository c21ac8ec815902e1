#!/usr/bin/env python3
"""Prints the figures of loads of Arrow files beside those of .npy files with the same data, and of small files, as Markdown tables.

usage: sources_report.py SOURCES.jsonl
"""
import json
import statistics
import sys

# What is loaded, its name among the figures, and what it is compared with.
ROWS = (
    ("float32 rows of 4 KiB, one batch", "one-batch-arrow", "rows-npy"),
    ("the same, batches of 1,000 rows in two shards", "rows-arrow", "rows-npy"),
    ("16 columns of float64, batches of 1,000 rows (8 kB a column) in two shards", "table-arrow", "table-npy"),
    ("texts of 100 bytes, batches of 1,000 rows in two shards", "texts-arrow", "texts-npy"),
)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        runs = {run["name"]: run for run in map(json.loads, file)}
    print("| source | MiB | .npy, GB/s | Arrow, GB/s | ratio, median of rounds |")
    print("|---|--:|--:|--:|--:|")
    for words, name, peer in ROWS:
        arrow, npy = runs[name], runs[peer]
        speeds = [run["bytes"] / statistics.median(run["seconds"]) / 1e9 for run in (npy, arrow)]
        ratio = statistics.median(a / b for a, b in zip(npy["seconds"], arrow["seconds"]))
        print(f"| {words} | {arrow['bytes'] >> 20:,} | {speeds[0]:.2f} | {speeds[1]:.2f} | {ratio:.2f} |")
    images, loop = runs["files-images"], runs["files-images-loop"]
    ratio = statistics.median(a / b for a, b in zip(loop["seconds"], images["seconds"]))
    print("\n| source | MiB | a loop that reads file by file, s | --as images, s | ratio, median of rounds |")
    print("|---|--:|--:|--:|--:|")
    seconds = [statistics.median(run["seconds"]) for run in (loop, images)]
    print(f"| JPEG files of 8 to 10 kB | {images['bytes'] >> 20:,} | {seconds[0]:.2f} | {seconds[1]:.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
