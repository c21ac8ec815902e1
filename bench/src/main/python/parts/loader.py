"""Batches of a loader, next to DJL, torch and plain copies."""
import glob
import itertools
import os

from harness import LIMIT, OURS, PEER, Chart, Jmh, figure, lines, lines_if_any, load, markdown, median, table, verdict

ROWS, ROW_BYTES = 256, 3136
PICTURES, PICTURE_BATCHES = 50_000, 196
RESUMED_ROWS = 100_000_000
IMAGES, SHORT = "images-f4", "rows-64"
BARE, DJL = "EpochBenchmark.bareGather", "EpochBenchmark.djlArrayDataset"
AHEAD = {"default": "prefetching (default threads)", "0": "one thread"}
TORCH = {"samples": "torch DataLoader(TensorDataset)", "batches": "torch DataLoader with a BatchSampler as its sampler"}
FIRST_BATCHES = (
    ("fromConnect", "", "connect, open, build, shuffle, first batch"),
    ("resume", "permuted", "resume in the middle of 10⁸ samples, permuted(seed)"),
    ("buildAndResume", "permuted", "the same with a new loader"),
    ("resume", "shuffle", "resume in the middle of 10⁸ samples, shuffle(seed)"),
    ("buildAndResume", "shuffle", "the same with a new loader"),
)


def tables(folder, pace):
    runs = Jmh(*sorted(glob.glob(os.path.join(glob.escape(folder), "round-*.json"))))
    is_quick = pace == "quick"
    yield from epochs(runs, torch(folder))
    yield from augmented(runs, is_quick)
    yield from first_batches(runs, is_quick)
    for rows, section in (("first-second", first_second), ("epoch-start", epoch_starts), ("kept-rows", kept_rows), ("windows", windows), ("uneven", uneven)):
        found = lines_if_any(folder, rows + ".jsonl")
        if found:
            yield from section(found)
    if not is_quick:
        yield from ring(runs)


def torch(folder):
    """Returns the measurements of torch's own loader, or why there are none."""
    path = os.path.join(folder, "torch.json")
    return load(path) if os.path.exists(path) else {}


def torch_ways(found):
    """Yields the way, the number of workers, and the figures."""
    for row in found.get("ways", []):
        yield *row["key"].split("."), row


def epochs(runs, found):
    yield "## Shuffled epoch, 60,000×784 float32, batches of 256, to a host buffer\n"
    bare, djl = runs(BARE, array=IMAGES), runs(DJL)
    loaders = {threads: runs("EpochBenchmark.loader", array=IMAGES, threads=threads) for threads in AHEAD}
    rows = [[name, run.median, run.best, run.processor_us] for name, run in (
        ("copies alone", bare), ("DJL ArrayDataset", djl), *((f"loader, {AHEAD[threads]}", run) for threads, run in loaders.items()))]
    rows += [[f"torch {found['torch']}, {TORCH[way]}, {workers} workers", median(row["batchesPerSecond"]), max(row["batchesPerSecond"]),
              median(row["processorUs"])] for way, workers, row in torch_ways(found)]
    cells = [[name, f"{middle:,.0f}", f"{best:,.0f}", f"{best * ROWS * ROW_BYTES / 1e9:.2f}", f"{us:.0f}"] for name, middle, best, us in rows]
    absent = [["torch.utils.data.DataLoader", f"absent: {found['absent']}", "", "", ""]] if "absent" in found else []
    yield markdown(["", "batches/s, median", "best", "GB/s, best", "processor µs a batch"], cells + absent)
    rows = []
    for threads, run in loaders.items():
        times = [run.median / djl.median, run.best / djl.best, djl.processor_us / run.processor_us]
        shares = [f"{share:.0%}" for share in (run.median / bare.median, run.best / bare.best, bare.processor_us / run.processor_us)]
        target = f"≥ 90 %, {verdict(run.best / bare.best >= 0.9)}"
        copies = [*shares, target] if threads == "0" else ["", "", shares[2], ""]  # several threads cannot be compared with one
        rows.append([AHEAD[threads], *(f"{each:.1f}×" for each in times), f"≥ 10×, {verdict(times[1] >= 10)}", *copies])
    yield "\n" + markdown(["loader", "of DJL, median", "best", "processor", "target", "of the copies, median", "best", "processor", "target"], rows)


