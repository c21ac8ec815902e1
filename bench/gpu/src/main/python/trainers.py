#!/usr/bin/env python3
"""Measures PyTorch trainers that share one GPU and one dataset, by the way that they get their batches.

    python3 bench/gpu/src/main/python/trainers.py [--rows N] [--trainers 1,8] [--seconds S] [--ways larder,mapped,own]

larder: larder.torch.Loader over one store, without worker processes. mapped: a DataLoader with two workers over np.load(mmap_mode="r"), which
takes the rows of a batch at once. own: a DataLoader with two workers over np.load, sample by sample; each trainer has its own copy.
A trainer shuffles batches of 512 rows of 3 KB, uploads them from page-locked memory, and computes the loss of a linear model: it waits for data.
Needs numpy and PyTorch with CUDA; the data is noise.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 5)
ROW_BYTES, BATCH, SEED = 3072, 512, 7

sys.path.insert(0, os.path.join(ROOT, "ops", "python"))


def of_larder(folder, seed):
    import larder.torch

    loader = larder.torch.Loader("rows", ["images", "labels"], batch_size=BATCH, shuffle=seed, store=folder)
    while True:
        for batch in loader:
            yield batch["images"], batch["labels"]


def of_files(folder, mode):
    import torch
    from torch.utils import data

    images, labels = (np.load(os.path.join(folder, f"{name}.npy"), mmap_mode=mode) for name in ("images", "labels"))

    class Rows(data.Dataset):
        def __len__(self):
            return len(labels)

        def __getitem__(self, row):
            return torch.from_numpy(np.array(images[row])), torch.from_numpy(np.array(labels[row]))

    class Batches(Rows):
        __getitems__ = Rows.__getitem__

    of_rows = {"dataset": Batches(), "collate_fn": tuple} if mode else {"dataset": Rows()}
    loader = data.DataLoader(batch_size=BATCH, shuffle=True, num_workers=2, pin_memory=True, persistent_workers=True, **of_rows)
    while True:
        yield from loader


def train(way, folder, seed, seconds):
    """Trains until the time is over. Prints the seconds to the first batch, waits for a line, and prints the rows per second."""
    import torch

    torch.set_num_threads(1)
    start = time.monotonic()
    batches = of_larder(folder, seed) if way == "larder" else of_files(folder, "r" if way == "mapped" else None)
    weights = torch.randn(ROW_BYTES, 10, device="cuda", dtype=torch.half)
    loss = torch.zeros((), device="cuda")

    def step():
        images, labels = (tensor.to("cuda", non_blocking=True) for tensor in next(batches))
        loss.add_(torch.nn.functional.cross_entropy((images.half().div_(255) @ weights).float(), labels))
        return len(labels)

    step()
    torch.cuda.synchronize()
    say(time.monotonic() - start)
    sys.stdin.readline()
    start, rows = time.monotonic(), 0
    while time.monotonic() - start < seconds:
        rows += step()
    torch.cuda.synchronize()
    if not torch.isfinite(loss):
        sys.exit("the loss is no number")
    say(rows / (time.monotonic() - start))
    sys.stdin.readline()


def say(value):
    print(json.dumps(value), flush=True)


def measure(way, folder, count, seconds):
    """Returns the rows per second of all trainers, and the most seconds to a first batch."""
    words = [sys.executable, os.path.abspath(__file__), "--seconds", str(seconds), "--train", way, folder]
    with contextlib.ExitStack() as stack:
        trainers = [stack.enter_context(subprocess.Popen([*words, str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
                    for seed in range(count)]
        first = answers(trainers)
        return sum(answers(trainers)), max(first)


def answers(trainers):
    """Returns a number of each trainer, and lets all go on."""
    numbers = [json.loads(trainer.stdout.readline()) for trainer in trainers]
    for trainer in trainers:
        trainer.stdin.write("go\n")
        trainer.stdin.flush()
    return numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--trainers", default="1,8")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--ways", default="larder,mapped,own")
    parser.add_argument("--train", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        way, folder, seed = options.train
        return train(way, folder, int(seed), options.seconds)
    import make_store

    random = np.random.default_rng(SEED)
    arrays = {"images": random.integers(0, 256, (options.rows, ROW_BYTES), np.uint8), "labels": random.integers(0, 10, options.rows)}
    store, files = tempfile.mkdtemp(dir="/dev/shm"), tempfile.mkdtemp()
    try:
        make_store.write_version(store, "rows", arrays, checksums=False)
        for name, array in arrays.items():
            np.save(os.path.join(files, name), array)
        print(f"rows {options.rows} of {ROW_BYTES} B, seed {SEED}, batches of {BATCH}, {os.cpu_count()} processors", flush=True)
        for way in options.ways.split(","):
            for count in map(int, options.trainers.split(",")):
                rate, first = measure(way, store if way == "larder" else files, count, options.seconds)
                print(f"{way:8} {count:2} trainers: {rate:12,.0f} rows/s  {rate * ROW_BYTES / 1e9:6.2f} GB/s  first batch after {first:.2f} s", flush=True)
    finally:
        shutil.rmtree(store)
        shutil.rmtree(files)


if __name__ == "__main__":
    main()
