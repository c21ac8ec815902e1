#!/usr/bin/env python3
"""Writes the same numbers and texts as .npy files and as Arrow files, images, tables of Parquet, and objects of a bucket.

usage: make_sources.py FOLDER BUCKET MIB

files-images: files of 8 to 10 kB in ten folders, which begin as JPEG does; a hundred for each MiB.

parquet: twelve columns of random float64, two of int64 with 1,000 values, four of float32, as pandas and pyarrow write them. start-parquet:
a table of one row. BUCKET: eight .npy files.

rows: float32 rows of 4 KiB, as one batch and as batches of 1,000 rows. table: 16 columns of float64 in batches of 1,000 rows, 8 kB each.
texts: lines of about 100 bytes in batches of 1,000, beside their bytes and offsets. Arrays come in pairs: NAME-npy and NAME-arrow.
"""
import json
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

BATCH = 1000
OBJECTS = 8


def write(path, table, batch, kind=pa.ipc.new_stream):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with kind(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=batch)


def saved(folder, table):
    """Writes two shards as Hugging Face's save_to_disk does."""
    names = [f"data-{i:05}-of-00002.arrow" for i in range(2)]
    half = table.num_rows // 2
    for i, name in enumerate(names):
        write(f"{folder}/{name}", table.slice(i * half, half if i == 0 else None), BATCH)
    with open(f"{folder}/state.json", "w", encoding="utf-8") as state:
        json.dump({"_data_files": [{"filename": name} for name in names]}, state)


def npy(folder, arrays):
    os.makedirs(folder, exist_ok=True)
    for name, array in arrays.items():
        np.save(f"{folder}/{name}.npy", array)


def images(folder, random, count):
    for i in range(count):
        os.makedirs(f"{folder}/c{i % 10}", exist_ok=True)
        with open(f"{folder}/c{i % 10}/{i:06}.jpg", "wb") as file:
            file.write(b"\xff\xd8\xff" + random.bytes(random.integers(8000, 10000)))


def parquet(folder, random, rows):
    os.makedirs(folder)
    columns = {f"f{i:02}": random.standard_normal(rows) for i in range(12)}
    columns.update({f"k{i}": random.integers(0, 1000, rows) for i in range(2)})
    columns.update({f"s{i}": random.standard_normal(rows, np.float32) for i in range(4)})
    pq.write_table(pa.table(columns), f"{folder}/x.parquet")


def main(folder, bucket, mib):
    random = np.random.default_rng(42)
    bits = random.integers(0, 1 << 32, int(mib) << 18, np.uint32)
    rows = (bits >> np.uint32(8)).astype(np.float32).reshape(-1, 1024)
    npy(f"{folder}/rows-npy", {"x": rows})
    table = pa.table({"x": pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), 1024)})
    write(f"{folder}/one-batch-arrow/x.arrow", table, len(rows), pa.ipc.new_file)
    saved(f"{folder}/rows-arrow", table)
    columns = {f"c{i:02}": column for i, column in enumerate(random.standard_normal((16, (int(mib) << 20) // 128)))}
    npy(f"{folder}/table-npy", columns)
    saved(f"{folder}/table-arrow", pa.table(columns))
    lengths = random.integers(50, 150, (int(mib) << 20) // 100)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    letters = (bits.view(np.uint8)[:offsets[-1]] & 15) + 97
    npy(f"{folder}/texts-npy", {"bytes": letters, "offsets": offsets})
    texts = pa.LargeStringArray.from_buffers(len(lengths), pa.py_buffer(offsets), pa.py_buffer(letters))
    images(f"{folder}/files-images", random, int(mib) * 100)
    parquet(f"{folder}/parquet", random, (int(mib) << 20) // 128)
    parquet(f"{folder}/start-parquet", random, 1)
    npy(bucket, {f"{i}": random.integers(0, 1 << 63, (int(mib) << 17) // OBJECTS) for i in range(OBJECTS)})
    saved(f"{folder}/texts-arrow", pa.table({"t": texts.cast(pa.string()) if offsets[-1] < 1 << 31 else texts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
