#!/usr/bin/env python3
"""Prints what it costs to publish batches to other processes as a Markdown table.

usage: fan_out_report.py FAN-OUT.jsonl
"""
import json
import sys

READS = {"none": "", "little": "a word of each", "all": "every byte"}


def rows(path):
    """Returns the rows, each with the µs of a plain copy of the same bytes."""
    with open(path) as file:
        found = [json.loads(line) for line in file if line.startswith("{")]
    copies = {row["array"]: row["microseconds"] for row in found if row["what"] == "copy"}
    return [{**row, "copyMicroseconds": copies[row["array"]]} for row in found if row["what"] == "publish"]


def main():
    print("256 shuffled rows of one array, published repeatedly; best of 5 trials\n")
    print("| bytes of a batch | processes that read it | what they read | µs a batch | batches/s | GB/s | a plain copy, µs | publishing / copy |")
    print("|--:|--:|---|--:|--:|--:|--:|--:|")
    for row in rows(sys.argv[1]):
        print(
            f"| {row['bytes']:,} | {row['consumers']} | {READS[row['reads']]} | {row['microseconds']:.2f} | {row['batchesPerSecond']:,}"
            f" | {row['gigabytesPerSecond']:.2f} | {row['copyMicroseconds']:.2f} | {row['microseconds'] / row['copyMicroseconds']:.2f} |"
        )


if __name__ == "__main__":
    main()
