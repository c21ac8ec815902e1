#!/usr/bin/env python3
"""Prints the figures of a load of many small files as a Markdown table.

usage: small_files_report.py SMALL-FILES.json
"""
import json
import statistics
import sys


def main():
    with open(sys.argv[1]) as file:
        run = json.load(file)
    median = {key: statistics.median(run[key]) for key in ("larder", "python", "scanning", "loading", "publishing")}
    ratio = statistics.median(p / l for l, p in zip(run["larder"], run["python"]))
    print(f"\n{run['files']:,} small .npy files, {run['workers']} threads or processes, median of {len(run['larder'])}\n")
    print("| larder load, s | scan | copy | publish | np.save(np.load()), s | ratio, median of rounds |")
    print("|--:|--:|--:|--:|--:|--:|")
    print(f"| {median['larder']:.3f} | {median['scanning']:.3f} | {median['loading']:.3f} | {median['publishing']:.3f} |"
          f" {median['python']:.3f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
