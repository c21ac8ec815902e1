"""Prints what CollectivesBenchmark measured, and other engines in the same run, as a table with ratios.

    collectives_report.py FILE.jsonl
"""

import json
import sys


def size(count):
    for unit, length in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= length:
            return f"{count // length} {unit}"
    return "" if count == 0 else f"{count} B"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.startswith("{")]
    ours = {(row["what"], row["ranks"], row["bytes"]): row["medianUs"] for row in rows if row["engine"] == "larder"}
    print("| what | ranks | bytes | engine | best µs | median µs | median GB/s | processor µs | larder is faster by |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in sorted(rows, key=lambda row: (row["what"], row["ranks"], row["bytes"], row["engine"] != "larder")):
        own = ours.get((row["what"], row["ranks"], row["bytes"]))
        speed = f"{row['bytes'] / row['medianUs'] / 1e3:.2f}" if row["bytes"] else ""
        cpu = f"{row['cpuUs']:.2f}" if row.get("cpuUs") else ""
        ratio = f"{row['medianUs'] / own:.2f}" if own and row["engine"] != "larder" else ""
        print(
            f"| {row['what']} | {row['ranks']} | {size(row['bytes'])} | {row['engine']} | {row['bestUs']:.2f} |"
            f" {row['medianUs']:.2f} | {speed} | {cpu} | {ratio} |"
        )


if __name__ == "__main__":
    main()
