#!/usr/bin/env python3
"""Prints what datasets of many arrays and many clients at once cost, as Markdown.

usage: growth_report.py ARRAYS.jsonl CLIENTS.jsonl
"""
import json
import sys


def rows(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def main():
    print("| arrays | load, s | open and read one, ms p50 | p99 | a random array of an open dataset, the first time, µs p50 | list all, ms p50 | mappings |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for row in rows(sys.argv[1]):
        opened, array = row["openAndRead"], row["arrayOfOpen"]
        print(
            f"| {row['arrays']:,} | {row['loadSeconds']:.3f} | {opened['p50Ms']:.3f} | {opened['p99Ms']:.3f}"
            f" | {1e3 * array['p50Ms']:.2f} | {row['list']['p50Ms']:.2f} | {row['maps']} |"
        )
    print("\n| processes that open at once | ms p50 | p99 | max | mapping the file without Larder, ms p50 | first open, ms p50 |")
    print("|--:|--:|--:|--:|--:|--:|")
    for row in rows(sys.argv[2]):
        opened = row["open"]
        print(
            f"| {row['readers']} | {opened['p50Ms']:.3f} | {opened['p99Ms']:.3f} | {opened['maxMs']:.3f}"
            f" | {row['map']['p50Ms']:.3f} | {row['first']['p50Ms']:.1f} |"
        )


if __name__ == "__main__":
    main()
