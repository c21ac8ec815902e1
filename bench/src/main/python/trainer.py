#!/usr/bin/env python3
"""A training run as other programs see it: dev.larder.bench.loader.Trainer in Python.

usage: trainer.py WAY PLACE SEED COMMAND...
  WAY      plain FOLDER: np.load into memory     map FOLDER: np.load(mmap_mode="r")
           script FOLDER:CACHE: shared_cache.py  larder STORE: the package larder
  COMMAND  step: gather the first batch and add it up     epoch: all batches of a shuffled epoch
           touch: every row in order     loop: epochs until the output is closed     hold: wait until the standard input ends
"""
import os
import sys

import numpy as np

BATCH = 256
DATASET = "training"


def opened(way, place):
    """Returns images and labels."""
    if way == "larder":
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "ops", "python"))
        import larder

        training = larder.dataset(DATASET, place)
        return training["images"], training["labels"]
    if way == "script":
        from shared_cache import cached

        folder, cache = place.split(":")
        return [cached(name, os.path.join(folder, name + ".npy"), cache) for name in ("images", "labels")]
    mode = "r" if way == "map" else None
    return [np.load(os.path.join(place, name + ".npy"), mmap_mode=mode) for name in ("images", "labels")]


class Trainer:
    def __init__(self, images, labels, seed):
        self.images, self.labels, self.seed = images, labels, seed
        self.batch = np.empty((BATCH, images.shape[1]), np.uint8)

    def shuffled(self, epoch=0):
        return np.random.default_rng(self.seed + epoch).permutation(len(self.images))

    def sum_of(self, rows):
        """Gathers one batch and adds up its 8-byte words and its labels."""
        batch = np.take(self.images, rows, axis=0, out=self.batch[: len(rows)], mode="clip")  # "raise" makes a copy
        return int(batch.view(np.int64).sum()) + int(self.labels[rows].sum())

    def sum(self, order):
        """Sums as Java does: modulo 2 to the 64, signed."""
        total = sum(self.sum_of(order[first : first + BATCH]) for first in range(0, len(order), BATCH))
        return (total + (1 << 63)) % (1 << 64) - (1 << 63)

    def obey(self, command):
        if command == "step":
            return self.sum(self.shuffled()[:BATCH])
        if command == "epoch":
            return self.sum(self.shuffled())
        if command == "touch":
            return self.sum(np.arange(len(self.images)))
        if command == "hold":
            return len(sys.stdin.read())
        if command == "loop":
            epoch = 0
            while True:
                print("looped", self.sum(self.shuffled(epoch)), flush=True)
                epoch += 1
        raise SystemExit(f"no such command: {command}")


def main():
    way, place, seed, *commands = sys.argv[1:]
    trainer = Trainer(*opened(way, place), int(seed))
    for command in commands:
        print(command, trainer.obey(command), flush=True)


if __name__ == "__main__":
    main()