def augmented(runs, is_quick):
    yield "\n## uint8 to normalised float32, random crop (padding 4), random flip\n"
    rows = []
    for shape, size in ("28x28", 784), ("32x32x3", 3072):
        djl = runs.find("AugmentBenchmark.djlPipeline", shape=shape)
        if not djl:
            continue
        djl_us = djl.processor_us / ROWS
        rows.append([shape, "DJL pipeline, channels first", f"{djl.median:,.0f}", f"{djl.best:,.0f}", f"{djl.best * size / 1e9:.3f}",
                     f"{size / djl_us / 1e3:.3f}", "", "", ""])
        for threads, channels in itertools.product(("0", "default"), ("first",) if is_quick else ("first", "last")):
            run = runs("AugmentBenchmark.loader", shape=shape, threads=threads, channels=channels)
            sample_us, whole, ratio = run.processor_us * PICTURE_BATCHES / PICTURES, run.best * size / 1e9, run.best / djl.best
            per_core = whole if threads == "0" else size / sample_us / 1e3
            rows.append([shape, f"loader, threads {threads}, channels {channels}", f"{run.median:,.0f}", f"{run.best:,.0f}", f"{whole:.2f}", f"{per_core:.2f}",
                         f"{ratio:.0f}×", f"{djl_us / sample_us:.0f}×", f"≥ 20×, {verdict(ratio >= 20)}; ≥ 1 GB/s, {verdict(per_core >= 1)}"])
    yield markdown(["shape", "", "samples/s, median", "best", "GB/s of input, best", "per core", "of DJL, best", "processor", "target"], rows)


def first_batches(runs, is_quick):
    yield "\n## Time to the first batch, including close\n"
    rows = []
    for name, order, what in FIRST_BATCHES[:1] if is_quick else FIRST_BATCHES:
        run = runs("FirstBatchBenchmark." + name, **({"order": order} if order else {}))
        if order == "shuffle":  # its order is in memory, and is made first
            rows.append([what, f"{run.median:,.0f}", f"{run.best:,.0f}", f"{run.alloc / 1024:,.0f}", ""])
            continue
        reached = run.best < 20 and (not order or run.alloc < 1 << 20)
        rows.append([what, f"{run.median:.3f}", f"{run.best:.3f}", f"{run.alloc / 1024:.0f}", f"< 20 ms{', < 1 MiB' if order else ''}, {verdict(reached)}"])
    yield markdown(["", "ms, median", "best", "KiB allocated", "target"], rows)


def first_second(found):
    """Yields how soon a JVM that has just started is as fast as later."""
    yield "\n## The first second of a JVM, one gather thread, batches of 256\n"
    rows = [row | {"ratio": (ratio := row["batchesPerSecond"][4] / row["later"]), "verdict": verdict(ratio >= 0.5)} for row in found]
    yield table(rows, {
        "": "{array}, {what}", "batches/s after 0.1 s": "{batchesPerSecond[0]:,}", "0.2 s": "{batchesPerSecond[1]:,}", "0.5 s": "{batchesPerSecond[4]:,}",
        "1 s": "{batchesPerSecond[9]:,}", "in the third second": "{later:,}", "the fifth tenth, of that": "{ratio:.2f}", "target": "≥ 0.5, {verdict}",
    })


def epoch_starts(found):
    """Yields how long the step from one epoch to the next takes if there are very many rows."""
    yield "\n## From the last batch of an epoch to the first of the next\n"
    rows = []
    for order in dict.fromkeys(row["order"] for row in found):
        starts = [row["startMs"] for row in found if row["order"] == order]
        count = next(row["rows"] for row in found if row["order"] == order)
        rows.append([order, f"{count:,}", f"{starts[0]:,.1f}", ", ".join(f"{start:.1f}" for start in starts[1:]),
                     f"< 50 ms, {verdict(max(starts[1:]) < 50)}"])
    yield markdown(["order", "rows", "first epoch, ms", "later ones", "target"], rows)


def kept_rows(found):
    """Yields rows that are computed once, next to rows that are computed each time and to plain rows."""
    yield "\n## Rows computed once, 784 float32 each, batches of 256\n"
    first, later = ([row for row in found if row["what"] == what] for what in ("first", "later"))
    pairs = [("first epoch", "keeping", "computing each time", "computing", first, 1.1)] if first else []
    pairs += [(what, "kept", "plain rows", "plain", [row for row in found if row.get("process") == process], 1.1)
              for process, what in (("first", "later epochs, who computed them"), ("later", "later epochs, another process"))]
    pairs.append(("first epoch of who has not computed them, which compares checksums", "checking", "plain rows", "plain", later, None))
    rows = []
    for what, ours, other, theirs, measured, most in pairs:
        values, others = [row[ours] for row in measured], [row[theirs] for row in measured]
        ratio, best = median(values) / median(others), min(values) / min(others)
        detail = f" of {measured[0]['rows']:,} rows" + (f", {measured[0]['micros'] / 1000:g} ms a row" if "micros" in measured[0] else "")
        rows.append([what + detail, f"{median(values):.4f}", other, f"{median(others):.4f}", f"{ratio:.2f}", f"{best:.2f}",
                     "" if most is None else f"≤ {most}×, {verdict(best <= most)}"])
    yield markdown(["", "s, median", "", "s, median", "ratio of the medians", "best", "target"], rows)


