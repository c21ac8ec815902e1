#!/usr/bin/env python3
"""Joins JMH's figures with numpy's from the same run and prints a Markdown table of ratios.

usage: arrays_report.py FOLDER    with what ops/bench --arrays has left there

numpy's figures from before JMH and from after are joined by their mean, so that a drift of the machine shows in neither side alone.
"""
import json
import os
import statistics
import sys


def figures(path):
    """Returns {benchmark method or method:rowBytes: (score, allocated bytes per operation)}."""
    table = {}
    with open(path) as file:
        for run in json.load(file):
            name = ".".join(run["benchmark"].split(".")[-2:])
            row = run.get("params", {}).get("rowBytes")
            alloc = run.get("secondaryMetrics", {}).get("gc.alloc.rate.norm", {}).get("score")
            table[name + (":" + row if row else "")] = (run["primaryMetric"]["score"], alloc)
    return table


def row_bytes(jmh):
    """Returns the lengths of rows that were gathered, the least first."""
    return sorted((name.split(":")[1] for name in jmh if name.startswith("GatherBenchmark.larder:")), key=int)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def read(folder):
    """Returns JMH's figures with one thread, with two, and numpy's."""
    jmh = figures(os.path.join(folder, "jmh.json"))
    for name in ("jmh-open.json", "jmh-first.json"):
        jmh |= figures(os.path.join(folder, name))
    peers = []
    for when in ("before", "after"):
        with open(os.path.join(folder, f"numpy-{when}.json")) as file:
            peers.append(json.load(file))
    return jmh, figures(os.path.join(folder, "jmh-2-threads.json")), peers


def median_ratio(ours, peer):
    """Returns how many times as fast a contender was as another, in the round in the middle."""
    return statistics.median(one / other for one, other in zip(ours, peer))


def fastest(rates, names):
    """Returns which of some contenders was the fastest, None where none of them ran."""
    return max((name for name in rates if name.startswith(names)), key=lambda name: statistics.median(rates[name]), default=None)


def gathering(rows):
    """Yields why contenders are absent, and a table for each size and kind of pages: GB/s, and how many times as fast Larder was."""
    for row in rows:
        if "absent" in row:
            yield f"Not there: {row['absent']}.\n"
    rows = [row for row in rows if "rates" in row]
    for size, pages in dict.fromkeys((row["bytes"], row["pages"]) for row in rows):
        these = [row for row in rows if (row["bytes"], row["pages"]) == (size, pages)]
        names = list(dict.fromkeys(name for row in these for name in row["rates"]))
        ours = [name for name in names if name.startswith("larder")]
        yield f"Random rows of {size >> 20} MiB on {pages} pages, one thread, GB/s; order of seed {these[0]['seed']}:\n"
        yield f"| bytes of a row | {' | '.join(names)} | {' | '.join(f'{name} / memcpy | {name} / fastest of numpy and torch' for name in ours)} |"
        yield "|--:" * (1 + len(names) + 2 * len(ours)) + "|"
        for row in these:
            rates = row["rates"]
            cells = [f"{statistics.median(rates[name]) / 1e9:.2f}" if name in rates else "" for name in names]
            for name in ours:
                for peer in fastest(rates, "memcpy"), fastest(rates, ("numpy", "torch")):
                    cells.append(f"{median_ratio(rates[name], rates[peer]):.2f}" if peer and name in rates else "")
            yield f"| {row['rowBytes']} | {' | '.join(cells)} |"
        yield ""


def main():
    one, two, peers = read(sys.argv[1])
    print(f"numpy {peers[0]['numpy']}; batches of 256 random rows per second, one thread unless said otherwise\n")
    print("| row bytes | larder | 2 threads | ratio | take(out=) | take(clip) | x[idx] | heap array | FileChannel |"
          " larder / take | larder / clip | bytes allocated per batch |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for row in row_bytes(one):
        larder, alloc = one[f"GatherBenchmark.larder:{row}"]
        both = two[f"GatherBenchmark.larder:{row}"][0]
        peer = {key: mean(p["gather"][row][key] for p in peers) for key in ("index", "take", "takeClip")}
        heap = one[f"GatherBenchmark.heapArray:{row}"][0]
        channel = one[f"GatherBenchmark.fileChannel:{row}"][0]
        print(f"| {row} | {larder:,.0f} | {both:,.0f} | {both / larder:.2f} | {peer['take']:,.0f} | {peer['takeClip']:,.0f} |"
              f" {peer['index']:,.0f} | {heap:,.0f} | {channel:,.0f} | {larder / peer['take']:.2f} |"
              f" {larder / peer['takeClip']:.2f} | {alloc:.2f} |")
    print("\n| open and read one element | µs |")
    print("|---|--:|")
    for name, label in (("first", "first in a JVM, including class loading"), ("connectOpenRead", "connect, open, read, close"),
                        ("openRead", "open, read, close"), ("repeated", "array of an open dataset")):
        print(f"| larder: {label} | {one['OpenBenchmark.' + name][0]:,.2f} |")
    print(f"| numpy: np.load(mmap_mode=\"r\") | {mean(p['openMicros'] for p in peers):,.2f} |")
    base = one["ElementBenchmark.unsafeBuffer"][0]
    print("\n| read one float at a random index | ns | more than UnsafeBuffer |")
    print("|---|--:|--:|")
    for name, label in (("unsafeBuffer", "UnsafeBuffer, index computed by hand"), ("view", "view.getFloat(i, j)"), ("window", "row window")):
        score = one["ElementBenchmark." + name][0]
        print(f"| {label} | {score:.2f} | {score - base:+.2f} |")
    with open(os.path.join(sys.argv[1], "gather.jsonl")) as file:
        print("\n" + "\n".join(gathering([json.loads(line) for line in file])))


if __name__ == "__main__":
    main()
