#!/usr/bin/env python3
"""A training run as other programs see it: dev.larder.bench.loader.Trainer in Python, also over data that has to be fetched or opened first.

usage: trainer.py WAY KIND SOURCE CACHE SEED COMMAND...    prints each command with its sum
  training, SOURCE a folder of make_data.py training: plain reads it into memory, map maps it, script is shared_cache.py
  remote, SOURCE an address of a .npy file: plain fetches it into memory, script fetches it into CACHE unless it is there, and maps it
  images, SOURCE a folder of files: plain opens the file of each sample, samples keeps each opened sample in memory, as MONAI's
          CacheDataset does, script packs all files into CACHE unless that is there, and maps it
  parquet, SOURCE a file: plain reads it into memory by pyarrow, script saves its columns in CACHE unless they are there, and maps them
  huggingface: images and parquet as a datasets.Dataset, with its Arrow files in CACHE
  larder: CACHE is the store
  COMMAND  step: gather the first batch and add it up     epoch, epochs: all batches of one shuffled epoch, of three
           touch: every row in order     loop: epochs until the output is closed     hold: wait until the standard input ends
"""
import fcntl
import glob
import io
import itertools
import os
import sys
import zlib

import numpy as np
from shared_cache import cached

BATCH, EPOCHS = 256, 3
WORDS = {1: np.int64, 4: np.int32, 8: np.int64}  # by the bytes of an element: whole numbers add up to the same in any order


# ----------------------------------------------------------------------------------------------------------------- sources


def files_of(folder):
    return sorted(os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def fetched(address):
    """Reads the array behind an address."""
    import urllib.request  # takes 30 ms: not for the other ways

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


def loaded(folder, mode=None):
    return {name: np.load(os.path.join(folder, name + ".npy"), mmap_mode=mode) for name in TRAINING}


TRAINING = ("images", "labels")
READ = {"training": loaded, "remote": fetched, "images": packed, "parquet": columns}


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
            import urllib.request

            urllib.request.urlretrieve(source, os.path.join(cache, "rows.npy"))
            return
        for name, array in READ[kind](source).items():
            np.save(os.path.join(cache, name + ".npy"), array)

    once(cache, save)
    paths = glob.glob(os.path.join(glob.escape(cache), "*.npy"))
    return {os.path.basename(path)[: -len(".npy")]: np.load(path, mmap_mode="r") for path in paths}


# ------------------------------------------------------------------------------------- data: len() and take(rows)


def words(array):
    return int(array.view(WORDS[array.itemsize]).sum(dtype=np.int64))


class Table:
    """Arrays of equally many rows."""

    add = staticmethod(words)

    def __init__(self, columns):
        self.columns = [(column, np.empty((BATCH, *column.shape[1:]), column.dtype)) for column in columns.values()]

    def __len__(self):
        return len(self.columns[0][0])

    def take(self, rows):
        return [np.take(column, rows, axis=0, out=out[: len(rows)], mode="clip") for column, out in self.columns]  # "raise" makes a copy


class Samples:
    """A sequence, sample by sample."""

    add = staticmethod(zlib.crc32)

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
        self.add = words if self.is_table else zlib.crc32
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
    if kind == "training" and way != "plain":
        return Table(loaded(source, "r") if way == "map" else {name: cached(name, os.path.join(source, name + ".npy"), cache) for name in TRAINING})
    if way == "script":
        return of_arrays(kind, mapped(kind, source, cache))
    if kind == "images":
        return {"plain": Files, "samples": Kept}[way](source)
    return of_arrays(kind, READ[kind](source))


# --------------------------------------------------------------------------------------------------------------------- run


class Trainer:
    def __init__(self, data, seed):
        self.data, self.seed = data, seed

    def shuffled(self, epoch=0):
        return np.random.default_rng(self.seed + epoch).permutation(len(self.data))

    def sum(self, *orders):
        """Adds up words of arrays, or checksums of files, batch by batch, as Java does: modulo 2 to the 64, signed."""
        batches = (order[first : first + BATCH] for order in orders for first in range(0, len(order), BATCH))
        total = sum(sum(map(self.data.add, self.data.take(rows))) for rows in batches)
        return (total + (1 << 63)) % (1 << 64) - (1 << 63)

    def obey(self, command):
        if command == "step":
            return self.sum(self.shuffled()[:BATCH])
        if command == "epoch":
            return self.sum(self.shuffled())
        if command == "epochs":
            return self.sum(*map(self.shuffled, range(EPOCHS)))
        if command == "touch":
            return self.sum(np.arange(len(self.data)))
        if command == "hold":
            return len(sys.stdin.read())
        if command == "loop":
            for epoch in itertools.count():
                print("looped", self.sum(self.shuffled(epoch)), flush=True)
        raise SystemExit(f"no such command: {command}")


def main():
    way, kind, source, cache, seed, *commands = sys.argv[1:]
    trainer = Trainer(opened(way, kind, source, cache), int(seed))
    for command in commands:
        print(command, trainer.obey(command), flush=True)


if __name__ == "__main__":
    main()
