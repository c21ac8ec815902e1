#!/usr/bin/env python3
"""Prints JMH's figures of look-ups in an index and in maps on the heap as a Markdown table.

usage: index_report.py JMH-INDEX.json
"""
import json
import sys

LABELS = (
    ("text", "larder: text, shared memory"),
    ("textHashMap", "HashMap<String, Long>"),
    ("textAgrona", "Agrona Object2ObjectHashMap"),
    ("integer", "larder: integer, shared memory"),
    ("integerAgrona", "Agrona Long2LongHashMap"),
)


def main():
    table, sizes = {}, []
    with open(sys.argv[1]) as file:
        for run in json.load(file):
            keys = int(run["params"]["keys"])
            sizes.append(keys)
            alloc = run["secondaryMetrics"]["gc.alloc.rate.norm"]["score"]
            table[run["benchmark"].split(".")[-1], keys] = (run["primaryMetric"]["score"], alloc)
    sizes = sorted(set(sizes))
    print("\n| look-up of a random key | " + " | ".join(f"{keys:,} keys, ns | B" for keys in sizes) + " |")
    print("|---" + "|--:|--:" * len(sizes) + "|")
    for name, label in LABELS:
        cells = (f"{table[name, keys][0]:,.1f} | {table[name, keys][1]:.2f}" for keys in sizes)
        print(f"| {label} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
