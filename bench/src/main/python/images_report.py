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
    measured = {(row["what"], row["threads"]): row for row in rows if "absent" not in row}
    decoder = next(row["decoder"] for row in rows if row["what"] == "loader")
    names = {
        "loader": f"loader: decode, randomResizedCrop(224), randomFlip, normalize, channelsFirst ({decoder})",
        "decode": "libjpeg-turbo alone, whole images at scale 1, to RGBX",
        "torchvision": "the same steps, " + next((row["versions"] for row in rows if "versions" in row), "torchvision"),
    }
    print("JPEG files of about 500×375, shuffled, batches of 64 to float32; medians of rounds in turns. Of the loader's threads one is the consumer's\n")
    print("| | threads or workers | images/s | processor ms an image | images/s, loader / this | processor, this / loader |\n|---|--:|--:|--:|---|--:|")
    for threads in sorted({threads for _, threads in measured}):
        loader = measured["loader", threads]
        for what, name in names.items():
            row = measured.get((what, threads))
            if row is None:
                continue
            rate, processor = middle(row["imagesPerSecond"]), middle(row["processorMs"])
            ratio, work = middle(loader["imagesPerSecond"]) / rate, processor / middle(loader["processorMs"])
            bar = BARS.get(what)
            beside = " | " if bar is None else f"{ratio:.2f} (bar {bar}: {'reached' if ratio >= bar else '**missed**'}) | {work:.2f}"
            print(f"| {name} | {threads} | {rate:,.0f} | {processor:.2f} | {beside} |")
    for reason in absent[:1]:
        print(f"\ntorchvision was not measured: {reason}")


middle = statistics.median

main()
