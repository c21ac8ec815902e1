#!/usr/bin/env python3
"""Prints what shared arrays and queues of handles cost, as Markdown.

usage: handles_report.py SHARED-ARRAY.jsonl HANDLE-QUEUE.jsonl
"""
import json
import statistics
import sys


def rows(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def hand_over(queue_rows):
    """Returns the medians of the trials: (socket, queue), each p50, p90 and p99 in ns."""
    def medians(what):
        trials = [row for row in queue_rows if row["what"] == what]
        return {key: statistics.median(row[key] for row in trials) for key in ("handOverP50Ns", "handOverP90Ns", "handOverP99Ns")}

    return medians("socket"), medians("queue")


def large_array(queue_rows):
    """Returns the times in µs of an array there and back where its receiver did not look at its memory, the first one left out."""
    trials = [row for row in queue_rows if row["what"] == "array"]
    return sorted(row["thereAndBackMicroseconds"] for row in trials[2::2]), trials


def main():
    print("| | elements | ns for each |\n|---|--:|--:|")
    for row in rows(sys.argv[1]):
        print(f"| {row['what']} | {row['count']:,} | {row['nanosecondsForEach']:.2f} |")
    queue_rows = rows(sys.argv[2])
    print("\n| handing over between two processes | p50, ns | p90 | p99 |\n|---|--:|--:|--:|")
    for name, row in zip(("Unix socket", "HandleQueue"), hand_over(queue_rows)):
        print(f"| {name} | {row['handOverP50Ns']:,.0f} | {row['handOverP90Ns']:,.0f} | {row['handOverP99Ns']:,.0f} |")
    times, trials = large_array(queue_rows)
    print(
        f"\nAn array of {trials[0]['bytes'] >> 20:,} MiB there and back: {trials[0]['thereAndBackMicroseconds']:,} µs the first time,"
        f" then {times[0]:,}–{times[-1]:,} µs, median {statistics.median(times):,.0f};"
        f" its receiver's memory grew by {max(row['receiverRssGrowthKiB'] for row in trials)} KiB at the most."
    )


if __name__ == "__main__":
    main()
