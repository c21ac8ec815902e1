"""Loads of Arrow, images, Parquet and a bucket, next to .npy files, a loop, pyarrow and curl."""
from harness import lines, markdown, median, ratios

# A load, its name among the rows, and the name of its peer.
ARROW = (
    ("float32 rows of 4 KiB, one batch", "one-batch-arrow", "rows-npy"),
    ("the same, batches of 1,000 rows in two shards", "rows-arrow", "rows-npy"),
    ("16 columns of float64, batches of 1,000 rows (8 kB a column) in two shards", "table-arrow", "table-npy"),
    ("texts of 100 bytes, batches of 1,000 rows in two shards", "texts-arrow", "texts-npy"),
)
# The same with words for the peer, and a load that consists of the start only.
OTHERS = (
    ("JPEG files of 8 to 10 kB, --as images", "files-images", "a loop that reads file by file", "files-images-loop", None),
    ("Parquet, a table of 18 columns", "parquet", "pyarrow's read_table and to_numpy", "parquet-peer", None),
    ("the same, without the reader's start", "parquet", "pyarrow's read_table and to_numpy", "parquet-peer", "start-parquet"),
    ("8 objects of a bucket", "bucket", "curl, 16 connections, to files of tmpfs", "bucket-peer", None),
)


def tables(folder, pace):
    runs = {run["name"]: run for run in lines(folder, "sources.jsonl")}
    rows = []
    for words, name, peer in ARROW:
        arrow, npy = runs[name], runs[peer]
        speeds = [f"{run['bytes'] / median(run['seconds']) / 1e9:.2f}" for run in (npy, arrow)]
        rows.append([words, f"{arrow['bytes'] >> 20:,}", *speeds, f"{median(ratios(npy['seconds'], arrow['seconds'])):.2f}"])
    yield markdown(["source", "MiB", ".npy, GB/s", "Arrow, GB/s", "ratio, median of rounds"], rows)
    rows = []
    for words, name, peer_words, peer, start in OTHERS:
        loads, others = runs[name]["seconds"], runs[peer]["seconds"]
        if start:
            loads = [taken - alone for taken, alone in zip(loads, runs[start]["seconds"])]
        rows.append([words, f"{runs[name]['bytes'] >> 20:,}", f"{median(loads):.2f}", peer_words, f"{median(others):.2f}", f"{median(ratios(others, loads)):.2f}"])
    yield "\n" + markdown(["source", "MiB", "load, s", "beside it", "s", "ratio, median of rounds"], rows)
