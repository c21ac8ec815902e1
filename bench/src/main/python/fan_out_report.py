#!/usr/bin/env python3
"""Prints what it costs to publish batches to other processes as a Markdown table.

usage: fan_out_report.py FAN-OUT.jsonl
"""
import json
import statistics
import sys

WAYS = {
    "alone": "by a thread of the same process",
    "copied": "by another process, each batch copied into the ring",
    "in place": "by another process, gathered straight into the ring",
}
READS = {"none": "", "little": "a word of each", "all": "every byte"}


def load(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def rows(path):
    """Returns the rows, each with the µs of a plain copy of the same bytes."""
    found = load(path)
    copies = {row["array"]: row["microseconds"] for row in found if row["what"] == "copy"}
    return [{**row, "copyMicroseconds": copies[row["array"]]} for row in found if row["what"] == "publish"]


def feeds(path):
    """Returns {way: batches/s of each round} of the loader whose batches are read by whom its way says."""
    return {row["way"]: row["batchesPerSecond"] for row in load(path) if row["what"] == "feed"}


def main():
    print("256 shuffled rows of one array, published repeatedly; best of 5 trials\n")
    print("| bytes of a batch | processes that read it | what they read | µs a batch | batches/s | GB/s | a plain copy, µs | publishing / copy |")
    print("|--:|--:|---|--:|--:|--:|--:|--:|")
    for row in rows(sys.argv[1]):
        print(
            f"| {row['bytes']:,} | {row['consumers']} | {READS[row['reads']]} | {row['microseconds']:.2f} | {row['batchesPerSecond']:,}"
            f" | {row['gigabytesPerSecond']:.2f} | {row['copyMicroseconds']:.2f} | {row['microseconds'] / row['copyMicroseconds']:.2f} |"
        )
    found = feeds(sys.argv[1])
    print("\nA loader with one thread: 256 shuffled rows of 3 KB, every byte read; rounds in turns\n")
    print("| read | batches/s | least | most | to the same process |")
    print("|---|--:|--:|--:|--:|")
    alone = statistics.median(found["alone"])
    for way, words in WAYS.items():
        middle = statistics.median(found[way])
        print(f"| {words} | {middle:,.0f} | {min(found[way]):,} | {max(found[way]):,} | {middle / alone:.2f} |")


if __name__ == "__main__":
    main()
