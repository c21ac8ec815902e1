#!/usr/bin/env python3
"""One of several training runs over data that has to be fetched or opened file by file first.

usage: source_run.py WAY KIND SOURCE CACHE SEED EPOCHS    prints "step" after the first batch, "epochs" and a sum at the end
  remote, SOURCE an address of a .npy file: plain fetches it into memory, script fetches it into CACHE unless it is there, and maps it
  images, SOURCE a folder of files: plain opens the file of each sample, samples keeps what it has opened once in memory, as MONAI's
          CacheDataset does, script packs all files into CACHE unless that is there, and maps it
  larder: CACHE is the store
"""
import fcntl
import io
import os
import sys
import urllib.request
import zlib

import numpy as np

BATCH = 256


def files_of(folder):
    return sorted(os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def once(cache, make):
    """Lets the first process fill a folder, and the others wait."""
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(cache, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = os.path.join(cache, "done")
        if not os.path.exists(done):
            make()
            open(done, "w").close()


def array(way, address, cache):
    """Returns the rows behind an address."""
    if way == "plain":
        with urllib.request.urlopen(address) as answer:
            return np.load(io.BytesIO(answer.read()))
    path = os.path.join(cache, "rows.npy")
    once(cache, lambda: urllib.request.urlretrieve(address, path))
    return np.load(path, mmap_mode="r")


class Files:
    """What a Dataset that opens a file for each sample does."""

    def __init__(self, folder):
        self.paths = files_of(folder)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return read(self.paths[i])


class Samples(Files):
    """The same, keeping each sample in this process."""

    def __init__(self, folder):
        super().__init__(folder)
        self.kept = {}

    def __getitem__(self, i):
        sample = self.kept.get(i)
        if sample is None:
            sample = self.kept[i] = super().__getitem__(i)
        return sample


class Packed:
    """All files in one, with where each begins."""

    def __init__(self, folder, cache):
        def pack():
            contents = [read(path) for path in files_of(folder)]
            np.save(os.path.join(cache, "offsets.npy"), np.cumsum([0, *map(len, contents)]))
            np.save(os.path.join(cache, "bytes.npy"), np.frombuffer(b"".join(contents), np.uint8))

        once(cache, pack)
        self.values, self.offsets = (np.load(os.path.join(cache, name + ".npy"), mmap_mode="r") for name in ("bytes", "offsets"))

    def __len__(self):
        return len(self.offsets) - 1

    def __getitem__(self, i):
        return self.values[self.offsets[i] : self.offsets[i + 1]]


def opened(way, kind, source, cache):
    if way == "larder":
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "ops", "python"))
        import larder

        data = larder.dataset(kind, cache)
        return data[next(iter(data))] if kind == "remote" else data.bytes("image")
    if kind == "remote":
        return array(way, source, cache)
    return Packed(source, cache) if way == "script" else {"plain": Files, "samples": Samples}[way](source)


def summed(kind, data, rows):
    """Adds up a batch: 8-byte words of an array, checksums of files."""
    if kind == "remote":
        return int(np.take(data, rows, axis=0).view(np.int64).sum())
    return sum(zlib.crc32(data[int(i)]) for i in rows)


def main():
    way, kind, source, cache, seed, epochs = sys.argv[1:]
    data, total = opened(way, kind, source, cache), 0
    for epoch in range(int(epochs)):
        order = np.random.default_rng(int(seed) + epoch).permutation(len(data))
        for first in range(0, len(order), BATCH):
            total += summed(kind, data, order[first : first + BATCH])
            if epoch == first == 0:
                print("step 0", flush=True)
    print("epochs", total % (1 << 64), flush=True)


if __name__ == "__main__":
    main()
