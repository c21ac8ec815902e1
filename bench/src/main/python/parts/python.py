"""Epochs, feeds, look-ups and memory in Python, next to torch, Hugging Face, Ray, numpy and loops by hand."""
from harness import load, markdown, median, ratios, verdict

WORKERS = 2
BATCH = 256
FEED_TARGETS = {"torchvision": 20, "hand": 2}
LOOK_UP_TARGETS = {"index": 2, "rows": 0.3}
ROW_TARGET = 3
MEMORY_TARGETS = {"pages": 1.02, "all": 1.03, "first": 0.3}


def tables(folder, pace):
    yield from epochs(load(folder, "epochs.json"))
    yield from feed(load(folder, "feed.json"))
    yield from look_ups(load(folder, "look-ups.json"))
    yield from processes(load(folder, "processes.json"))


def medians(ways):
    return {way["key"]: median(way["batchesPerSecond"]) for way in ways}


def at_least(what, ratio, target, digits=2):
    return [what, f"{ratio:.{digits}f}×", f"≥ {target}×, {verdict(ratio >= target)}"]


def absent(modules):
    return [f"Without {module}, which this python3 cannot import.\n" for module in modules]


def epochs(found):
    rates = medians(found["ways"])
    versions = ", ".join(f"{name} {version}" for name, version in {"torch": found["torch"], "numpy": found["numpy"], **found["peers"]}.items())
    yield f"## Shuffled epochs as tensors: 60,000×784 float32, batches of {BATCH}, {versions}\n"
    yield from absent(found["absent"])
    yield markdown(["", "batches/s, median", "best", "processor µs a batch"],
                   [[way["what"], f"{rates[way['key']]:,.0f}", f"{max(way['batchesPerSecond']):,.0f}", f"{median(way['processorUs']):,.0f}"]
                    for way in found["ways"]])
    if "ray" in found["peers"]:
        yield "\nThe last three ways have rounds of their own, in which Ray's processes run, too."
    by_workers = max(rates["samples.0"], rates[f"samples.{WORKERS}"])
    rows = [at_least("of DataLoader(TensorDataset) with its best number of workers", max(rates["loader.0"], rates["loader.1"]) / by_workers, 8)]
    for threads, words, loader in (1, "1 thread", "loader.0"), (WORKERS, f"{WORKERS} threads", "loader.1"):
        by_hand = max(rate for key, rate in rates.items() if key.startswith("hand.") and key.endswith(f".{threads}"))
        rows.append(at_least(f"of the fastest by hand, at {words}", rates[loader] / by_hand, 1))
    yield "\n" + markdown(["larder.torch.Loader", "ratio", "target"], rows)


def feed(found):
    rates = medians(found["ways"])
    yield f"\n## Pictures, uint8 32×32×3, cropped, flipped and normalized, batches of {BATCH}\n"
    yield markdown(["", "batches/s, median", "lowest", "highest", "GB/s that the trainer reads"],
                   [[way["what"], f"{rates[way['key']]:,.0f}", f"{min(way['batchesPerSecond']):,.0f}", f"{max(way['batchesPerSecond']):,.0f}",
                     f"{rates[way['key']] * BATCH * 32 * 32 * 3 * 4 / 1e9:.2f}"] for way in found["ways"]])
    best, rows = max(rate for key, rate in rates.items() if key.startswith("feed.")), []
    for kind, what in ("torchvision", "of torchvision with its best number of workers"), ("hand", "of the fastest by hand, 1 or 2 threads"):
        peers = [rate for key, rate in rates.items() if key.startswith(kind)]
        rows.append(at_least(what, best / max(peers), FEED_TARGETS[kind], 1) if peers else [what, "not measured: it cannot be imported", ""])
    yield "\n" + markdown(["the faster feed", "ratio", "target"], rows)


def look_ups(found):
    us = {key: median(each) for key, each in found["us"].items()}
    most = {"index": LOOK_UP_TARGETS["index"] * us["dict"], "rows": LOOK_UP_TARGETS["rows"]}
    rows = [[what, f"{us[key]:.3f}", f"{min(found['us'][key]):.3f}", target and f"≤ {target}, {verdict(us[key] <= most[key])}"] for key, what, target in (
        ("dict", "dict, one by one", ""), ("index", "index, one by one", f"{LOOK_UP_TARGETS['index']} times a dict's"),
        ("rows", f"index.rows(keys), {found['lookUps']:,} at once", f"{LOOK_UP_TARGETS['rows']}"))]
    yield f"\n## Look-ups in an index of {found['keys']:,} texts, Python {found['python']}, numpy {found['numpy']}\n"
    yield markdown(["", "µs a key, median", "lowest", "target"], rows)
    yield f"\n## Single rows, next to the same by hand, torch {found['torch'] or 'absent'}\n"
    yield markdown(["", "ns a row, median", "by hand", "ns", "ratio, median", "target"],
                   [[row["what"], f"{median(row['ns']):,.0f}", row["hand"], f"{median(row['handNs']):,.0f}", *times(row)] for row in found["rows"]])


def times(row):
    """Return the ratio to the peer, and its verdict; nothing for a row without a peer."""
    if not row["hand"]:
        return ["", ""]
    ratio = median(ratios(row["ns"], row["handNs"]))
    return [f"{ratio:.2f}×", f"≤ {ROW_TARGET}×, {verdict(ratio <= ROW_TARGET)}"]


def processes(found):
    count, size = found["rows"][0]["processes"], found["rows"][0]["bytes"]
    yield f"\n## {count} processes that read one array of {size >> 20} MiB\n"
    rows = []
    for row in found["rows"]:
        copies, ratio = row["larder"]["shmemKb"] * 1024 / size, row["larder"]["allKb"] / row["mmap"]["allKb"]
        rows.append([row["start"], f"{copies:.3f}", f"≤ {MEMORY_TARGETS['pages']}, {verdict(copies <= MEMORY_TARGETS['pages'])}",
                     f"{row['larder']['allKb'] >> 10:,}", f"{row['mmap']['allKb'] >> 10:,}", f"{ratio:.3f}",
                     f"≤ {MEMORY_TARGETS['all']}, {verdict(ratio <= MEMORY_TARGETS['all'])}"])
    yield markdown(["started by", "copies of the array", "target", "all memory, MiB", 'with np.load(mmap_mode="r")', "ratio", "target"], rows)
    yield "\nWith others. The copies are what all memory grew by when the array was opened and read; what was there before are Python and the modules.\n"
    yield from absent(found["absent"])
    own = [{"what": what, "start": row["start"], **row[key]} for key, what in (("larder", "larder"), ("mmap", 'np.load(mmap_mode="r")')) for row in found["rows"]]
    yield markdown(["", "started by", "copies of the array", "all memory, MiB"],
                   [[row["what"], row["start"], f"{(row['allKb'] - row['beforeKb']) * 1024 / size:.2f}", f"{row['allKb'] >> 10:,}"]
                    for row in own + found["peers"]])
    whole, own = median(found["firstBatchS"]), median(found["ownS"])
    yield (f"\nFrom Enter to the first batch of `larder.Loader`: {whole:.2f} s, without starting Python and importing numpy {own:.2f} s"
           f" (< {MEMORY_TARGETS['first']} s, {verdict(own < MEMORY_TARGETS['first'])}).")
