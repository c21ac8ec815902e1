#!/usr/bin/env python3
"""Measures shuffled epochs of an array as tensors, each way once a round, so that all have the same share of a busy machine.

usage: python_epochs.py DATASET/ARRAY ROUNDS    prints JSON
       python_epochs.py table FILE              prints what was measured as Markdown
"""
import json
import os
import statistics
import sys
import time

BATCH = 256
WORKERS = 2


def ways(array, copy, torch, larder):
    """Return the ways: (key, what it is, what makes the batches of an epoch)."""
    data = torch.utils.data
    dataset, name = array.split("/")
    tensors, rows = data.TensorDataset(copy), larder.torch.Rows(dataset, name)
    found = []
    for threads in 0, 1:
        loader = larder.torch.Loader(dataset, [name], batch_size=BATCH, shuffle=1, threads=threads)
        found.append((f"loader.{threads}", f"larder.torch.Loader, {threads} threads beside the trainer's", loader))
    found.append(("hand.torch", "by hand, index_select(out=), 1 thread", ByHand(copy, torch)))
    found.append(("hand.numpy", "by hand, numpy's take(out=), 1 thread", ByNumpy(copy, torch)))
    for workers in 0, WORKERS:
        more = {"num_workers": workers, "persistent_workers": workers > 0}
        found.append((f"rows.{workers}", f"DataLoader(larder.torch.Rows), {workers} workers", data.DataLoader(rows, BATCH, shuffle=True, **more)))
        found.append((f"samples.{workers}", f"DataLoader(TensorDataset), {workers} workers", data.DataLoader(tensors, BATCH, shuffle=True, **more)))
        batches = data.BatchSampler(data.RandomSampler(tensors), BATCH, drop_last=False)
        found.append((f"batches.{workers}", f"DataLoader(TensorDataset) with a BatchSampler as sampler, {workers} workers",
                      data.DataLoader(tensors, None, sampler=batches, **more)))
    return found


class ByHand:
    def __init__(self, rows, torch):
        self._rows, self._torch, self._out = rows, torch, torch.empty(BATCH, *rows.shape[1:])

    def __iter__(self):
        order = self._torch.randperm(len(self._rows))
        for at in range(0, len(order), BATCH):
            some = order[at:at + BATCH]
            out = self._out[:len(some)]
            self._torch.index_select(self._rows, 0, some, out=out)
            yield out


class ByNumpy:
    def __init__(self, rows, torch):
        self._rows, self._torch, self._out = rows.numpy(), torch, torch.empty(BATCH, *rows.shape[1:])

    def __iter__(self):
        order, out = self._torch.randperm(len(self._rows)).numpy(), self._out.numpy()
        for at in range(0, len(order), BATCH):
            some = order[at:at + BATCH]
            self._rows.take(some, 0, out[:len(some)], "clip")
            yield self._out[:len(some)]


def processor_s():
    """Return the processor time of this process and of the workers that run."""
    total, tick = 0, os.sysconf("SC_CLK_TCK")
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        pids = file.read().split()
    for pid in pids:
        with open(f"/proc/{pid}/stat") as file:
            total += sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))
    return total / tick + time.process_time()


def main(array, rounds):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "ops", "python"))
    import numpy as np
    import torch

    import larder

    torch.set_num_threads(1)
    copy = torch.from_numpy(np.array(larder.open(array)))
    measured = [{"key": key, "what": what, "batchesPerSecond": [], "processorUs": []} for key, what, _ in ways(array, copy, torch, larder)]
    made = [batches for _, _, batches in ways(array, copy, torch, larder)]
    for turn in range(rounds + 1):
        order = [*zip(measured, made)]
        for way, batches in order[turn % len(order):] + order[:turn % len(order)]:  # another one is first in each round
            count, began, used = 0, time.perf_counter(), processor_s()
            for _ in batches:
                count += 1
            if turn:  # workers start in the first, and memory is touched
                way["batchesPerSecond"].append(count / (time.perf_counter() - began))
                way["processorUs"].append(1e6 * (processor_s() - used) / count)
    print(json.dumps({"torch": torch.__version__, "numpy": np.__version__, "larder": larder.__version__, "array": array, "ways": measured}))


def table(path):
    with open(path) as file:
        found = json.load(file)
    rates = {way["key"]: statistics.median(way["batchesPerSecond"]) for way in found["ways"]}
    print(f"## Shuffled epochs as tensors: 60,000×784 float32, batches of {BATCH}, torch {found['torch']}, numpy {found['numpy']}\n")
    print("| | batches/s, median | best | processor µs a batch |\n|---|--:|--:|--:|")
    for way in found["ways"]:
        print(f"| {way['what']} | {rates[way['key']]:,.0f} | {max(way['batchesPerSecond']):,.0f} | {statistics.median(way['processorUs']):,.0f} |")
    by_workers = max(rates["samples.0"], rates[f"samples.{WORKERS}"])
    by_hand = max(rates["hand.torch"], rates["hand.numpy"])
    best = max(rates["loader.0"], rates["loader.1"])
    print("\n| larder.torch.Loader | ratio | target |\n|---|--:|---|")
    for what, ratio, target in (("of DataLoader(TensorDataset) with its best number of workers", best / by_workers, 8),
                                ("of the fastest by hand, at one thread", rates["loader.0"] / by_hand, 1)):
        print(f"| {what} | {ratio:.2f}× | ≥ {target}×, {'reached' if ratio >= target else '**missed**'} |")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    table(sys.argv[2]) if sys.argv[1] == "table" else main(sys.argv[1], int(sys.argv[2]))
