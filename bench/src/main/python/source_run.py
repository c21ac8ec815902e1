#!/usr/bin/env python3
"""One of several training runs over data that has to be fetched or opened first.

usage: source_run.py WAY KIND SOURCE CACHE SEED EPOCHS    prints "step 0" after the first batch, "epochs" and a sum at the end
  remote, SOURCE an address of a .npy file: plain fetches it into memory, script fetches it into CACHE unless it is there, and maps it
  images, SOURCE a folder of files: plain opens the file of each sample, samples keeps each opened sample in memory, as MONAI's
          CacheDataset does, script packs all files into CACHE unless that is there, and maps it
  parquet, SOURCE a file: plain reads it into memory by pyarrow, script saves its columns in CACHE unless they are there, and maps them
  huggingface: images and parquet as a datasets.Dataset, with its Arrow files in CACHE
  larder: CACHE is the store
"""
import fcntl
import glob
import io
import os
import sys
import urllib.request
import zlib

import numpy as np

BATCH = 256
WORDS = {1: np.int64, 4: np.int32, 8: np.int64}  # by the bytes of an element: whole numbers add up to the same in any order


# ----------------------------------------------------------------------------------------------------------------- sources


def files_of(folder):
    return sorted(os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def fetched(address):
    """Reads the array behind an address."""
    with urllib.request.urlopen(address) as answer:
        return {"rows": np.load(io.BytesIO(answer.read()))}


def packed(folder):
    """Reads all files of a folder into one array, and where each begins into another."""
    contents = [read(path) for path in files_of(folder)]
    return {"values": np.frombuffer(b"".join(contents), np.uint8), "offsets": np.cumsum([0, *map(len, contents)])}


def columns(path):
    """Reads a file of Parquet; lists of one length become a matrix."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    return {name: pc.list_flatten(column).to_numpy().reshape(len(column), -1) if pa.types.is_fixed_size_list(column.type) else column.to_numpy()
            for name, column in zip(table.column_names, table.columns)}


READ = {"remote": fetched, "images": packed, "parquet": columns}


def once(cache, make):
    """Lets the first process fill a folder, and the others wait."""
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(cache, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = os.path.join(cache, "done")
        if not os.path.exists(done):
            make()
            open(done, "w").close()


def mapped(kind, source, cache):
    """Returns the arrays that the first process saved, mapped."""

    def save():
        if kind == "remote":
            urllib.request.urlretrieve(source, os.path.join(cache, "rows.npy"))
            return
        for name, array in READ[kind](source).items():
            np.save(os.path.join(cache, name + ".npy"), array)

    once(cache, save)
    paths = glob.glob(os.path.join(glob.escape(cache), "*.npy"))
    return {os.path.basename(path)[: -len(".npy")]: np.load(path, mmap_mode="r") for path in paths}


# ------------------------------------------------------------------------------------- data: len() and take(rows)


class Table:
    """Arrays of equally many rows."""

    def __init__(self, columns):
        self.columns = list(columns.values())

    def __len__(self):
        return len(self.columns[0])

    def take(self, rows):
        return [np.take(column, rows, axis=0) for column in self.columns]


class Samples:
    """A sequence, sample by sample."""

    def __init__(self, sequence):
        self.sequence = sequence

    def __len__(self):
        return len(self.sequence)

    def sample(self, i):
        return self.sequence[i]

    def take(self, rows):
        return [self.sample(i) for i in rows.tolist()]


class Files(Samples):
    """Opens a file for each sample, as such a Dataset does."""

    def __init__(self, folder):
        super().__init__(files_of(folder))

    def sample(self, i):
        return read(self.sequence[i])


class Kept(Files):
    """The same, keeping each sample in this process."""

    def __init__(self, folder):
        super().__init__(folder)
        self.kept = {}

    def sample(self, i):
        sample = self.kept.get(i)
        if sample is None:
            sample = self.kept[i] = super().sample(i)
        return sample


class Packed(Samples):
    """All files in one array, with where each begins."""

    def __init__(self, values, offsets):
        super().__init__(values)
        self.offsets = offsets

    def __len__(self):
        return len(self.offsets) - 1

    def sample(self, i):
        return self.sequence[self.offsets[i] : self.offsets[i + 1]]


class HuggingFace:
    """A datasets.Dataset with mapped Arrow files."""

    def __init__(self, kind, source, cache):
        import datasets
        from datasets.table import embed_table_storage

        def embedded():
            # The cache of imagefolder has only paths.
            folder = datasets.load_dataset("imagefolder", data_dir=source, cache_dir=cache, split="train")
            return folder.with_format("arrow").map(embed_table_storage, batched=True).with_format(None)

        self.is_table = kind == "parquet"
        if self.is_table:
            self.dataset = datasets.Dataset.from_parquet(source, cache_dir=cache).with_format("numpy")
        else:
            once(cache, embedded)  # map takes no lock
            self.dataset = embedded().cast_column("image", datasets.Image(decode=False))

    def __len__(self):
        return len(self.dataset)

    def take(self, rows):
        batch = self.dataset[rows]
        return list(batch.values()) if self.is_table else [image["bytes"] for image in batch["image"]]


def of_arrays(kind, arrays):
    return Packed(**arrays) if kind == "images" else Table(arrays)


def of_larder(kind, store):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "ops", "python"))
    import larder

    data = larder.dataset(kind, store)
    if kind == "images":
        return Samples(data.bytes("image"))
    lists = {name: data.ragged(name) for name in data.columns}
    arrays = {name: data[name] for name in data if name.split("/")[0] not in lists}
    return Table(arrays | {name: ragged.values.reshape(len(ragged), -1) for name, ragged in lists.items()})


def opened(way, kind, source, cache):
    if way == "larder":
        return of_larder(kind, cache)
    if way == "huggingface":
        return HuggingFace(kind, source, cache)
    if way == "script":
        return of_arrays(kind, mapped(kind, source, cache))
    if kind == "images":
        return {"plain": Files, "samples": Kept}[way](source)
    return of_arrays(kind, READ[kind](source))


# --------------------------------------------------------------------------------------------------------------------- run


def words(array):
    return int(array.view(WORDS[array.itemsize]).sum(dtype=np.int64))


def sums(kind, data, seed, epochs):
    """Yields the sum of each batch: words of arrays, checksums of files."""
    add = zlib.crc32 if kind == "images" else words
    for epoch in range(epochs):
        order = np.random.default_rng(seed + epoch).permutation(len(data))
        for first in range(0, len(order), BATCH):
            yield sum(map(add, data.take(order[first : first + BATCH])))


def main():
    way, kind, source, cache, seed, epochs = sys.argv[1:]
    batches = sums(kind, opened(way, kind, source, cache), int(seed), int(epochs))
    total = next(batches)
    print("step 0", flush=True)
    print("epochs", (total + sum(batches)) % (1 << 64), flush=True)


if __name__ == "__main__":
    main()
