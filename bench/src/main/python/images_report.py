#!/usr/bin/env python3
"""Prints what JPEG images cost on their way into a batch as a Markdown table.

usage: images_report.py IMAGES.jsonl
"""
import json
import statistics
import sys

BARS = {"torchvision": 1.5, "decode": 0.8}  # the loader's rate as a multiple of these, at least


def main():
    with open(sys.argv[1]) as file:
        rows = [json.loads(line) for line in file if line.startswith("{")]
    absent = [row["absent"] for row in rows if "absent" in row]
    rates = {(row["what"], row["threads"]): row["imagesPerSecond"] for row in rows if "absent" not in row}
    decoder = next(row["decoder"] for row in rows if row["what"] == "loader")
    names = {
        "loader": f"loader: decode, randomResizedCrop(224), randomFlip, normalize, channelsFirst ({decoder})",
        "decode": "libjpeg-turbo alone, whole images at scale 1, to RGBX",
        "torchvision": "the same steps, " + next((row["versions"] for row in rows if "versions" in row), "torchvision"),
    }
    print("JPEG files of about 500×375, shuffled, batches of 64 to float32, images a second; medians of rounds in turns\n")
    print("| | threads or workers | images/s | loader / this |\n|---|--:|--:|---|")
    for threads in sorted({threads for _, threads in rates}):
        loader = middle(rates["loader", threads])
        for what, name in names.items():
            if (what, threads) not in rates:
                continue
            rate = middle(rates[what, threads])
            bar = BARS.get(what)
            ratio = "" if bar is None else f"{loader / rate:.2f} (bar {bar}: {'reached' if loader / rate >= bar else '**missed**'})"
            print(f"| {name} | {threads} | {rate:,.0f} | {ratio} |")
    for reason in absent[:1]:
        print(f"\ntorchvision was not measured: {reason}")


def middle(rates):
    return statistics.median(rates) if isinstance(rates, list) else rates


main()