def windows(found):
    """Yields windows of an array next to rows of the same length."""
    yield "\n## Windows of 1,024 tokens (int32), batches of 32, one thread\n"
    speeds = {what: [row["gigabytesPerSecond"] for row in found if row["what"] == what] for what in dict.fromkeys(row["what"] for row in found)}
    rows = []
    for what, values in speeds.items():
        ratio = median(values) / median(speeds["rows"])
        rows.append([what, f"{median(values):.2f}", f"{max(values):.2f}", *(["", ""] if what == "rows" else [f"{ratio:.2f}", f"≥ 0.9, {verdict(ratio >= 0.9)}"])])
    yield markdown(["", "GB/s, median", "best", "of rows, median", "target"], rows)


def uneven(found):
    """Yields batches in any order next to ordered ones."""
    yield "\n## One sample in 50 takes 20 times as long\n"
    rows = []
    for shape in dict.fromkeys((row["batch"], row["threads"], row["slots"]) for row in found):
        rates = [median(row["samplesPerSecond"] for row in found if (row["batch"], row["threads"], row["slots"], row["inOrder"]) == (*shape, ordered))
                 for ordered in (True, False)]
        ratio = rates[1] / rates[0]
        target = "" if shape[0] > 4 else f"≥ 2, {verdict(ratio >= 2)}"  # in a large batch, slow samples even out
        rows.append([*shape, f"{rates[0]:,.0f}", f"{rates[1]:,.0f}", f"{ratio:.2f}", target])
    yield markdown(["samples a batch", "threads", "slots", "samples/s in their order, median", "in any order", "ratio", "target"], rows)


def ring(runs):
    yield "\n## The ring, batches of 256×64 B\n"
    bare = runs(BARE, array=SHORT)
    rows = []
    for what, run in ("copies alone", bare), *((f"loader, threads {threads}", runs("EpochBenchmark.loader", array=SHORT, threads=threads)) for threads in AHEAD):
        more = 1e6 / run.best - 1e6 / bare.best
        compared = ["", "", ""] if run is bare else [f"{more:.2f}", f"{run.processor_us - bare.processor_us:.2f}", f"< 5 µs, {verdict(more < 5)}"]
        rows.append([what, f"{1e6 / run.median:.2f}", f"{1e6 / run.best:.2f}", f"{run.processor_us:.2f}", *compared])
    yield markdown(["", "µs a batch, median", "best", "processor µs", "more than the copies, best", "processor", "target"], rows)


def figures(folder):
    runs = Jmh(os.path.join(folder, "round-1.json"))
    ahead, alone = (runs("EpochBenchmark.loader", array=IMAGES, threads=threads) for threads in AHEAD)
    shape = "shuffled batches of 256×784 floats"
    for key, peer, run in ("djl", "DJL ArrayDataset", runs(DJL)), ("bare", "the copies alone", runs(BARE, array=IMAGES)):
        yield figure(f"loader.alone.{key}", f"{shape}, one thread", alone, "batches/s", peer, run)
    for way, workers, row in torch_ways(torch(folder)):
        ours, threads, others = (alone, "one thread", "") if workers == "0" else (ahead, "prefetching", f", {workers} workers")
        yield figure(f"loader.torch.{way}.{workers}", f"{shape}, {threads}", ours, "batches/s", TORCH[way] + others, row["batchesPerSecond"])
    yield figure("loader.first", "connect, open, shuffle and get the first batch", runs("FirstBatchBenchmark.fromConnect"), "ms", less=True)
    young = lines(folder, "first-second.jsonl")
    yield figure("loader.first-second", f"{shape}, one thread, 0.4 to 0.5 s after a JVM began to gather", [row["batchesPerSecond"][4] for row in young],
                 "batches/s", "in its third second", [row["later"] for row in young])
    for order in "shuffle", "permuted":
        resumed = runs.find("FirstBatchBenchmark.buildAndResume", order=order)
        if resumed:
            yield figure(f"loader.resume.{order}", f"resume in the middle of {RESUMED_ROWS:,} samples with a new loader, {order}(seed)", resumed, "ms", less=True)


def charts(folder):
    counted, one = Jmh(os.path.join(folder, "threads.json")), Jmh(os.path.join(folder, "round-1.json"))
    points = [(0, one("EpochBenchmark.loader", array=IMAGES, threads="0").score)]
    points += [(count, counted("EpochBenchmark.loader", array=IMAGES, threads=str(count)).score) for count in counted.values_of("EpochBenchmark.loader", "threads")]
    levels = [("the copies alone, one thread", LIMIT, one(BARE, array=IMAGES).score), ("DJL ArrayDataset", PEER, one(DJL).score)]
    yield Chart("threads", "Shuffled batches of 256×784 floats", "threads of the loader", "batches/s", [("larder", OURS, "o-", points)],
                {count: str(count) for count, _ in points}, levels)
