"""Prints what the benchmarks of the loader measured, as Markdown. Takes the pace (quick, short or long) and the JSON of JMH, one file a round."""
import collections
import itertools
import json
import os
import statistics
import sys

import torch_peer

ROWS = 256
PICTURES = 50_000
PICTURE_BATCHES = 196
AHEAD = {"default": "prefetching (default threads)", "0": "one thread"}

Figure = collections.namedtuple("Figure", "median best processor_us alloc")


def read(paths):
    """Joins the iterations of all rounds: (benchmark, parameters) to a figure."""
    scores, processor, alloc = (collections.defaultdict(list) for _ in range(3))
    modes = {}
    for path in paths:
        with open(path) as file:
            for entry in json.load(file):
                name = entry["benchmark"].rsplit(".", 2)
                params = entry.get("params", {})
                key = ".".join(name[1:]), params.get("shape", params.get("order", "")), params.get("threads", ""), params.get("channels", "")
                modes[key] = entry["mode"]
                more = entry["secondaryMetrics"]
                for fork in entry["primaryMetric"]["rawData"]:
                    scores[key] += fork
                if "processorUs" in more:
                    for times, counts in zip(more["processorUs"]["rawData"], more["batches"]["rawData"]):
                        processor[key] += [time / count for time, count in zip(times, counts) if count]
                for fork in more.get("gc.alloc.rate.norm", more.get("·gc.alloc.rate.norm", {})).get("rawData", []):
                    alloc[key] += fork
    return {
        key: Figure(
            statistics.median(values),
            max(values) if modes[key] == "thrpt" else min(values),
            statistics.median(processor[key]) if processor[key] else None,
            statistics.median(alloc[key]) if alloc[key] else None,
        )
        for key, values in scores.items()
    }


def verdict(reached):
    return "reached" if reached else "**missed**"


def epochs(figures, _):
    print("## Shuffled epoch, 60,000×784 float32, batches of 256, to a host buffer\n")
    print("| | batches/s, median | best | GB/s, best | processor µs a batch |\n|---|---|---|---|---|")
    bare = figures["EpochBenchmark.bareGather", "", "", ""]
    djl = figures["EpochBenchmark.djlArrayDataset", "", "", ""]
    loaders = {threads: figures["EpochBenchmark.loader", "", threads, ""] for threads in ("default", "0")}
    rows = [("copies alone", bare), ("DJL ArrayDataset", djl)]
    rows += [(f"loader, {AHEAD[threads]}", figure) for threads, figure in loaders.items()]
    for name, figure in rows:
        gigabytes = figure.best * ROWS * 3136 / 1e9
        print(f"| {name} | {figure.median:,.0f} | {figure.best:,.0f} | {gigabytes:.2f} | {figure.processor_us:.0f} |")
    torch_rows()
    print("\n| loader | of DJL, median | best | processor | target | of the copies, median | best | processor | target |")
    print("|---|---|---|---|---|---|---|---|---|")
    for threads, figure in loaders.items():
        peer = [figure.median / djl.median, figure.best / djl.best, djl.processor_us / figure.processor_us]
        copies = [figure.median / bare.median, figure.best / bare.best, bare.processor_us / figure.processor_us]
        beside = f"{' | '.join(f'{ratio:.0%}' for ratio in copies)} | ≥ 90 %, {verdict(copies[1] >= 0.9)}"
        if threads != "0":
            beside = f"| | {copies[2]:.0%} |"  # several threads against one
        print(f"| {AHEAD[threads]} | {' | '.join(f'{ratio:.1f}×' for ratio in peer)} | ≥ 10×, {verdict(peer[1] >= 10)} | {beside} |")


def torch_rows():
    """Adds torch's own loader to the table, from the file beside the rounds."""
    path = os.path.join(os.path.dirname(sys.argv[2]), "torch.json")
    if not os.path.exists(path):
        return
    with open(path) as file:
        found = json.load(file)
    if "absent" in found:
        print(f"| torch.utils.data.DataLoader | absent: {found['absent']} | | | |")
    for row in found.get("ways", []):
        rates = row["batchesPerSecond"]
        print(
            f"| torch {found['torch']}, {torch_peer.WAYS[row['way']]}, {row['workers']} workers | {statistics.median(rates):,.0f} | {max(rates):,.0f}"
            f" | {max(rates) * ROWS * 3136 / 1e9:.2f} | {row['processorUs']:.0f} |"
        )


