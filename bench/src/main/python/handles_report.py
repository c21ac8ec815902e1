#!/usr/bin/env python3
"""Prints what shared arrays and queues of handles cost, as Markdown.

usage: handles_report.py SHARED-ARRAY.jsonl HANDLE-QUEUE.jsonl
"""
import json
import statistics
import sys

# Each writes 4 KiB, hands them over, and reads them on the other side.
WAYS = {"socket": "Unix socket that blocks", "polling-socket": "Unix socket that polls", "queue": "HandleQueue, which polls"}


def rows(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def hand_over(queue_rows):
    """Returns for each way the medians of the trials: p50, p90 and p99 in ns; and the p50 of each trial."""
    def medians(what):
        trials = [row for row in queue_rows if row["what"] == what]
        return {key: statistics.median(row[key] for row in trials) for key in ("handOverP50Ns", "handOverP90Ns", "handOverP99Ns")} | {
            "trials": [row["handOverP50Ns"] for row in trials]}

    return {what: medians(what) for what in WAYS}


def large_array(queue_rows):
    """Returns the times in µs of an array there and back where its receiver did not look at its memory, the first one left out."""
    trials = [row for row in queue_rows if row["what"] == "array"]
    return sorted(row["thereAndBackMicroseconds"] for row in trials[2::2]), trials


def main():
    print("| | elements | ns each |\n|---|--:|--:|")
    for row in rows(sys.argv[1]):
        print(f"| {row['what']} | {row['count']:,} | {row['nanosecondsForEach']:.2f} |")
    queue_rows = rows(sys.argv[2])
    print("\n| handing over between two processes | p50, ns | p90 | p99 |\n|---|--:|--:|--:|")
    found = hand_over(queue_rows)
    for what, name in WAYS.items():
        row = found[what]
        print(f"| {name} | {row['handOverP50Ns']:,.0f} | {row['handOverP90Ns']:,.0f} | {row['handOverP99Ns']:,.0f} |")
    times, trials = large_array(queue_rows)
    print(
        f"\nAn array of {trials[0]['bytes'] >> 20:,} MiB, sent there and back: {trials[0]['thereAndBackMicroseconds']:,} µs the first time,"
        f" then {times[0]:,}–{times[-1]:,} µs, median {statistics.median(times):,.0f}."
        f" The receiver's memory grew by {max(row['receiverRssGrowthKiB'] for row in trials)} KiB at the most."
    )


if __name__ == "__main__":
    main()
