"""Batches that are published to other processes, next to a plain copy of the same bytes."""
from harness import figure, lines, median, table

WAYS = {
    "alone": "by a thread of the same process",
    "copied": "by another process, each batch copied into the ring",
    "in place": "by another process, gathered straight into the ring",
}
READS = {"none": "", "little": "a word of each", "all": "every byte"}


def published(folder):
    """Returns the rows of published batches, each with the µs of a plain copy of the same bytes."""
    rows = lines(folder, "fan-out.jsonl")
    copies = {row["array"]: row["microseconds"] for row in rows if row["what"] == "copy"}
    return [{**row, "copy": copies[row["array"]], "ratio": row["microseconds"] / copies[row["array"]], "read": READS[row["reads"]]}
            for row in rows if row["what"] == "publish"]


def feeds(folder):
    """Returns the batches/s of each round by the way to read a loader's batches."""
    return {row["way"]: row["batchesPerSecond"] for row in lines(folder, "fan-out.jsonl") if row["what"] == "feed"}


def tables(folder, pace):
    yield "256 shuffled rows of one array, published repeatedly; best of 5 trials\n"
    yield table(published(folder), {
        "bytes of a batch": "{bytes:,}", "processes that read it": "{consumers}", "what they read": "{read}", "µs a batch": "{microseconds:.2f}",
        "batches/s": "{batchesPerSecond:,.0f}", "GB/s": "{gigabytesPerSecond:.2f}", "a plain copy, µs": "{copy:.2f}", "publishing / copy": "{ratio:.2f}",
    })
    yield "\nA loader with one thread: 256 shuffled rows of 3 KB, every byte read; rounds in turns\n"
    found = feeds(folder)
    rows = [{"way": words, "median": median(found[way]), "least": min(found[way]), "most": max(found[way]),
             "ratio": median(found[way]) / median(found["alone"])} for way, words in WAYS.items()]
    yield table(rows, {"read": "{way}", "batches/s": "{median:,.0f}", "least": "{least:,.0f}", "most": "{most:,.0f}", "to the same process": "{ratio:.2f}"})


def figures(folder):
    for row in published(folder):
        if row["array"] != "rows-64" and row["reads"] == "all" and row["consumers"] in (1, 4):
            readers = "1 process that reads" if row["consumers"] == 1 else f"{row['consumers']} processes that read"
            yield figure(f"fan-out.read.{row['array'].removeprefix('rows-')}.{row['consumers']}", f"publish a batch of {row['bytes']:,} B to {readers} every byte",
                         row["microseconds"], "µs", "a plain copy of the same bytes", row["copy"], less=True)
    found = feeds(folder)
    yield figure("fan-out.feed", "batches a second of one gather thread, published to a process that reads every byte", found["in place"], "batches/s",
                 "read by a thread of the same process", found["alone"])