def augmented(figures, is_quick):
    print("\n## uint8 to normalised float32, random crop (padding 4), random flip\n")
    print("| shape | | samples/s, median | best | GB/s of input, best | per core | of DJL, best | processor | target |")
    print("|---|---|---|---|---|---|---|---|---|")
    for shape, size in (("28x28", 784), ("32x32x3", 3072)):
        if ("AugmentBenchmark.djlPipeline", shape, "", "") not in figures:
            continue
        djl = figures["AugmentBenchmark.djlPipeline", shape, "", ""]
        djl_us = djl.processor_us / ROWS
        print(
            f"| {shape} | DJL pipeline, channels first | {djl.median:,.0f} | {djl.best:,.0f} | {djl.best * size / 1e9:.3f}"
            f" | {size / djl_us / 1e3:.3f} | | | |"
        )
        for threads, channels in itertools.product(("0", "default"), ("first",) if is_quick else ("first", "last")):
            figure = figures["AugmentBenchmark.loader", shape, threads, channels]
            sample_us = figure.processor_us * PICTURE_BATCHES / PICTURES
            whole = figure.best * size / 1e9
            per_core = whole if threads == "0" else size / sample_us / 1e3
            ratio = figure.best / djl.best
            print(
                f"| {shape} | loader, threads {threads}, channels {channels} | {figure.median:,.0f} | {figure.best:,.0f} | {whole:.2f} | {per_core:.2f}"
                f" | {ratio:.0f}× | {djl_us / sample_us:.0f}×"
                f" | ≥ 20×, {verdict(ratio >= 20)}; ≥ 1 GB/s, {verdict(per_core >= 1)} |"
            )


def first_batches(figures, is_quick):
    print("\n## Time to the first batch, including close\n")
    print("| | ms, median | best | KiB allocated | target |\n|---|---|---|---|---|")
    for name, order, what in (
        ("fromConnect", "", "connect, open, build, shuffle, first batch"),
        ("resume", "permuted", "resume in the middle of 10⁸ samples, permuted(seed)"),
        ("buildAndResume", "permuted", "the same with a new loader"),
        ("resume", "shuffle", "resume in the middle of 10⁸ samples, shuffle(seed)"),
        ("buildAndResume", "shuffle", "the same with a new loader"),
    ):
        if is_quick and name != "fromConnect":
            continue
        figure = figures[f"FirstBatchBenchmark.{name}", order, "", ""]
        if order == "shuffle":  # its order is in memory, and made first
            print(f"| {what} | {figure.median:,.0f} | {figure.best:,.0f} | {figure.alloc / 1024:,.0f} | |")
            continue
        reached = figure.best < 20 and (name == "fromConnect" or figure.alloc < 1 << 20)
        wanted = "< 20 ms" + ("" if name == "fromConnect" else ", < 1 MiB")
        print(
            f"| {what} | {figure.median:.3f} | {figure.best:.3f} | {figure.alloc / 1024:.0f} | {wanted}, {verdict(reached)} |"
        )


def rows_of(name):
    """Returns the rows of JSON in a file beside the rounds; none where it is not there."""
    path = os.path.join(os.path.dirname(sys.argv[2]), name)
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def first_second(*_):
    """How soon a JVM that has just started is as fast as later."""
    print("\n## The first second of a JVM, one gather thread, batches of 256\n")
    print("| | batches/s after 0.1 s | 0.2 s | 0.5 s | 1 s | in the third second | the fifth tenth, of that | target |\n|---|--:|--:|--:|--:|--:|--:|---|")
    for row in rows_of("first-second.jsonl"):
        rates, later = row["batchesPerSecond"], row["later"]
        shown = " | ".join(f"{rates[tenth]:,}" for tenth in (0, 1, 4, 9))
        ratio = rates[4] / later
        print(f"| {row['array']}, {row['what']} | {shown} | {later:,} | {ratio:.2f} | ≥ 0.5, {verdict(ratio >= 0.5)} |")


def epoch_starts(*_):
    """How long the step from one epoch to the next takes where rows are very many."""
    found = rows_of("epoch-start.jsonl")
    if not found:
        return
    print("\n## From the last batch of an epoch to the first of the next\n")
    print("| order | rows | first epoch, ms | later ones | target |\n|---|--:|--:|---|---|")
    for order in dict.fromkeys(row["order"] for row in found):
        starts = [row["startMs"] for row in found if row["order"] == order]
        rows = next(row["rows"] for row in found if row["order"] == order)
        later = ", ".join(f"{start:.1f}" for start in starts[1:])
        print(f"| {order} | {rows:,} | {starts[0]:,.1f} | {later} | < 50 ms, {verdict(max(starts[1:]) < 50)} |")


