#!/usr/bin/env python3
"""Prints the figures of loads beside those of what they are compared with, as Markdown tables.

usage: sources_report.py SOURCES.jsonl
"""
import json
import statistics
import sys

# What is loaded, its name among the figures, and what it is compared with.
ARROW = (
    ("float32 rows of 4 KiB, one batch", "one-batch-arrow", "rows-npy"),
    ("the same, batches of 1,000 rows in two shards", "rows-arrow", "rows-npy"),
    ("16 columns of float64, batches of 1,000 rows (8 kB a column) in two shards", "table-arrow", "table-npy"),
    ("texts of 100 bytes, batches of 1,000 rows in two shards", "texts-arrow", "texts-npy"),
)

# The same with the peer's name, and the load whose time is that of starting alone.
OTHERS = (
    ("JPEG files of 8 to 10 kB, --as images", "files-images", "a loop that reads file by file", "files-images-loop", None),
    ("Parquet, a table of 18 columns", "parquet", "pyarrow's read_table and to_numpy", "parquet-peer", None),
    ("the same, without the reader's start", "parquet", "pyarrow's read_table and to_numpy", "parquet-peer", "start-parquet"),
    ("8 objects of a bucket", "bucket", "curl, 16 connections, to files of tmpfs", "bucket-peer", None),
)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        runs = {run["name"]: run for run in map(json.loads, file)}
    print("| source | MiB | .npy, GB/s | Arrow, GB/s | ratio, median of rounds |")
    print("|---|--:|--:|--:|--:|")
    for words, name, peer in ARROW:
        arrow, npy = runs[name], runs[peer]
        speeds = [run["bytes"] / statistics.median(run["seconds"]) / 1e9 for run in (npy, arrow)]
        ratio = statistics.median(a / b for a, b in zip(npy["seconds"], arrow["seconds"]))
        print(f"| {words} | {arrow['bytes'] >> 20:,} | {speeds[0]:.2f} | {speeds[1]:.2f} | {ratio:.2f} |")
    print("\n| source | MiB | load, s | beside it | s | ratio, median of rounds |")
    print("|---|--:|--:|---|--:|--:|")
    for words, name, peer_words, peer, start in OTHERS:
        loads, others = runs[name]["seconds"], runs[peer]["seconds"]
        if start:
            loads = [taken - alone for taken, alone in zip(loads, runs[start]["seconds"])]
        ratio = statistics.median(other / load for other, load in zip(others, loads))
        seconds = [statistics.median(each) for each in (loads, others)]
        print(f"| {words} | {runs[name]['bytes'] >> 20:,} | {seconds[0]:.2f} | {peer_words} | {seconds[1]:.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
