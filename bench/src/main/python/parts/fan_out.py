"""Batches that are published to other processes, next to a plain copy of the same bytes."""
from harness import figure, lines, median, table

WAYS = {
    "alone": "by a thread of the same process",
    "copied": "by another process, each batch copied into the ring",
    "in place": "by another process, gathered straight into the ring",
}
FEED_BYTES = 256 * 3072  # of a batch of the figure
READS = {"none": "", "little": "a word of each", "all": "every byte"}


def published(folder):
    """Returns the rows of published batches, each with the µs of a plain copy of the same bytes."""
    rows = lines(folder, "fan-out.jsonl")
    copies = {row["array"]: row["microseconds"] for row in rows if row["what"] == "copy"}
    return [{**row, "copy": copies[row["array"]], "ratio": row["microseconds"] / copies[row["array"]], "read": READS[row["reads"]]}
            for row in rows if row["what"] == "publish"]


def feeds(folder):
    """Returns the rows of a loader's batches by bytes of a batch and the way to read them."""
    return {(int(row["array"].removeprefix("rows-")) * row["samples"], row["way"]): row
            for row in lines(folder, "fan-out.jsonl") if row["what"] == "feed"}


def ratio(found, size, way, key):
    """Returns the median of a way divided by that of a thread of the same process."""
    return median(found[size, way][key]) / median(found[size, "alone"][key])


def tables(folder, pace):
    yield "256 shuffled rows of one array, published repeatedly; best of 5 trials\n"
    yield table(published(folder), {
        "bytes of a batch": "{bytes:,}", "processes that read it": "{consumers}", "what they read": "{read}", "µs a batch": "{microseconds:.2f}",
        "processor µs, all processes": "{processorUs:.2f}",
        "batches/s": "{batchesPerSecond:,.0f}", "GB/s": "{gigabytesPerSecond:.2f}", "a plain copy, µs": "{copy:.2f}", "publishing / copy": "{ratio:.2f}",
    })
    yield "\nA loader with one thread: shuffled rows, every byte read; medians of rounds in turns\n"
    found = feeds(folder)
    rows = [{"way": WAYS[way], "bytes": size, "median": median(row["batchesPerSecond"]), "least": min(row["batchesPerSecond"]),
             "most": max(row["batchesPerSecond"]), "ratio": ratio(found, size, way, "batchesPerSecond"), "us": median(row["processorUs"]),
             "work": ratio(found, size, way, "processorUs")} for (size, way), row in found.items()]
    yield table(rows, {
        "bytes of a batch": "{bytes:,}", "read": "{way}", "batches/s": "{median:,.0f}", "least": "{least:,.0f}", "most": "{most:,.0f}",
        "to the same process": "{ratio:.2f}", "processor µs, all processes": "{us:.1f}", "processor, to the same process": "{work:.2f}",
    })


def figures(folder):
    for row in published(folder):
        if row["array"] != "rows-64" and row["reads"] == "all" and row["consumers"] in (1, 4):
            readers = "1 process that reads" if row["consumers"] == 1 else f"{row['consumers']} processes that read"
            yield figure(f"fan-out.read.{row['array'].removeprefix('rows-')}.{row['consumers']}", f"publish a batch of {row['bytes']:,} B to {readers} every byte",
                         row["microseconds"], "µs", "a plain copy of the same bytes", row["copy"], less=True)
    found = feeds(folder)
    yield figure("fan-out.feed", "batches a second of one gather thread, published to a process that reads every byte",
                 found[FEED_BYTES, "in place"]["batchesPerSecond"], "batches/s", "read by a thread of the same process",
                 found[FEED_BYTES, "alone"]["batchesPerSecond"])