def kept_rows(*_):
    """Rows that are computed once, beside computing them each time and beside plain rows."""
    found = rows_of("kept-rows.jsonl")
    if not found:
        return
    print("\n## Rows computed once, 784 float32 each, batches of 256\n")
    print("| | s, median | | s, median | ratio of the medians | best | target |\n|---|--:|---|--:|--:|--:|---|")
    first = [row for row in found if row["what"] == "first"]
    pairs = [("first epoch", "keeping", "computing each time", "computing", first, 1.1)] if first else []
    for process, what in (("first", "later epochs, who computed them"), ("later", "later epochs, another process")):
        pairs.append((what, "kept", "plain rows", "plain", [row for row in found if row.get("process") == process], 1.1))
    pairs.append(("first epoch of who has not computed them, which compares checksums", "checking", "plain rows", "plain",
                  [row for row in found if row["what"] == "later"], None))
    for what, ours, other, theirs, rows, most in pairs:
        values, others = [row[ours] for row in rows], [row[theirs] for row in rows]
        ratio, best = statistics.median(values) / statistics.median(others), min(values) / min(others)
        detail = f" of {rows[0]['rows']:,} rows" + (f", {rows[0]['micros'] / 1000:g} ms a row" if "micros" in rows[0] else "")
        target = "" if most is None else f"≤ {most}×, {verdict(best <= most)}"
        print(f"| {what}{detail} | {statistics.median(values):.4f} | {other} | {statistics.median(others):.4f} | {ratio:.2f} | {best:.2f} | {target} |")


def windows(*_):
    """Windows of an array beside rows of the same elements that are as long."""
    found = rows_of("windows.jsonl")
    if not found:
        return
    print("\n## Windows of 1,024 tokens (int32), batches of 32, one thread\n")
    print("| | GB/s, median | best | of rows, median | target |\n|---|--:|--:|--:|---|")
    speeds = {what: [row["gigabytesPerSecond"] for row in found if row["what"] == what] for what in dict.fromkeys(row["what"] for row in found)}
    for what, values in speeds.items():
        ratio = statistics.median(values) / statistics.median(speeds["rows"])
        target = "| |" if what == "rows" else f"| {ratio:.2f} | ≥ 0.9, {verdict(ratio >= 0.9)} |"
        print(f"| {what} | {statistics.median(values):.2f} | {max(values):.2f} {target}")


def uneven(*_):
    """Batches in any order beside ordered ones, where one sample in 50 takes 20 times as long."""
    found = rows_of("uneven.jsonl")
    if not found:
        return
    print("\n## One sample in 50 takes 20 times as long\n")
    print("| samples a batch | threads | slots | samples/s in their order, median | in any order | ratio | target |\n|--:|--:|--:|--:|--:|--:|---|")
    for shape in dict.fromkeys((row["batch"], row["threads"], row["slots"]) for row in found):
        rates = [
            statistics.median(
                row["samplesPerSecond"] for row in found if (row["batch"], row["threads"], row["slots"]) == shape and row["inOrder"] == ordered
            )
            for ordered in (True, False)
        ]
        ratio = rates[1] / rates[0]
        target = "" if shape[0] > 4 else f"≥ 2, {verdict(ratio >= 2)}"  # in a large batch, slow samples even out
        print(f"| {' | '.join(map(str, shape))} | {rates[0]:,.0f} | {rates[1]:,.0f} | {ratio:.2f} | {target} |")


def ring(figures, is_quick):
    if is_quick:
        return
    print("\n## The ring, batches of 256×64 B\n")
    print("| | µs a batch, median | best | processor µs | more than the copies, best | processor | target |")
    print("|---|---|---|---|---|---|---|")
    bare = figures["RingBenchmark.bareGather", "", "", ""]
    print(f"| copies alone | {bare.median:.2f} | {bare.best:.2f} | {bare.processor_us:.2f} | | | |")
    for threads in ("default", "0"):
        figure = figures["RingBenchmark.loader", "", threads, ""]
        more = figure.best - bare.best
        print(
            f"| loader, threads {threads} | {figure.median:.2f} | {figure.best:.2f} | {figure.processor_us:.2f}"
            f" | {more:.2f} | {figure.processor_us - bare.processor_us:.2f} | < 5 µs, {verdict(more < 5)} |"
        )


def main(pace, *paths):
    figures = read(paths)
    for section in (epochs, augmented, first_batches, first_second, epoch_starts, kept_rows, windows, uneven, ring):
        section(figures, pace == "quick")


main(*sys.argv[1:])
